/** The page: a place to try constraints in, and guides with examples that are computed where they stand. */
import { type Analysis, type Token, analyse } from "./analysis.js";
import { EXAMPLES, exampleOf } from "./examples.js";
import { LANGUAGES, type Language, program } from "./program.js";
import { KINDS, type Kind, ORDERS, SPACES, type State, fragment, read } from "./state.js";
import { chips, element, failureOf, table, verdict } from "./view.js";
import { type Loaded, VOCABULARIES, type VocabularyName, loadVocabulary } from "./vocabularies.js";

const $ = <T extends HTMLElement>(id: string): T => document.getElementById(id) as T;
const kind = $<HTMLSelectElement>("kind");
const vocabulary = $<HTMLSelectElement>("vocabulary");
const example = $<HTMLSelectElement>("example");
const space = $<HTMLSelectElement>("space");
const order = $<HTMLSelectElement>("order");
const source = $<HTMLTextAreaElement>("source");
const text = $<HTMLTextAreaElement>("text");

fill(kind, KINDS);
fill(vocabulary, VOCABULARIES);
fill(space, SPACES);
fill(order, ORDERS);
fill(example, Object.fromEntries(Object.keys(EXAMPLES).map((name) => [name, name])));

const first = read(location.hash);
if (first) example.prepend(element("option", { value: "", selected: "" }, "as linked"));
/** What was last written for each kind of constraint. */
const written = new Map<Kind, State>();
show(first ?? Object.values(EXAMPLES)[0]!);

for (const input of [vocabulary, source, text, space, order]) input.addEventListener("input", () => void update());
kind.addEventListener("input", () => {
  const { source, text, vocabulary: own } = written.get(kind.value as Kind) ?? exampleOf(kind.value as Kind);
  show({ ...current(), source, text, vocabulary: kind.value === "payload" ? own : current().vocabulary });
});
for (const [language, name] of Object.entries(LANGUAGES)) {
  const button = element("button", { type: "button", "data-language": language }, `Copy as ${name}`);
  button.addEventListener("click", () => void copy(language as Language));
  $("copy").append(button);
}
example.addEventListener("input", () => {
  const chosen = EXAMPLES[example.value];
  if (chosen) show(chosen);
});
// A link to another state of this page, such as that of an example.
window.addEventListener("hashchange", () => {
  const state = read(location.hash);
  if (state && fragment(state) !== fragment(current())) show(state);
});
for (const each of document.querySelectorAll<HTMLElement>("[data-example]")) void liven(each);

function fill(select: HTMLSelectElement, options: Record<string, string>): void {
  select.replaceChildren(...Object.entries(options).map(([value, label]) => element("option", { value }, label)));
}

function current(): State {
  return {
    kind: kind.value as Kind,
    source: source.value,
    vocabulary: vocabulary.value as VocabularyName,
    text: text.value,
    space: space.value as State["space"],
    order: order.value as State["order"],
  };
}

function show(state: State): void {
  [kind.value, source.value, vocabulary.value, text.value] = [state.kind, state.source, state.vocabulary, state.text];
  [space.value, order.value] = [state.space, state.order];
  void update();
}

async function copy(language: Language): Promise<void> {
  const code = program(current(), language);
  $("program").textContent = code;
  const isCopied = await navigator.clipboard.writeText(code).then(
    () => true,
    () => false,
  );
  $("copied").textContent = isCopied ? "Copied." : "This browser did not let the page copy it.";
}

async function update(): Promise<void> {
  const state = current();
  written.set(state.kind, state);
  $("options").hidden = state.kind !== "schema";
  history.replaceState(null, "", fragment(state));
  $("busy").hidden = false;
  const loaded = await loadVocabulary(state.vocabulary).catch((error: Error) => error);
  if (fragment(state) !== fragment(current())) return; // something else was asked for meanwhile
  $("busy").hidden = true;
  if (loaded instanceof Error) $("failure").replaceChildren(element("p", { class: "message" }, loaded.message));
  else render(analyse(loaded, state), state);
}

function render(analysis: Analysis, state: State): void {
  $("failure").replaceChildren(...failureOf(analysis, state.source));
  $("warnings").replaceChildren(...analysis.warnings.map((warning) => element("p", {}, warning)));
  $("tokens").replaceChildren(...chips(analysis.tokens));
  $("verdict").textContent = verdict(analysis);
  const append = (token: Token): void => {
    const taken = analysis.tokens.filter(({ fate }) => fate === "taken");
    text.value = textOf([...taken, token]);
    void update();
  };
  const shown = chips(analysis.legal, append);
  const nMore = (analysis.nLegal ?? 0) - analysis.legal.length;
  $("legal").replaceChildren(
    ...shown,
    ...(nMore > 0 ? [element("span", { class: "more" }, `and ${nMore.toLocaleString("en")} more`)] : []),
  );
  $("forced").replaceChildren(...chips(analysis.forced));
  $("forced-part").hidden = analysis.forced.length === 0;
  $("sizes").replaceChildren(table(analysis.sizes));
  document.body.dataset.ready = fragment(state);
}

function textOf(tokens: readonly Token[]): string {
  return new TextDecoder().decode(Uint8Array.from(tokens.flatMap(({ bytes }) => [...bytes])));
}

/** Puts the example of this name there, with what it says now and a link that opens it above. */
async function liven(place: HTMLElement): Promise<void> {
  const state = EXAMPLES[place.dataset.example!]!;
  const loaded: Loaded = await loadVocabulary(state.vocabulary);
  const analysis = analyse(loaded, state);
  const link = element("a", { href: fragment(state) }, "open it above");
  link.addEventListener("click", () => window.scrollTo({ top: 0, behavior: "smooth" }));
  place.replaceChildren(
    element("pre", {}, state.source),
    element("p", { class: "chips" }, ...chips(analysis.tokens)),
    element("p", {}, verdict(analysis), " ", link),
    element("p", { class: "chips" }, ...chips(analysis.legal.slice(0, 16))),
  );
  place.dataset.ready = analysis.failure ? "failed" : "yes";
}
