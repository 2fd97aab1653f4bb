/** What a constraint says of a text. */
import { Constraint, ConstraintKind, ElizaInferenceError, Matcher, Step } from "../../bindings-ts/src/index.js";
import { namesOf } from "./program.js";
import type { Kind, State } from "./state.js";
import type { Loaded } from "./vocabularies.js";

export interface Token {
  id: number;
  bytes: Uint8Array;
  /** `refused`: not legal where it stands; `behind`: what follows it was not looked at. */
  fate: "taken" | "refused" | "behind";
}

/** A failure, and its place in the source, in UTF-16 units, if it has one. */
export interface Failure {
  message: string;
  from?: number;
  to?: number;
}

export interface Analysis {
  failure: Failure | null;
  warnings: string[];
  tokens: Token[];
  /** Number of legal next tokens; null: all. */
  nLegal: number | null;
  /** Some of them, shorter ones first. */
  legal: Token[];
  forced: Token[];
  canStop: boolean;
  /** Rows of a table: what, and how much. */
  sizes: [string, string][];
}

const LEGAL_SHOWN = 120;

let last: { key: string; constraint: Constraint; compileMs: number } | null = null;

/** Compiles the constraint, unless it is the one of the last call, and walks the text through it. */
export function analyse(loaded: Loaded, state: State): Analysis {
  try {
    const { constraint, compileMs } = compiled(loaded, state);
    return walk(loaded, state, constraint, compileMs);
  } catch (error) {
    if (!(error instanceof ElizaInferenceError)) throw error;
    const failure = { message: told(error.message, state), ...placeOf(error.message, state) };
    const tokens = loaded.tokenize(state.text).map((id) => tokenOf(loaded, id, "behind"));
    return { failure, warnings: [], tokens, nLegal: null, legal: [], forced: [], canStop: false, sizes: [] };
  }
}

function compiled(loaded: Loaded, state: State): { constraint: Constraint; compileMs: number } {
  const { kind, source, vocabulary, space, order } = state;
  const key = JSON.stringify([kind, source, vocabulary, space, order]);
  if (last?.key === key) return last;
  const start = performance.now();
  const constraint = COMPILE[kind](loaded, source, state);
  const compileMs = performance.now() - start;
  last?.constraint.close();
  last = { key, constraint, compileMs };
  return last;
}

/** A grammar must not freeze the page. */
const budget = { msMax: 5000 };

const COMPILE: Record<Kind, (loaded: Loaded, source: string, state: State) => Constraint> = {
  names: ({ vocabulary }, source) => Constraint.choices(vocabulary, namesOf(source), { budget }),
  regex: ({ vocabulary }, source) => Constraint.regex(vocabulary, source, { budget }),
  lark: ({ vocabulary }, source) => Constraint.lark(vocabulary, source, { budget }),
  gbnf: ({ vocabulary }, source) => Constraint.gbnf(vocabulary, source, { budget }),
  schema: ({ vocabulary }, source, { space, order }) =>
    Constraint.jsonSchema(vocabulary, source, { budget, space, order }),
  tags: ({ vocabulary }, source) => Constraint.tags(vocabulary, source, { budget }),
  payload: ({ vocabulary }, source) => new Constraint(vocabulary, source),
};

function walk(loaded: Loaded, state: State, constraint: Constraint, compileMs: number): Analysis {
  const isTree = constraint.kind === ConstraintKind.TOKEN_TRIE;
  using matcher = new Matcher(constraint);
  if (isTree) matcher.activate(constraint.paths[0]!);
  const words = new Int32Array(Math.ceil(loaded.vocabulary.size / 32));
  const maskMs: number[] = [];
  const mask = (): void => {
    const start = performance.now();
    matcher.fillBitmap(words);
    maskMs.push(performance.now() - start);
  };
  const tokens: Token[] = [];
  let isRefused = false;
  mask();
  for (const id of loaded.tokenize(state.text)) {
    const wasRefused = isRefused;
    isRefused ||= matcher.accept(id) === Step.REFUSED;
    tokens.push(tokenOf(loaded, id, wasRefused ? "behind" : isRefused ? "refused" : "taken"));
    if (!isRefused) mask();
  }
  const ids = matcher.allowed();
  return {
    failure: null,
    warnings: constraint.warnings,
    tokens,
    nLegal: ids === null ? null : ids.length,
    legal: shortest(loaded, ids ?? new Int32Array(0)).map((id) => tokenOf(loaded, id, "taken")),
    forced: forcedOf(loaded, matcher, isTree),
    canStop: matcher.canStop,
    sizes: sizesOf(loaded, constraint, isTree, compileMs, maskMs),
  };
}

/** As the tokenizer spells the bytes that must follow, if they are whole characters. */
function forcedOf(loaded: Loaded, matcher: Matcher, isTree: boolean): Token[] {
  const ids = isTree ? [...matcher.forced()] : loaded.tokenize(new TextDecoder().decode(matcher.forcedBytes()));
  return ids.map((id) => tokenOf(loaded, id, "taken"));
}

