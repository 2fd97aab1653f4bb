/** Token trees: the payload that constrains a stream, and the trie that it describes. */

export interface TokenSequence {
  name: string;
  tokens: number[];
}

export interface TokenTreeDescriptor {
  /** `action`, `parameters.<field>`, `contexts[]`: what the constrained span is in the response. */
  path: string;
  /** Sorted by name. */
  leaves: TokenSequence[];
  /** Token sequences after which the span opens by itself. */
  trigger?: number[][] | undefined;
  /** Tokens that end the span at a leaf that other leaves continue. */
  end?: number[] | undefined;
}

export interface TokenTreePayload {
  /** The model that the token ids belong to; "" if unknown. */
  modelId: string;
  descriptors: TokenTreeDescriptor[];
}

export interface TokenTrieNode {
  /** TRIE_ROOT_TOKEN_ID at the root. */
  tokenId: number;
  children: Map<number, TokenTrieNode>;
  isTerminal: boolean;
  /** Set at terminal nodes. */
  leafName?: string;
}

export const TRIE_ROOT_TOKEN_ID = -1;

/**
 * The decision trie of the sequences. Empty ones are skipped; of two names for the same tokens the smaller stays, by UTF-8
 * bytes.
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
 * The descriptor of the names that `tokenMap` has tokens for, each name once, sorted by UTF-8 bytes; null if none has.
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

/** The child for the token, or null if the token is not legal here. */
export function step(node: TokenTrieNode, tokenId: number): TokenTrieNode | null {
  return node.children.get(tokenId) ?? null;
}

/** A leaf that no other continues: nothing is left to choose. */
export function isUniqueContinuation(node: TokenTrieNode): boolean {
  return node.isTerminal && node.children.size === 0;
}

/** Leaves at and below the node. */
export function countTerminals(node: TokenTrieNode): number {
  let count = 0;
  for (const { isTerminal } of descendants(node)) if (isTerminal) count++;
  return count;
}

/** Whether a name at the node or below it is the beginning of another. */
export function hasPrefixLeaf(node: TokenTrieNode): boolean {
  for (const { isTerminal, children } of descendants(node)) if (isTerminal && children.size > 0) return true;
  return false;
}

/** Roughly what the nodes at and below this one hold in memory, in bytes. */
export function estimateTrieBytes(node: TokenTrieNode): number {
  let bytes = 0;
  for (const { leafName } of descendants(node)) bytes += NODE_BYTES + 2 * (leafName?.length ?? 0);
  return bytes;
}

/** Orders names as their UTF-8 bytes do. The order of JavaScript strings, by UTF-16 units, differs above U+FFFF. */
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
