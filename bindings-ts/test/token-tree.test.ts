import { describe, expect, test } from "bun:test";
import { decode } from "@msgpack/msgpack";
import {
  TRIE_ROOT_TOKEN_ID,
  buildTokenTreeDescriptor,
  buildTokenTrie,
  compareNames,
  countTerminals,
  encodePayload,
  estimateTrieBytes,
  isUniqueContinuation,
  step,
} from "../src";

describe("buildTokenTrie", () => {
  test("walks a name token by token to its leaf", () => {
    const root = buildTokenTrie([
      { name: "REPLY", tokens: [1, 2] },
      { name: "REPLY_ALL", tokens: [1, 2, 3] },
      { name: "STOP", tokens: [4] },
    ]);
    expect(root.tokenId).toBe(TRIE_ROOT_TOKEN_ID);
    expect([...root.children.keys()]).toEqual([1, 4]);
    const reply = step(step(root, 1)!, 2)!;
    expect(reply).toMatchObject({ tokenId: 2, isTerminal: true, leafName: "REPLY" });
    expect(isUniqueContinuation(reply)).toBe(false);
    expect(isUniqueContinuation(step(reply, 3)!)).toBe(true);
    expect(isUniqueContinuation(root)).toBe(false);
    expect(step(root, 9)).toBeNull();
    expect(countTerminals(root)).toBe(3);
  });

  test("skips empty sequences", () => {
    const root = buildTokenTrie([{ name: "NONE", tokens: [] }]);
    expect(root).toEqual({ tokenId: TRIE_ROOT_TOKEN_ID, children: new Map(), isTerminal: false });
    expect(countTerminals(root)).toBe(0);
  });

  test("of two names for the same tokens the smaller stays, in either order", () => {
    // U+FF5E sorts before U+1F600 by UTF-8 bytes, and after it by UTF-16 units.
    for (const names of [
      ["A", "B"],
      ["B", "A"],
      ["\uff5e", "\u{1f600}"],
      ["\u{1f600}", "\uff5e"],
      ["", "A"],
    ]) {
      const root = buildTokenTrie(names.map((name) => ({ name, tokens: [7] })));
      expect(step(root, 7)!.leafName).toBe(smallest(names));
      expect(countTerminals(root)).toBe(1);
    }
  });

  test("a name as long as the longest legal leaf does not exhaust the stack", () => {
    const root = buildTokenTrie([{ name: "LONG", tokens: Array.from({ length: 100_000 }, (_, i) => i) }]);
    expect(countTerminals(root)).toBe(1);
  });

  test("the estimate grows with the trie", () => {
    const small = buildTokenTrie([{ name: "A", tokens: [1] }]);
    const large = buildTokenTrie([{ name: "A", tokens: [1, 2, 3, 4] }]);
    expect(estimateTrieBytes(large)).toBeGreaterThan(estimateTrieBytes(small));
  });
});

describe("buildTokenTreeDescriptor", () => {
  test("takes each name with tokens once, sorted by UTF-8 bytes", () => {
    const tokens = new Map([
      ["\u{1f600}", [5]],
      ["\uff5e", [6]],
      ["B", [2]],
      ["A", [1]],
      ["EMPTY", []],
    ]);
    expect(
      buildTokenTreeDescriptor("action", ["\u{1f600}", "B", "\uff5e", "A", "B", "EMPTY", "UNKNOWN"], tokens),
    ).toEqual({
      path: "action",
      leaves: [
        { name: "A", tokens: [1] },
        { name: "B", tokens: [2] },
        { name: "\uff5e", tokens: [6] },
        { name: "\u{1f600}", tokens: [5] },
      ],
    });
  });

  test("is null when no name has tokens", () => {
    expect(buildTokenTreeDescriptor("action", ["A"], new Map())).toBeNull();
  });

  test("does not share the caller's arrays", () => {
    const tokens = [1, 2];
    const descriptor = buildTokenTreeDescriptor("action", ["A"], new Map([["A", tokens]]))!;
    tokens.push(3);
    expect(descriptor.leaves[0]!.tokens).toEqual([1, 2]);
  });
});

test("compareNames orders as UTF-8 bytes do", () => {
  const random = generator(1);
  for (let i = 0; i < 20_000; i++) {
    const [a, b] = [randomName(random), randomName(random)];
    expect(Math.sign(compareNames(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
  }
});

describe("encodePayload", () => {
  const payload = {
    modelId: "m",
    descriptors: [
      { path: "action", leaves: [{ name: "\u{1f600}", tokens: [1, 70_000] }], trigger: undefined, end: [3] },
    ],
  };
  const plain = JSON.parse(JSON.stringify(payload));

  test("JSON text", () => expect(encodePayload(payload)).toBe(JSON.stringify(plain)));
  test("MessagePack bytes", () => expect(decode(encodePayload(payload, "msgpack"))).toEqual(plain));
});

function smallest(names: string[]): string {
  return [...names].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))[0]!;
}

/** Few distinct characters of 1, 2, 3 and 4 bytes, so that names often share a prefix. */
function randomName(random: () => number): string {
  const alphabet = ["a", "b", "\u00e9", "\ud7ff", "\ue000", "\uff5e", "\u{10000}", "\u{1f600}"];
  return Array.from({ length: random() % 5 }, () => alphabet[random() % alphabet.length]).join("");
}

/** xorshift32: the same names in every run. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
}