function sizesOf(
  { vocabulary, ms }: Loaded,
  constraint: Constraint,
  isTree: boolean,
  compileMs: number,
  maskMs: number[],
): [string, string][] {
  const { nTokens, nNodes, retainedBytes } = vocabulary.info;
  const rows: [string, string][] = [
    ["tokens of the vocabulary", nTokens.toLocaleString("en")],
    ["nodes of its byte trie", nNodes.toLocaleString("en")],
    ["bytes of the vocabulary", retainedBytes.toLocaleString("en")],
    ["vocabulary made in", duration(ms)],
    ["constraint compiled in", duration(compileMs)],
    ["first mask", duration(maskMs[0]!)],
    ["masks, on average", duration(maskMs.reduce((sum, each) => sum + each, 0) / maskMs.length)],
  ];
  if (isTree) {
    const { nLeaves, nNodes: nTrieNodes } = constraint.info;
    return [...rows, ["names", `${nLeaves}`], ["nodes of the trie", `${nTrieNodes}`]];
  }
  const { nStates, nParserStates, nTerminals, nProductions, automatonBytes, tableBytes } = constraint.recognizerInfo;
  const counts: [string, number][] = [
    ["states", nStates],
    ["states of the parser", nParserStates],
    ["terminals", nTerminals],
    ["productions", nProductions],
    ["bytes of automata", automatonBytes],
    ["bytes of tables and masks", tableBytes],
  ];
  for (const [name, count] of counts) if (count > 0) rows.push([name, count.toLocaleString("en")]);
  return rows;
}

/** A browser's clock may have steps of a tenth of a millisecond. */
function duration(ms: number): string {
  if (ms === 0) return "under 0.1 ms";
  return ms < 0.1 ? `${Math.round(ms * 1000)} µs` : `${ms.toFixed(ms < 10 ? 2 : 0)} ms`;
}

/** Those with the fewest bytes; parts of characters, which cannot be read, come last. */
function shortest({ tokenBytes }: Loaded, ids: Int32Array): number[] {
  const length = (id: number): number => tokenBytes[id]!.length + (isText(tokenBytes[id]!) ? 0 : PART_OF_CHARACTER);
  return [...ids].sort((a, b) => length(a) - length(b) || a - b).slice(0, LEGAL_SHOWN);
}

const PART_OF_CHARACTER = 1e6;

export function isText(bytes: Uint8Array): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

function tokenOf({ tokenBytes }: Loaded, id: number, fate: Token["fate"]): Token {
  return { id, bytes: tokenBytes[id]!, fate };
}

/** In JSON the place of a byte is told as line and column, as editors count them. */
function told(message: string, { kind, source }: State): string {
  if (kind !== "schema" && kind !== "tags" && kind !== "payload") return message;
  return message.replace(/at byte (\d+)(?=:? |:|$)/, (_, bytes: string) => {
    const lines = source.slice(0, unitsOf(source, Number(bytes))).split("\n");
    return `at line ${lines.length}, column ${[...lines.at(-1)!].length + 1}`;
  });
}

/** Messages begin with line and column, with a byte offset, or with the JSON Pointer of a schema's place. */
function placeOf(message: string, { kind, source }: State): { from?: number; to?: number } {
  const lineAndColumn = /^(\d+):(\d+): /.exec(message);
  if (lineAndColumn) return span(source, offsetOf(source, Number(lineAndColumn[1]), Number(lineAndColumn[2])));
  const byte = /at byte (\d+)/.exec(message);
  if (byte) return span(source, unitsOf(source, Number(byte[1])));
  const pointer = /^#?((?:\/[^/:\s]+)+)/.exec(message);
  return kind === "schema" && pointer ? keyOf(source, pointer[1]!) : {};
}

/** Columns count characters. */
function offsetOf(source: string, line: number, column: number): number {
  const lines = source.split("\n");
  const before = lines.slice(0, line - 1).reduce((length, each) => length + each.length + 1, 0);
  return before + [...(lines[line - 1] ?? "")].slice(0, column - 1).join("").length;
}

function unitsOf(source: string, bytes: number): number {
  return new TextDecoder().decode(new TextEncoder().encode(source).subarray(0, bytes)).length;
}

/** From here to the end of the word. */
function span(source: string, from: number): { from: number; to: number } {
  const word = /^[\w-]+/.exec(source.slice(from))?.[0].length ?? 1;
  return { from, to: Math.min(source.length, from + word) };
}

/** The last key of a JSON Pointer: looked for key by key, which is right unless an earlier value repeats it. */
function keyOf(source: string, pointer: string): { from?: number; to?: number } {
  let at = 0;
  let found: { from?: number; to?: number } = {};
  for (const part of pointer.slice(1).split("/")) {
    const key = JSON.stringify(part.replaceAll("~1", "/").replaceAll("~0", "~"));
    const next = source.indexOf(key, at);
    if (next < 0) continue; // an index of an array
    found = { from: next, to: next + key.length };
    at = next + key.length;
  }
  return found;
}
