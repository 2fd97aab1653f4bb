/**
 * `tokenizer.json` of Hugging Face: BPE and Unigram models, in the byte-level spelling of GPT-2 and in that of
 * SentencePiece. tests/vocabularies/README.md has the rules.
 */
import { readFile } from "#backend";
import { JsonPlace } from "./json-place.js";
import { encodeUtf8 } from "./memory.js";
import { TokenList } from "./token-list.js";

/** A parsed `tokenizer.json`. */
export type TokenizerJson = object;

/** Reads the tokens; `source` is a path, the text, or the parsed document. */
export function readTokenizerJson(source: string | TokenizerJson): TokenList {
  const isPath = typeof source === "string" && !/^\s*\{/.test(source);
  const list = new TokenList(isPath ? source : "tokenizer.json");
  const text = isPath ? readFile(source) : source;
  const root = new JsonPlace(typeof text === "string" ? parse(text, list) : text, "", list);
  const model = root.key("model");
  checkKind(model);
  const spelling = readSpelling(root, model);
  if (isUnigram(model)) addPieces(model, spelling, list);
  else addTexts(model, spelling, list);
  for (const place of root.optional("added_tokens")?.items() ?? []) {
    const [id, content] = [place.key("id"), place.key("content")];
    const bytes = spelling.byteLevel ? encodeUtf8(content.text()) : bytesOf(spelling, content.text());
    list.replace(id.value, bytes, id.name);
    if (place.optional("special")?.boolean()) list.markSpecial(id.value as number, content.text());
  }
  return list;
}

function parse(text: string, list: TokenList): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw list.error("", `not JSON: ${(error as Error).message}`);
  }
}

function checkKind(model: JsonPlace): void {
  const [type, vocab] = [model.optional("type"), model.key("vocab")];
  if (!type && Array.isArray(vocab.value)) {
    throw model.missing("type", "a vocabulary that is an array is of the type Unigram");
  }
  if (type && !["BPE", "Unigram"].includes(type.text())) {
    throw type.error(`${type.text()} is unsupported, only BPE and Unigram: its tokens have no bytes of their own`);
  }
  for (const affix of ["continuing_subword_prefix", "end_of_word_suffix"]) {
    const place = model.optional(affix);
    if (place?.value) throw place.error(`tokens with ${JSON.stringify(place.value)} have no bytes of their own`);
  }
}

function isUnigram(model: JsonPlace): boolean {
  return model.optional("type")?.value === "Unigram";
}

function addTexts(model: JsonPlace, spelling: Spelling, list: TokenList): void {
  const vocab = model.key("vocab").object();
  for (const [text, id] of Object.entries(vocab)) {
    const place = `model.vocab[${JSON.stringify(text)}]`;
    if (!text.isWellFormed()) throw list.error(place, "not valid Unicode");
    list.add(id, bytesOf(spelling, text), place);
  }
  const unknown = model.optional("unk_token")?.value;
  if (typeof unknown === "string" && Object.hasOwn(vocab, unknown)) list.markSpecial(vocab[unknown] as number, unknown);
}

function addPieces(model: JsonPlace, spelling: Spelling, list: TokenList): void {
  const texts = model
    .key("vocab")
    .items()
    .map((piece) => piece.firstOfPair().text());
  for (const [id, text] of texts.entries()) list.add(id, bytesOf(spelling, text), `model.vocab[${id}]`);
  const unknown = model.optional("unk_id");
  if (!unknown) return;
  const text = texts[unknown.value as number];
  if (text === undefined) throw unknown.error(`${JSON.stringify(unknown.value)} is outside 0..${texts.length - 1}`);
  list.markSpecial(unknown.value as number, text);
}

/** How the texts of tokens stand for bytes. */
interface Spelling {
  /** One character for each byte. */
  byteLevel: boolean;
  /** `<0x0A>` is one byte. */
  byteFallback: boolean;
  /** What stands for something else, mostly U+2581 for a space; done in this order. */
  replacements: [from: string, to: string][];
}

