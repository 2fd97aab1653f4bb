/** What is allowed: compiled token trees and recognizers. */
import {
  ELIZA_CHOICES_CANONICAL,
  ELIZA_CONSTRAINT_CHOICES,
  ELIZA_CONSTRAINT_GRAMMAR,
  ELIZA_CONSTRAINT_REGEX,
  ELIZA_CONSTRAINT_TOKEN_TRIE,
  ELIZA_REGEX_IGNORE_CASE,
  eliza_constraint_info_t,
  eliza_recognizer_info_t,
  eliza_trie_cache_stats_t,
} from "./abi.generated";
import { checkInstance, checkNoMore, checkSeveral, checkString } from "./arguments";
import { type Budget, withBudget } from "./budget";
import { checkInteger } from "./errors";
import { type Handle, type Library, type Symbols, hasSymbols, loadLibrary } from "./library";
import { OutError, OutSlot, checkStatus, concatenate, encodeUnicode, encodeUtf8, readText } from "./memory";
import { Adopted, Owned } from "./owned";
import { type Payload, payloadBytes } from "./payload";
import { type StructValues, bytesOf, newStruct, readStruct } from "./structs";
import { type TokenizerSlot, watchingTokenizer } from "./tokenizer";
import { Vocabulary } from "./vocabulary";

export const ConstraintKind = {
  TOKEN_TRIE: ELIZA_CONSTRAINT_TOKEN_TRIE,
  CHOICES: ELIZA_CONSTRAINT_CHOICES,
  REGEX: ELIZA_CONSTRAINT_REGEX,
  GRAMMAR: ELIZA_CONSTRAINT_GRAMMAR,
} as const;

/** Of a token tree. */
export interface ConstraintInfo {
  nDescriptors: number;
  /** Distinct token sequences, all descriptors. */
  nLeaves: number;
  /** Trie nodes, roots and end nodes included. */
  nNodes: number;
  longestLeafTokens: number;
  /** Most legal tokens at one node. */
  widestNode: number;
  /** Memory kept, the copy of the payload included. */
  retainedBytes: number;
}

/** Of a recognizer; all zero for a token tree. */
export interface RecognizerInfo {
  /** Of the choices' trie, of the automaton of a regular expression, of a grammar's lexer. */
  nStates: number;
  nParserStates: number;
  nTerminals: number;
  nProductions: number;
  /** Lexer states with a table. */
  nTables: number;
  /** Masks kept. */
  nMasks: number;
  /** Memory of the compiled automata. */
  automatonBytes: number;
  /** Memory of the tables and masks, bounded by `maskBytesMax`. */
  tableBytes: number;
}

export interface ChoicesOptions {
  /**
   * Only the tokens that the vocabulary's tokenizer gives for a string (see `Vocabulary.setTokenizer`): a token tree with
   * the path "choices".
   */
  canonical?: boolean | undefined;
  budget?: Budget | undefined;
}

export interface RegexOptions {
  /** As `(?i)` at the start. */
  ignoreCase?: boolean | undefined;
  budget?: Budget | undefined;
}

/**
 * What is allowed, compiled for a vocabulary: a token tree (`new Constraint`), or a recognizer (`choices`, `regex`, `lark`),
 * which allows any text that it accepts, in any tokenisation. Immutable, and shared by any number of matchers, which keep
 * what they need of it.
 */
export class Constraint extends Owned {
  /** @internal Number of tokens of the vocabulary. */
  readonly nTokens: number;
  /** @internal */
  readonly tokenizer: TokenizerSlot;
  #kind: number | null = null;

  /**
   * A token tree. The same bytes compile once: later constraints come from a cache. The message of a failure gives the path
   * to the bad element.
   */
  constructor(vocabulary: Vocabulary, payload: Payload);
  /** @internal */
  constructor(vocabulary: Vocabulary, adopted: Adopted);
  constructor(vocabulary: Vocabulary, source: Payload | Adopted) {
    const handle = source instanceof Adopted ? source.handle : compileTokenTree(vocabulary, source);
    super(vocabulary.library, handle, "constraint", "eliza_inference_constraint_free");
    this.nTokens = vocabulary.size;
    this.tokenizer = vocabulary.tokenizer;
  }

  /** Any one of the strings (or of their bytes). Repeated ones count once; an empty one is ELIZA_ERR_INVALID_ARG. */
  static choices(
    vocabulary: Vocabulary,
    strings: Iterable<string | Uint8Array>,
    { canonical = false, budget, ...unknown }: ChoicesOptions = {},
  ): Constraint {
    checkNoMore(unknown);
    const { bytes, offsets, length } = concatenate(checkSeveral(strings, "strings", "strings"), "strings");
    const flags = canonical ? ELIZA_CHOICES_CANONICAL : 0;
    return compile(vocabulary, budget, "the choices could not be compiled", (symbols, handle, config, out, error) =>
      symbols.eliza_inference_constraint_create_choices(handle, bytes, offsets, length, flags, config, out, error),
    );
  }

