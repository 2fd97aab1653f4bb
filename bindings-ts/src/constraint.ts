/** What an output may be: token trees and recognizers, compiled for a vocabulary. */
import {
  ELIZA_CHOICES_CANONICAL,
  ELIZA_CONSTRAINT_CHOICES,
  ELIZA_CONSTRAINT_GRAMMAR,
  ELIZA_CONSTRAINT_JSON_SCHEMA,
  ELIZA_CONSTRAINT_REGEX,
  ELIZA_CONSTRAINT_TAGS,
  ELIZA_CONSTRAINT_TOKEN_TRIE,
  ELIZA_GBNF_EBNF,
  ELIZA_REGEX_IGNORE_CASE,
  ELIZA_REGEX_SEARCH,
  eliza_constraint_info_t,
  eliza_recognizer_info_t,
  eliza_trie_cache_stats_t,
} from "./abi.generated.js";
import { checkInstance, checkNoMore, checkSeveral, checkString } from "./arguments.js";
import { type Budget, SharedBudget, withBudget } from "./budget.js";
import { checkInteger, invalidArgument } from "./errors.js";
import {
  type JsonSchema,
  type JsonSchemaOptions,
  type ReadValue,
  type StandardJsonSchema,
  forCalls,
  forGeneration,
  isStandard,
  schemaText,
  withSchemaOptions,
} from "./json-schema.js";
import { type LarkOptions, withLarkOptions } from "./lark.js";
import { type Handle, type Library, type Symbols, hasSymbols } from "./library.js";
import { loadLibrary } from "./load.js";
import { OutError, OutSlot, checkStatus, concatenate, encodeUnicode, encodeUtf8, readText } from "./memory.js";
import {
  type GrammarSyntax,
  type ResponseFormat,
  type ToolCallOptions,
  callSchema,
  errorOfTools,
  ofTools,
  responseLanguage,
  responseSchema,
  withOwn,
} from "./openai.js";
import { type OpenOptions, openFlags } from "./opening.js";
import { Adopted, Owned } from "./owned.js";
import { type Payload, payloadBytes } from "./payload.js";
import { Struct, type StructValues } from "./structs.js";
import { type StructuralTag, asStructuralTag, placed, readAs } from "./structural-tags.js";
import { type TagsDescriptor, descriptorBytes } from "./tags.js";
import { type TokenizerSlot, watchingTokenizer } from "./tokenizer.js";
import { ToolCalls, type ToolCallsOptions } from "./tool-calls.js";
import { type Tool, choose, jsonArguments, leaveOut, ofTool, readTool, readTools } from "./tools.js";
import { Vocabulary } from "./vocabulary.js";

/** The kinds of constraint: values of `Constraint.kind`. */
export const ConstraintKind = {
  TOKEN_TRIE: ELIZA_CONSTRAINT_TOKEN_TRIE,
  CHOICES: ELIZA_CONSTRAINT_CHOICES,
  REGEX: ELIZA_CONSTRAINT_REGEX,
  GRAMMAR: ELIZA_CONSTRAINT_GRAMMAR,
  JSON_SCHEMA: ELIZA_CONSTRAINT_JSON_SCHEMA,
  TAGS: ELIZA_CONSTRAINT_TAGS,
} as const;

/** The sizes of a compiled token tree. */
export interface ConstraintInfo {
  /** Descriptors in the payload. */
  nDescriptors: number;
  /** Distinct token sequences of all descriptors. */
  nLeaves: number;
  /** Trie nodes, including roots and end nodes. */
  nNodes: number;
  /** Tokens of the longest leaf. */
  longestLeafTokens: number;
  /** The most legal tokens at any one node. */
  widestNode: number;
  /** Bytes of memory kept, including a copy of the payload. */
  retainedBytes: number;
}

/** The sizes of a compiled recognizer; all 0 for a token tree. */
export interface RecognizerInfo {
  /** States of the choices' trie, of the regular expression's automaton, or of the grammar's lexer. */
  nStates: number;
  /** States of the grammar's LR(1) parser; otherwise 0. */
  nParserStates: number;
  /** Terminals of the grammar; otherwise 0. */
  nTerminals: number;
  /** Productions of the grammar; otherwise 0. */
  nProductions: number;
  /** Lexer states whose table has been built. */
  nTables: number;
  /** Masks in the cache. */
  nMasks: number;
  /** Bytes of memory of the compiled automata. */
  automatonBytes: number;
  /** Bytes of memory of the tables and masks; at most `maskBytesMax`. */
  tableBytes: number;
}

