/** Token trees: the payload that constrains a stream, and the trie that it describes. */

import type { Languages } from "./languages.js";

/** A name, and its spelling in tokens. */
export interface TokenSequence {
  /** What comes out when the span ends with these tokens. */
  name: string;
  /** Token ids. */
  tokens: number[];
}

/** The names that one span of the output allows. */
export interface TokenTreeDescriptor {
  /**
   * What the span is in the response: `action`, `parameters.<field>`, `contexts[]`. No two descriptors of a payload
   * have the same path.
   */
  path: string;
  /** The names, sorted. */
  leaves: TokenSequence[];
  /** Token sequences that open the span when the output ends with one of them. */
  trigger?: number[][] | undefined;
  /** Tokens that end the span at a leaf that other leaves continue. */
  end?: number[] | undefined;
}

/**
 * Any text of a language, in place of names. Only vocabularies with bytes take such a payload.
 */
export interface TokenTreePart extends Languages {
  path: string;
  trigger?: number[][] | undefined;
  /**
   * Tokens that end the span where the text is complete but could continue. Without them any token may follow, and
   * one that does not continue the text ends the span before it.
   */
  end?: number[] | undefined;
}

/** What `new Constraint` and `Stream.setTokenTrie` take, as an object. */
export interface TokenTreePayload<Descriptor = TokenTreeDescriptor | TokenTreePart> {
  /** The model that the token ids belong to; "" if unknown. */
  modelId: string;
  /** At least one. */
  descriptors: Descriptor[];
  /**
   * "text", the default: a vocabulary in which the tokens of a name do not spell it refuses the payload, since it is
   * for another one. "labels": names are not what their tokens spell.
   */
  names?: "text" | "labels" | undefined;
}

/** A node of a decision trie: the tokens from the root to it are the beginning of at least one name. */
export interface TokenTrieNode {
  /** The token that leads here; TRIE_ROOT_TOKEN_ID at the root. */
  tokenId: number;
  /** The legal next tokens, and the nodes that they lead to. */
  children: Map<number, TokenTrieNode>;
  /** Whether a name is complete here. */
  isTerminal: boolean;
  /** That name. */
  leafName?: string;
}

/** The `tokenId` of a root, which no token leads to. */
export const TRIE_ROOT_TOKEN_ID = -1;

/**
 * The decision trie of the sequences. Empty sequences are skipped; of two names with the same tokens, the smaller by
 * UTF-8 bytes stays.
 */
export function buildTokenTrie(sequences: ReadonlyArray<TokenSequence>): TokenTrieNode {
  const root = newNode(TRIE_ROOT_TOKEN_ID);
  for (const { name, tokens } of sequences) {
    if (tokens.length === 0) continue;
    let node = root;
    for (const token of tokens) node = childOrNew(node, token);
    if (node.leafName === undefined || compareNames(name, node.leafName) < 0) node.leafName = name;
    node.isTerminal = true;
  }
  return root;
}

/**
 * A descriptor of the names that `tokenMap` has tokens for, without repetitions and sorted by UTF-8 bytes; null if
 * there are none.
 */
export function buildTokenTreeDescriptor(
  path: string,
  names: ReadonlyArray<string>,
  tokenMap: ReadonlyMap<string, number[]>,
): TokenTreeDescriptor | null {
  const leaves = [...new Set(names)].sort(compareNames).flatMap((name) => {
    const tokens = tokenMap.get(name) ?? [];
    return tokens.length === 0 ? [] : [{ name, tokens: [...tokens] }];
  });
  return leaves.length === 0 ? null : { path, leaves };
}

/** The child for the token; null if the token is not legal here. */
export function step(node: TokenTrieNode, tokenId: number): TokenTrieNode | null {
  return node.children.get(tokenId) ?? null;
}

/** Whether the node is a leaf that no other continues, so that nothing is left to choose. */
export function isUniqueContinuation(node: TokenTrieNode): boolean {
  return node.isTerminal && node.children.size === 0;
}

/** The number of names that end at the node or below it. */
export function countTerminals(node: TokenTrieNode): number {
  let count = 0;
  for (const { isTerminal } of descendants(node)) if (isTerminal) count++;
  return count;
}

/** Whether a name that ends at the node or below it is the beginning of another. */
export function hasPrefixLeaf(node: TokenTrieNode): boolean {
  for (const { isTerminal, children } of descendants(node)) if (isTerminal && children.size > 0) return true;
  return false;
}

/** A rough estimate of the bytes of memory that the node and those below it take. */
export function estimateTrieBytes(node: TokenTrieNode): number {
  let bytes = 0;
  for (const { leafName } of descendants(node)) bytes += NODE_BYTES + 2 * (leafName?.length ?? 0);
  return bytes;
}

/** Compares names by their UTF-8 bytes, for `sort`. JavaScript compares UTF-16 units, which differs above U+FFFF. */
export function compareNames(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const unitA = a.charCodeAt(i);
    const unitB = b.charCodeAt(i);
    if (unitA !== unitB) return codePointRank(unitA) - codePointRank(unitB);
  }
  return a.length - b.length;
}

/** An object, its Map and the entry in the parent's Map. */
const NODE_BYTES = 200;

function newNode(tokenId: number): TokenTrieNode {
  return { tokenId, children: new Map(), isTerminal: false };
}

function childOrNew(node: TokenTrieNode, token: number): TokenTrieNode {
  let child = node.children.get(token);
  if (!child) {
    child = newNode(token);
    node.children.set(token, child);
  }
  return child;
}

/** With a stack of its own, since a leaf may be thousands of tokens deep. */
function* descendants(node: TokenTrieNode): Generator<TokenTrieNode> {
  const open = [node];
  for (let next = open.pop(); next; next = open.pop()) {
    yield next;
    for (const child of next.children.values()) open.push(child);
  }
}

/** Surrogates stand for code points above U+FFFF, so they come after the units U+E000 to U+FFFF. */
function codePointRank(unit: number): number {
  if (unit >= 0xe000) return unit - 0x800;
  if (unit >= 0xd800) return unit + 0x2000;
  return unit;
}