  /**
   * A text that the whole pattern matches, from its first character to its last. Classes, also of Unicode (`\d`, `\p{Lu}`),
   * repeats, alternation, groups, escapes and the flags i, s, x are served. Look-around, back-references, word boundaries
   * and possessive groups are ELIZA_ERR_GRAMMAR, as all errors are; the message gives the position in bytes.
   */
  static regex(
    vocabulary: Vocabulary,
    pattern: string,
    { ignoreCase = false, budget, ...unknown }: RegexOptions = {},
  ): Constraint {
    checkNoMore(unknown);
    const bytes = encodeUnicode(pattern, "pattern");
    const flags = ignoreCase ? ELIZA_REGEX_IGNORE_CASE : 0;
    return compile(vocabulary, budget, "the pattern could not be compiled", (symbols, handle, config, out, error) =>
      symbols.eliza_inference_constraint_create_regex(handle, bytes, bytes.length, flags, config, out, error),
    );
  }

  /**
   * A text of a grammar in Lark's notation: a lexer of terminals and an LR(1) parser. `grammars` has some that ship. What is
   * wrong is ELIZA_ERR_GRAMMAR with line and column; a conflict comes with its two items and a shortest example. What is
   * legal but seldom meant is in `notes`.
   */
  static lark(
    vocabulary: Vocabulary,
    grammar: string,
    { budget, ...unknown }: { budget?: Budget | undefined } = {},
  ): Constraint {
    checkNoMore(unknown);
    const bytes = encodeUnicode(grammar, "grammar");
    return compile(vocabulary, budget, "the grammar could not be compiled", (symbols, handle, config, out, error) =>
      symbols.eliza_inference_constraint_create_lark(handle, bytes, bytes.length, config, out, error),
    );
  }

  /**
   * Opens a file that `save` wrote, by mapping it: it must not be changed while the constraint lives. The vocabulary must
   * have the same tokens (ELIZA_ERR_FILE_INVALID). `maskBytesMax` bounds the tables and masks that come to the mapped ones.
   */
  static open(
    vocabulary: Vocabulary,
    path: string,
    { maskBytesMax, ...unknown }: { maskBytesMax?: number | undefined } = {},
  ): Constraint {
    checkNoMore(unknown);
    const bytes = encodeUtf8(checkString(path, "path"));
    return compile(vocabulary, { maskBytesMax }, `${path} cannot be opened`, (symbols, handle, config, out, error) =>
      symbols.eliza_inference_constraint_open(handle, bytes, bytes.length, config, out, error),
    );
  }

  /** Writes a recognizer with the tables that it has to a file, for `open`. ELIZA_ERR_INVALID_ARG for a token tree. */
  save(path: string): void {
    const bytes = encodeUtf8(checkString(path, "path"));
    const error = new OutError();
    const status = this.library.symbols.eliza_inference_constraint_save(this.handle, bytes, bytes.length, error.view);
    if (status < 0) throw error.take(this.library, status, `${path} cannot be written`);
  }

  /**
   * Builds every table that is kept, instead of at first use. `statesMax` and `maskBytesMax` are not read. Beyond `msMax`
   * (ELIZA_ERR_LIMIT) or cancelled (ELIZA_ERR_CANCELLED), what was built stays.
   */
  prepare(budget?: Budget): void {
    const error = new OutError();
    const { eliza_inference_constraint_prepare: prepare } = this.library.symbols;
    withBudget(budget, (config) => {
      const status = prepare(this.handle, config, error.view);
      if (status < 0) throw error.take(this.library, status, "the tables could not be built");
    });
  }

  /** One of ConstraintKind. Canonical choices are a token tree. */
  get kind(): number {
    this.#kind ??= this.#readKind();
    return this.#kind;
  }

  /**
   * What compiling found that is legal but seldom meant, a line each: terminals that the lexing rule can never separate,
   * rules that produce nothing or are never used, bytes without a token.
   */
  get notes(): string[] {
    const text = this.library.symbols.eliza_inference_constraint_notes(this.handle) ?? "";
    return text.split("\n").filter((line) => line !== "");
  }

  /** What a recognizer compiled to, and what it keeps by now. */
  get recognizerInfo(): RecognizerInfo {
    const info = this.#readRecognizerInfo();
    return {
      nStates: info.n_states,
      nParserStates: info.n_parser_states,
      nTerminals: info.n_terminals,
      nProductions: info.n_productions,
      nTables: info.n_tables,
      nMasks: info.n_masks,
      automatonBytes: info.automaton_bytes,
      tableBytes: info.table_bytes,
    };
  }