/** Options of `Constraint.choices`. */
export interface ChoicesOptions {
  /**
   * Allows a string only as the vocabulary's tokenizer spells it (see `Vocabulary.setTokenizer`), instead of in any
   * tokenisation. The result is a token tree whose one descriptor has the path "choices".
   */
  canonical?: boolean | undefined;
  /** What compiling may cost. */
  budget?: Budget | undefined;
}

/** Options of `Constraint.regex`. */
export interface RegexOptions {
  /** Matches letters of either case, as `(?i)` at the start of the pattern does. */
  ignoreCase?: boolean | undefined;
  /** The pattern matches anywhere in a text, as `RegExp.test` has it, not the whole. */
  search?: boolean | undefined;
  /** What compiling may cost. */
  budget?: Budget | undefined;
}

/** Options of `Constraint.gbnf`. */
export interface GbnfOptions {
  /** The rule that a text is of; by default `root`. */
  root?: string | undefined;
  /** Reads XGrammar's EBNF, which grew out of GBNF. */
  ebnf?: boolean | undefined;
  /** What compiling may cost. */
  budget?: Budget | undefined;
}

/**
 * What an output may be, compiled for a vocabulary: a token tree (`new Constraint`), or a recognizer (`choices`,
 * `regex`, `lark`, `gbnf`, `jsonSchema`, `tags`), which allows any text that it accepts, in any tokenisation. A
 * constraint never changes, and any number of matchers and streams share it. They keep what they need, so it may be
 * closed at any time.
 */
export class Constraint extends Owned {
  /** @internal Number of tokens of the vocabulary. */
  readonly nTokens: number;
  /** @internal */
  readonly tokenizer: TokenizerSlot;
  #kind: number | null = null;
  #read: ReadValue | null = null;
  /** If they are others than the library's. */
  #warnings: string[] | null = null;

  /**
   * Compiles a token tree. Throws ELIZA_ERR_PAYLOAD if the payload is malformed, ELIZA_ERR_LIMIT if it is too large,
   * and ELIZA_ERR_MODEL_MISMATCH if it is for another model; the message gives the path to the bad element. The process
   * keeps a cache of compiled payloads, so that the same bytes compile only once.
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

  /**
   * Allows any one of the strings, given as text or as bytes. Repeated strings count once; an empty string throws
   * ELIZA_ERR_INVALID_ARG.
   */
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
   * Allows any text that the whole pattern matches, from its first character to its last. Supports classes (Unicode
   * ones too: `\d`, `\p{Lu}`), repetition, alternation, groups, look-around, escapes and the flags i, s and x.
   * Back-references and possessive groups are not supported. Any error in the pattern throws
   * ELIZA_ERR_GRAMMAR; the message begins with its byte offset.
   */
  static regex(
    vocabulary: Vocabulary,
    pattern: string,
    { ignoreCase = false, search = false, budget, ...unknown }: RegexOptions = {},
  ): Constraint {
    checkNoMore(unknown);
    const bytes = encodeUnicode(pattern, "pattern");
    const flags = (ignoreCase ? ELIZA_REGEX_IGNORE_CASE : 0) | (search ? ELIZA_REGEX_SEARCH : 0);
    return compile(vocabulary, budget, "the pattern could not be compiled", (symbols, handle, config, out, error) =>
      symbols.eliza_inference_constraint_create_regex(handle, bytes, bytes.length, flags, config, out, error),
    );
  }

  /**
   * Allows any text of the language of a grammar in Lark's notation. The
   * package ships some, in `grammars`. An error in the grammar throws ELIZA_ERR_GRAMMAR with line and column; the
   * message for a conflict shows the two items and a shortest example. `warnings` lists what is legal but seldom meant.
   */
  static lark(
    vocabulary: Vocabulary,
    grammar: string,
    { start, imports, budget, ...unknown }: LarkOptions = {},
  ): Constraint {
    checkNoMore(unknown);
    const bytes = encodeUnicode(grammar, "grammar");
    return withLarkOptions(vocabulary.library, { start, imports }, (options) =>
      compile(vocabulary, budget, "the grammar could not be compiled", (symbols, handle, config, out, error) =>
        symbols.eliza_inference_constraint_create_lark_with(handle, bytes, bytes.length, options, config, out, error),
      ),
    );
  }