function bytesOf({ byteLevel, byteFallback, replacements }: Spelling, text: string): Uint8Array {
  if (byteLevel) return byteLevelBytes(text) ?? encodeUtf8(text);
  const byte = byteFallback && /^<0x([0-9A-Fa-f]{2})>$/.exec(text);
  if (byte) return Uint8Array.of(Number.parseInt(byte[1]!, 16));
  return encodeUtf8(replacements.reduce((spelled, [from, to]) => spelled.replaceAll(from, () => to), text));
}

function readSpelling(root: JsonPlace, model: JsonPlace): Spelling {
  const byteFallback = model.optional("byte_fallback")?.boolean() ?? false;
  const spelling: Spelling = { byteLevel: false, byteFallback, replacements: [] };
  const decoder = root.optional("decoder");
  if (decoder) {
    readDecoder(decoder, spelling);
    return spelling;
  }
  const encoders = [...parts(root.optional("pre_tokenizer")), ...parts(root.optional("normalizer"))];
  for (const part of encoders) readEncoder(part, spelling);
  if (spelling.byteLevel || spelling.byteFallback || spelling.replacements.length > 0) return spelling;
  throw root.missing("decoder", "neither pre_tokenizer nor normalizer tells how tokens are spelled");
}

/** Reads what turns tokens into text. */
function readDecoder(decoder: JsonPlace, spelling: Spelling): void {
  let isFused = false;
  for (const part of parts(decoder)) {
    const type = part.key("type").text();
    const replaced = type === "Replace" ? part.key("pattern").optional("String")?.replaced() : undefined;
    if (type === "ByteLevel") spelling.byteLevel = true;
    else if (type === "ByteFallback") spelling.byteFallback = true;
    else if (type === "Metaspace") spelling.replacements.push([metaspace(part), " "]);
    else if (replaced !== undefined) spelling.replacements.push([replaced, part.key("content").text()]);
    else if (type === "Fuse") isFused = true;
    // After Fuse, Strip applies to the whole text: it removes the space that was put before it.
    else if (type !== "Strip" || !isFused) {
      throw part.error(`the decoder ${type} is unsupported: it does not give a token bytes of its own`);
    }
  }
  if (spelling.byteLevel && spelling.replacements.length > 0) {
    throw decoder.error("ByteLevel beside Replace or Metaspace is unsupported: two ways to spell a token");
  }
}

/** Reads what turns text into tokens, for its inverse. */
function readEncoder(part: JsonPlace, spelling: Spelling): void {
  const type = part.key("type").text();
  if (type === "ByteLevel") spelling.byteLevel = true;
  else if (type === "Metaspace") spelling.replacements.push([metaspace(part), " "]);
  else if (type === "Replace" && part.key("pattern").optional("String")?.value === " ") {
    spelling.replacements.push([part.key("content").replaced(), " "]);
  }
}

function metaspace(part: JsonPlace): string {
  return part.optional("replacement")?.replaced() ?? "\u2581";
}

/** The parts of a decoder, pre-tokenizer or normalizer, which may be a sequence of them. */
function parts(place: JsonPlace | null): JsonPlace[] {
  if (!place) return [];
  if (place.key("type").text() !== "Sequence") return [place];
  const names = ["decoders", "pretokenizers", "normalizers"];
  return names.flatMap((name) => place.optional(name)?.items() ?? []).flatMap(parts);
}

/** Null for a text with a character that stands for no byte. */
function byteLevelBytes(text: string): Uint8Array | null {
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) {
    const byte = byteOfUnit[text.charCodeAt(i)];
    if (byte === undefined) return null;
    bytes[i] = byte;
  }
  return bytes;
}

/**
 * GPT-2's map: a printable Latin-1 character stands for its own byte, the characters from U+0100 on for the other
 * bytes.
 */
const byteOfUnit: (number | undefined)[] = [];
for (let byte = 0, next = 0x100; byte < 0x100; byte++) {
  const isPrintable = (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte !== 0xad);
  byteOfUnit[isPrintable ? byte : next++] = byte;
}
