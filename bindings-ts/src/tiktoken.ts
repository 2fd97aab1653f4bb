/** Ranks of tiktoken: lines of base64 and rank, or pairs of bytes and rank. */
import { readFile } from "#backend";
import { encodeUtf8 } from "./memory.js";
import { TokenList } from "./token-list.js";

/** The path or the text of a rank file, or pairs of token bytes and rank, such as a Map. */
export type TiktokenRanks = string | Iterable<readonly [Uint8Array, number]>;

/** Reads the ranks, then adds the special tokens. */
export function readTiktokenRanks(ranks: TiktokenRanks, special: Readonly<Record<string, number>>): TokenList {
  const list = typeof ranks === "string" ? readLines(ranks) : readMap(ranks);
  for (const [text, id] of Object.entries(special)) {
    if (!text.isWellFormed()) throw list.error(`special token ${JSON.stringify(text)}`, "not valid Unicode");
    list.add(id, encodeUtf8(text), `special token ${text}`);
    list.markSpecial(id, text);
  }
  return list;
}

function readMap(ranks: Iterable<readonly [Uint8Array, number]>): TokenList {
  const list = new TokenList("tiktoken ranks");
  let index = 0;
  for (const [bytes, rank] of ranks) list.add(rank, bytes, `token ${index++}`);
  return list;
}

function readLines(source: string): TokenList {
  // A path has no line breaks, and does not look like the only line of a file.
  const isText = /[\r\n]/.test(source) || BASE64_AND_RANK.test(source);
  const list = new TokenList(isText ? "tiktoken ranks" : source);
  const text = isText ? source : readFile(source);
  for (const [index, line] of text.split(/\r\n|\r|\n/).entries()) {
    if (line === "") continue;
    const place = `line ${index + 1}`;
    const match = BASE64_AND_RANK.exec(line);
    if (!match) throw list.error(place, `expected base64 and a rank, got ${JSON.stringify(line.slice(0, 40))}`);
    list.add(Number(match[2]), fromBase64(match[1]!), place);
  }
  return list;
}

const BASE64_AND_RANK = /^\s*((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)\s+(\d+)\s*$/;

function fromBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}