  /**
   * Allows any text of a context-free grammar in GBNF, llama.cpp's notation: any grammar, ambiguous and left-recursive
   * ones too. An error in the grammar throws ELIZA_ERR_GRAMMAR with line and column. The constraint is of the kind
   * GRAMMAR, or REGEX if the grammar is regular. docs/reference/gbnf.md describes the notation.
   */
  static gbnf(
    vocabulary: Vocabulary,
    grammar: string,
    { root = "root", ebnf = false, budget, ...unknown }: GbnfOptions = {},
  ): Constraint {
    checkNoMore(unknown);
    const bytes = encodeUnicode(grammar, "grammar");
    const name = encodeUnicode(root, "root");
    const flags = ebnf ? ELIZA_GBNF_EBNF : 0;
    return compile(vocabulary, budget, "the grammar could not be compiled", (symbols, handle, config, out, error) =>
      symbols.eliza_inference_constraint_create_gbnf(
        handle,
        bytes,
        bytes.length,
        name,
        name.length,
        flags,
        config,
        out,
        error,
      ),
    );
  }

  /**
   * Allows a JSON document that is valid against a JSON Schema: a plain object, a boolean, a text, or a Zod schema,
   * whose input it describes (`z.strictObject` leaves no other keys). `parse` reads the document. A schema that is
   * wrong, that nothing satisfies, or that cannot be enforced exactly throws ELIZA_ERR_GRAMMAR; the message begins with
   * the JSON Pointer of the place, where there is one. docs/reference/json-schema.md says what each keyword does.
   */
  static jsonSchema(vocabulary: Vocabulary, schema: JsonSchema, options: JsonSchemaOptions = {}): Constraint {
    const { budget, ...form } = isStandard(schema) ? forGeneration(options) : options;
    const { space, order, numbers, additional, integerFraction, draft, documents, lenient, ...unknown } = form;
    checkNoMore(unknown);
    const { text, read } = schemaText(schema, "schema");
    const bytes = encodeUnicode(text, "schema");
    const made = withSchemaOptions(
      vocabulary.library,
      { space, order, numbers, additional, integerFraction, draft, documents, lenient },
      (view) =>
        compile(vocabulary, budget, "the schema could not be compiled", (symbols, handle, config, out, error) =>
          symbols.eliza_inference_constraint_create_json_schema(handle, bytes, bytes.length, view, config, out, error),
        ),
    );
    made.#read = read;
    return made;
  }

  /**
   * Allows free text in which each tag's `begin` opens a part, up to its `end`; then free text continues. `descriptor`
   * says the tags; it may be a text too, or MessagePack as bytes. An object or text may also be a structural tag of
   * XGrammar's, of any format: one that is no free text with tags becomes a GRAMMAR. What is wrong throws
   * ELIZA_ERR_GRAMMAR with the place. docs/reference/tags.md describes all of it.
   */
  static tags(
    vocabulary: Vocabulary,
    descriptor: TagsDescriptor | StructuralTag | string | Uint8Array,
    { budget, ...unknown }: { budget?: Budget | undefined } = {},
  ): Constraint {
    checkNoMore(unknown);
    const structural = asStructuralTag(descriptor);
    const read = structural && readAs(checkInstance(vocabulary, Vocabulary, "vocabulary"), structural);
    if (read && "text" in read) {
      try {
        return Constraint.lark(vocabulary, read.text, { imports: read.schemas, budget });
      } catch (error) {
        throw placed(error, read);
      }
    }
    const bytes = descriptorBytes(read ? read.descriptor : (descriptor as TagsDescriptor | string | Uint8Array));
    return compile(vocabulary, budget, "the tags could not be compiled", (symbols, handle, config, out, error) =>
      symbols.eliza_inference_constraint_create_tags(handle, bytes, bytes.length, config, out, error),
    );
  }

