/** A compiled payload. */
import { eliza_constraint_info_t, eliza_trie_cache_stats_t } from "./abi.generated";
import { checkInteger } from "./errors";
import { type Handle, type Library, loadLibrary } from "./library";
import { OutError, OutSlot, checkStatus, readText } from "./memory";
import { Owned } from "./owned";
import { type Payload, payloadBytes } from "./payload";
import { bytesOf, newStruct, readStruct } from "./structs";
import type { Vocabulary } from "./vocabulary";

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

/**
 * A payload compiled for a vocabulary. Immutable, and shared by any number of matchers, which keep what they need of it.
 * The same bytes compile once: later constraints come from a cache. The message of a failure gives the path to the bad
 * element.
 */
export class Constraint extends Owned {
  constructor(vocabulary: Vocabulary, payload: Payload) {
    super(vocabulary.library, compile(vocabulary, payload), "constraint", "eliza_inference_constraint_free");
  }

  /** What the payload compiled to. */
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

  /** The paths of the descriptors, in the order of the payload. */
  get paths(): string[] {
    const address = new OutSlot();
    const length = new OutSlot();
    return Array.from({ length: this.info.nDescriptors }, (_, index) => {
      const { symbols } = this.library;
      const status = symbols.eliza_inference_constraint_path(this.handle, index, address.view, length.view);
      checkStatus(status, "paths");
      return readText(address.handle, length.value);
    });
  }
}

function compile(vocabulary: Vocabulary, payload: Payload): Handle {
  const { library } = vocabulary;
  const bytes = payloadBytes(payload);
  const out = new OutSlot();
  const error = new OutError();
  const status = library.symbols.eliza_inference_constraint_create_token_trie(
    vocabulary.handle,
    bytes,
    bytes.length,
    out.view,
    error.view,
  );
  if (status < 0) throw error.take(library, status, "the payload could not be compiled");
  return out.handle;
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