  /** What a token tree compiled to. ELIZA_ERR_INVALID_ARG for a recognizer, which has `recognizerInfo`. */
  get info(): ConstraintInfo {
    const view = newStruct(eliza_constraint_info_t);
    const status = this.library.symbols.eliza_inference_constraint_info(this.handle, bytesOf(view));
    checkStatus(status, "info");
    const info = readStruct(eliza_constraint_info_t, view);
    return {
      nDescriptors: info.n_descriptors,
      nLeaves: info.n_leaves,
      nNodes: info.n_nodes,
      longestLeafTokens: info.longest_leaf_tokens,
      widestNode: info.widest_node,
      retainedBytes: info.retained_bytes,
    };
  }

  /** The paths of the descriptors, in the order of the payload; that of a recognizer is "". */
  get paths(): string[] {
    if (this.kind !== ConstraintKind.TOKEN_TRIE) return [""];
    const address = new OutSlot();
    const length = new OutSlot();
    return Array.from({ length: this.info.nDescriptors }, (_, index) => {
      const { symbols } = this.library;
      const status = symbols.eliza_inference_constraint_path(this.handle, index, address.view, length.view);
      checkStatus(status, "paths");
      return readText(address.handle, length.value);
    });
  }

  #readKind(): number {
    // A build without recognizers makes token trees alone.
    if (!hasSymbols(this.library, "eliza_inference_constraint_recognizer_info")) return ConstraintKind.TOKEN_TRIE;
    return this.#readRecognizerInfo().kind;
  }

  #readRecognizerInfo(): StructValues<typeof eliza_recognizer_info_t> {
    const view = newStruct(eliza_recognizer_info_t);
    const status = this.library.symbols.eliza_inference_constraint_recognizer_info(this.handle, bytesOf(view));
    checkStatus(status, "recognizerInfo");
    return readStruct(eliza_recognizer_info_t, view);
  }
}

function compileTokenTree(vocabulary: Vocabulary, payload: Payload): Handle {
  const bytes = payloadBytes(payload);
  const fallback = "the payload could not be compiled";
  return createNative(vocabulary, undefined, fallback, (symbols, handle, _config, out, error) =>
    symbols.eliza_inference_constraint_create_token_trie(handle, bytes, bytes.length, out, error),
  );
}

function compile(vocabulary: Vocabulary, budget: Budget | undefined, fallback: string, create: Create): Constraint {
  const handle = createNative(vocabulary, budget, fallback, create);
  return new Constraint(vocabulary, new Adopted(vocabulary.library, handle));
}

type Create = (
  symbols: Symbols,
  vocabulary: Handle,
  config: Uint8Array | null,
  out: BigUint64Array,
  error: BigUint64Array,
) => number;

function createNative(vocabulary: Vocabulary, budget: Budget | undefined, fallback: string, create: Create): Handle {
  const { library, handle } = checkInstance(vocabulary, Vocabulary, "vocabulary");
  const out = new OutSlot();
  const error = new OutError();
  return watchingTokenizer(() =>
    withBudget(budget, (config) => {
      const status = create(library.symbols, handle, config, out.view, error.view);
      if (status < 0) throw error.take(library, status, fallback);
      return out.handle;
    }),
  );
}

export interface TrieCacheStats {
  entries: number;
  /** Retained by the entries. */
  bytes: number;
  /** The bound in force. */
  bytesMax: number;
  hits: number;
  misses: number;
  evictions: number;
}

/** Counters of the cache of compiled payloads, one for the process. */
export function trieCacheStats(library: Library = loadLibrary()): TrieCacheStats {
  const view = newStruct(eliza_trie_cache_stats_t);
  const status = library.symbols.eliza_inference_trie_cache_stats(bytesOf(view));
  checkStatus(status, "trieCacheStats");
  const stats = readStruct(eliza_trie_cache_stats_t, view);
  return {
    entries: stats.entries,
    bytes: stats.bytes,
    bytesMax: stats.bytes_max,
    hits: stats.hits,
    misses: stats.misses,
    evictions: stats.evictions,
  };
}

/** Bounds the cache, in bytes; evicts at once. 0 keeps nothing. */
export function setTrieCacheLimit(bytesMax: number, library: Library = loadLibrary()): void {
  checkInteger(bytesMax, "bytesMax", 0, Number.MAX_SAFE_INTEGER);
  checkStatus(library.symbols.eliza_inference_trie_cache_set_limit(bytesMax), "setTrieCacheLimit");
}