  /**
   * The `response_format` of OpenAI's API: a `json_schema`, a `json_object`, or a Zod schema; or, as servers have
   * them, a `structural_tag`, a `regex` or a `grammar`. Null for `text`, which is unconstrained. The options are those
   * of a schema, which is always enforced, with or without `strict`.
   */
  static responseFormat(
    vocabulary: Vocabulary,
    responseFormat: ResponseFormat | StandardJsonSchema | null | undefined,
    options: JsonSchemaOptions = {},
  ): Constraint | null {
    const budget = { budget: options?.budget };
    const language = responseLanguage(responseFormat);
    if (language) return Constraint.#ofLanguage(vocabulary, language.syntax, language.text, budget);
    if (responseFormat && "type" in responseFormat && responseFormat.type === "structural_tag") {
      return Constraint.tags(vocabulary, responseFormat, budget);
    }
    const schema = responseSchema(responseFormat);
    return schema === null ? null : Constraint.jsonSchema(vocabulary, schema, forGeneration(options));
  }

  static #ofLanguage(
    vocabulary: Vocabulary,
    syntax: GrammarSyntax,
    text: string,
    options: { budget?: Budget | undefined },
  ): Constraint {
    if (syntax === "regex") return Constraint.regex(vocabulary, text, options);
    if (syntax === "lark") return Constraint.lark(vocabulary, text, options);
    return Constraint.gbnf(vocabulary, text, { ebnf: syntax === "ebnf", ...options });
  }

  /**
   * A call of one of the `tools`, as JSON: `{"name": ..., "arguments": {...}}`, of which `form` says the keys, or
   * whether it is a list; it is a ToolForm, or the name of one in TOOL_FORMS.
   *
   * `tools` are functions as OpenAI's, Anthropic's and Gemini's APIs have them, or as MCP lists them, or custom tools
   * of OpenAI's, whose text is the string `input` in JSON. A key that nothing reads is an error; an error or warning
   * names the tool. With `skipBadTools`, a tool that is wrong, unsupported or can never be called is left out, with a
   * warning.
   *
   * `toolChoice` is "required" (the default), a function, or "none", which gives null; or what the other APIs say. With
   * "auto" the text may be no call, which throws ELIZA_ERR_INVALID_ARG: `toolCalls` supports it.
   */
  static toolCall(vocabulary: Vocabulary, tools: Iterable<Tool>, options: ToolCallOptions = {}): Constraint | null {
    const { toolChoice = "required", form, documents, skipBadTools = false, budget, ...others } = forCalls(options);
    const bad: string[] = [];
    const found = readTools(tools, skipBadTools ? bad : undefined);
    const { mode, names } = choose(found, toolChoice);
    if (mode === "none") return null;
    if (mode === "auto") {
      throw invalidArgument(
        'toolChoice: with "auto" the text may be no call: Constraint.toolCalls supports that, with the template of a ' +
          "model; or constrain the call alone, once it has begun",
      );
    }
    const shared = new SharedBudget(budget);
    const schemas = new Map<string, JsonSchema>();
    for (const name of names) {
      try {
        const schema = jsonArguments(found.get(name)!);
        Constraint.#arguments(vocabulary, name, schema, { ...others, documents, budget: shared.rest() }).close();
        schemas.set(name, schema);
      } catch (error) {
        leaveOut(error, skipBadTools && !shared.isSpent ? bad : undefined);
      }
    }
    if (schemas.size === 0) throw invalidArgument(`tools: none is left: ${bad[0]}`);
    const made = callSchema(schemas, form);
    const all = { ...others, documents: withOwn(made.documents, documents), budget: shared.rest() };
    try {
      const constraint = Constraint.jsonSchema(vocabulary, made.schema, all);
      constraint.#warnings = [...bad, ...constraint.warnings.map(ofTools)];
      return constraint;
    } catch (error) {
      throw errorOfTools(error);
    }
  }

  /** Of one tool, in a call as JSON. */
  static #arguments(
    vocabulary: Vocabulary,
    name: string,
    schema: JsonSchema,
    options: JsonSchemaOptions | undefined,
  ): Constraint {
    try {
      return Constraint.jsonSchema(vocabulary, schema, options);
    } catch (error) {
      throw ofTool(name, error);
    }
  }

  /**
   * Free text with calls of the `tools` in it, as the chat template of a model writes them; tools, errors and
   * `skipBadTools` are as for `toolCall`. With the `toolChoice` "required" there is at least one call, with a function
   * one of that function, with "none" there is none; `allowed_tools`, and what Anthropic's and Gemini's APIs say, is
   * read as well. Without `parallelToolCalls` there is at most one call. `parse` reads a text, in which control tokens
   * are spelled out, as an AssistantMessage; a call that was cut off stays in its content.
   */
  static toolCalls(vocabulary: Vocabulary, tools: Iterable<Tool>, options: ToolCallsOptions): Constraint {
    const bad: string[] = [];
    const calls = new ToolCalls(tools, forCalls(options), options.skipBadTools ? bad : undefined);
    const made = Constraint.tags(vocabulary, calls.descriptor, { budget: options.budget });
    made.#read = (text) => calls.parse(text as string);
    if (bad.length > 0) made.#warnings = [...bad, ...made.warnings];
    return made;
  }

  /** The arguments of one of the `tools`, where its name has been written already; of a custom tool, its text. */
  static toolArguments(vocabulary: Vocabulary, tool: Tool, options: JsonSchemaOptions = {}): Constraint {
    const { name, schema, custom } = readTool(tool);
    if (!custom) return Constraint.#arguments(vocabulary, name, schema, forCalls(options));
    const [[syntax, text]] = Object.entries(custom) as [[GrammarSyntax, string]];
    try {
      return Constraint.#ofLanguage(vocabulary, syntax, text, { budget: options.budget });
    } catch (error) {
      throw ofTool(name, error);
    }
  }

  /**
   * Opens a file that `save` wrote. The file is mapped, not read: unless a `copy` is asked for, do not change it while
   * the constraint is in use. Whoever wrote it, all that it says is checked; not so if it is `trusted`. Throws
   * ELIZA_ERR_FILE_INVALID if the file is damaged or was made for a vocabulary with other tokens. Of the `budget`,
   * `maskBytesMax` bounds the bytes of the tables and masks that are built later, without the mapped ones, and
   * `maskMsMax` each search. A JSON Schema and tags are compiled again, within all of it.
   */
  static open(
    vocabulary: Vocabulary,
    path: string,
    { budget, trusted, copy, ...unknown }: OpenOptions & { budget?: Budget | undefined } = {},
  ): Constraint {
    checkNoMore(unknown);
    const bytes = encodeUtf8(checkString(path, "path"));
    const flags = openFlags({ trusted, copy });
    return compile(vocabulary, budget, `${path} cannot be opened`, (symbols, handle, config, out, error) =>
      symbols.eliza_inference_constraint_open_with(handle, bytes, bytes.length, flags, config, out, error),
    );
  }

  /**
   * Writes a recognizer, with the tables built so far, to a file for `open`; of a JSON Schema, its text with the
   * documents that it used. Throws ELIZA_ERR_INVALID_ARG for a token tree.
   */
  save(path: string): void {
    const bytes = encodeUtf8(checkString(path, "path"));
    const error = new OutError();
    const status = this.library.symbols.eliza_inference_constraint_save(this.handle, bytes, bytes.length, error.view);
    if (status < 0) throw error.take(this.library, status, `${path} cannot be written`);
  }

  /**
   * Reads a document of a JSON Schema: as Zod does if the schema came from there, else as JSON.parse does. Reads a text
   * of `toolCalls` as an AssistantMessage. Throws ELIZA_ERR_INVALID_ARG for other constraints.
   */
  parse(document: string): unknown {
    if (this.kind === ConstraintKind.TAGS && this.#read) return this.#read(document);
    if (this.kind !== ConstraintKind.JSON_SCHEMA) throw invalidArgument("parse: only a JSON Schema has documents");
    const value: unknown = JSON.parse(document);
    return this.#read ? this.#read(value) : value;
  }

  /**
   * Builds, now instead of at first use, every table that fits `maskBytesMax`. Of the budget, `statesMax` and
   * `maskBytesMax` are ignored. If time runs out (ELIZA_ERR_LIMIT) or `cancel` stops it (ELIZA_ERR_CANCELLED), the
   * tables built so far stay.
   */
  prepare(budget?: Budget): void {
    const error = new OutError();
    const { eliza_inference_constraint_prepare: prepare } = this.library.symbols;
    withBudget(this.library, budget, (config) => {
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
   * What the compiler found legal but seldom meant, one item each: terminals that the lexing rule can never tell apart,
   * rules that produce nothing or are never used, bytes without a token.
   */
  get warnings(): string[] {
    if (this.#warnings) return this.#warnings;
    const text = this.library.symbols.eliza_inference_constraint_warnings(this.handle) ?? "";
    return text.split("\n").filter((line) => line !== "");
  }

  /** The sizes of a recognizer, including the tables and masks built so far. */
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

  /** The sizes of a token tree. Throws ELIZA_ERR_INVALID_ARG for a recognizer: use `recognizerInfo`. */
  get info(): ConstraintInfo {
    const struct = new Struct(eliza_constraint_info_t, this.library);
    checkStatus(this.library.symbols.eliza_inference_constraint_info(this.handle, struct.bytes), "info");
    const info = struct.read();
    return {
      nDescriptors: info.n_descriptors,
      nLeaves: info.n_leaves,
      nNodes: info.n_nodes,
      longestLeafTokens: info.longest_leaf_tokens,
      widestNode: info.widest_node,
      retainedBytes: info.retained_bytes,
    };
  }

  /** The paths of the descriptors, in the order of the payload; a recognizer has the one path "". */
  get paths(): string[] {
    if (this.kind !== ConstraintKind.TOKEN_TRIE) return [""];
    const address = new OutSlot();
    const length = new OutSlot();
    return Array.from({ length: this.info.nDescriptors }, (_, index) => {
      const { symbols } = this.library;
      const status = symbols.eliza_inference_constraint_path(this.handle, index, address.view, length.view);
      checkStatus(status, "paths");
      return readText(this.library, address.handle, length.value);
    });
  }

  #readKind(): number {
    // A build without recognizers makes token trees alone.
    if (!hasSymbols(this.library, "eliza_inference_constraint_recognizer_info")) return ConstraintKind.TOKEN_TRIE;
    return this.#readRecognizerInfo().kind;
  }

  #readRecognizerInfo(): StructValues<typeof eliza_recognizer_info_t> {
    const struct = new Struct(eliza_recognizer_info_t, this.library);
    const status = this.library.symbols.eliza_inference_constraint_recognizer_info(this.handle, struct.bytes);
    checkStatus(status, "recognizerInfo");
    return struct.read();
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
    withBudget(library, budget, (config) => {
      const status = create(library.symbols, handle, config, out.view, error.view);
      if (status < 0) throw error.take(library, status, fallback);
      return out.handle;
    }),
  );
}

/** Counters of the cache of compiled payloads. */
export interface TrieCacheStats {
  /** Payloads in the cache. */
  entries: number;
  /** Bytes of memory that the entries keep. */
  bytes: number;
  /** The bound on `bytes`. */
  bytesMax: number;
  /** Payloads found in the cache. */
  hits: number;
  /** Payloads that had to be compiled. */
  misses: number;
  /** Entries dropped to stay within the bounds. */
  evictions: number;
}

/** Counters of the cache of compiled payloads, which the whole process shares. */
export function trieCacheStats(library: Library = loadLibrary()): TrieCacheStats {
  const struct = new Struct(eliza_trie_cache_stats_t, library);
  checkStatus(library.symbols.eliza_inference_trie_cache_stats(struct.bytes), "trieCacheStats");
  const stats = struct.read();
  return {
    entries: stats.entries,
    bytes: stats.bytes,
    bytesMax: stats.bytes_max,
    hits: stats.hits,
    misses: stats.misses,
    evictions: stats.evictions,
  };
}

/** Bounds that cache to `bytesMax` bytes, evicting entries at once if need be; 0 turns it off. */
export function setTrieCacheLimit(bytesMax: number, library: Library = loadLibrary()): void {
  checkInteger(bytesMax, "bytesMax", 0, Number.MAX_SAFE_INTEGER);
  checkStatus(library.symbols.eliza_inference_trie_cache_set_limit(bytesMax), "setTrieCacheLimit");
}
