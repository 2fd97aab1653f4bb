/** Elements of what an analysis says. */
import { type Analysis, type Token, isText } from "./analysis.js";

/** A new element with attributes and content. */
export function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Record<string, string> = {},
  ...content: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...content);
  return made;
}

/** Tokens one after the other; those of `choose` are buttons. */
export function chips(tokens: readonly Token[], choose?: (token: Token) => void): HTMLElement[] {
  return tokens.map((token) => {
    const part = isText(token.bytes) ? "" : ", a part of a character";
    const title = `token ${token.id}: ${hex(token.bytes)}${part}`;
    if (!choose || token.bytes.length === 0)
      return element("span", { class: `chip ${token.fate}`, title }, spelled(token));
    const button = element("button", { class: `chip ${token.fate}`, title, type: "button" }, spelled(token));
    button.addEventListener("click", () => choose(token));
    return button;
  });
}

/** White space is made visible, and so are bytes that are no characters. */
function spelled({ bytes, id }: Token): string {
  if (bytes.length === 0) return `<end ${id}>`;
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.replaceAll(" ", "\u2423").replaceAll("\n", "\u21b5").replaceAll("\t", "\u21e5");
  } catch {
    return `\u27e8${hex(bytes)}\u27e9`;
  }
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(" ");
}

/** What may come next, in a sentence. */
export function verdict({ failure, tokens, nLegal, canStop }: Analysis): string {
  if (failure) return "The constraint does not compile; the message stands under it.";
  if (tokens.some(({ fate }) => fate === "refused")) return "The red token is not legal. What could have stood there:";
  const stop = canStop ? " The text may stop here." : "";
  if (nLegal === null) return `Every token is legal.${stop}`;
  if (nLegal === 0) return `Nothing may follow.${stop}`;
  return `${nLegal.toLocaleString("en")} ${nLegal === 1 ? "token is" : "tokens are"} legal next.${stop}`;
}

/** A failure, with the line of the source that it is in. */
export function failureOf({ failure }: Analysis, source: string): Node[] {
  if (!failure) return [];
  const { message, from, to } = failure;
  const told = element("p", { class: "message" }, message);
  if (from === undefined || to === undefined) return [told];
  const start = source.lastIndexOf("\n", from - 1) + 1;
  const newline = source.indexOf("\n", to);
  const end = newline < 0 ? source.length : newline;
  const mark = element("mark", {}, source.slice(from, to) || "\u00a0");
  return [told, element("pre", { class: "place" }, source.slice(start, from), mark, source.slice(to, end))];
}

export function table(rows: readonly [string, string][]): HTMLTableElement {
  const made = element("table");
  for (const [name, value] of rows) made.append(element("tr", {}, element("th", {}, name), element("td", {}, value)));
  return made;
}
