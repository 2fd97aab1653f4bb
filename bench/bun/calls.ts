// What `Matcher.accept` costs from bun, beside the same native function with a NULL handle:
// `node bindings-ts/scripts/bun.mjs bench/bun/calls.ts PAYLOAD VOCABULARY_SIZE ROUNDS CALLS`.
// Prints nanoseconds per call; a sample is the mean of a round. Loops compile in their first rounds, which
// are among the samples.
import { Constraint, Matcher, Vocabulary, loadLibrary } from "../../bindings-ts/src/index";

const [payloadPath, vocabularySize, roundCount, callCount] = process.argv.slice(2);
const rounds = Number(roundCount);
const calls = Number(callCount);

const payload = await Bun.file(payloadPath!).text();
const matcher = new Matcher(new Constraint(new Vocabulary(Number(vocabularySize)), payload));
const native = loadLibrary().symbols.eliza_inference_matcher_accept;
matcher.activate("long");
const token = matcher.allowed()![0]!;

function acceptRound(): void {
  for (let i = 0; i < calls; i++) matcher.accept(token);
}

function floorRound(): void {
  for (let i = 0; i < calls; i++) native(null, token);
}

function measure(prepare: () => void, run: () => void): number[] {
  const samples: number[] = [];
  for (let round = 0; round < rounds; round++) {
    prepare();
    const started = Bun.nanoseconds();
    run();
    samples.push((Bun.nanoseconds() - started) / calls);
  }
  return samples;
}

const accept_ns = measure(() => matcher.activate("long"), acceptRound);
const floor_ns = measure(() => {}, floorRound);
console.log(JSON.stringify({ accept_ns, floor_ns }));
