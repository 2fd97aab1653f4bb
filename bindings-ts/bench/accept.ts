/** The cost of calls from bun: `npm run bench` prints nanoseconds per call, the median of 101 runs. */
import { Constraint, Matcher, Vocabulary } from "../src";

const names = Array.from({ length: 30 }, (_, i) => ({ name: `NAME_${i}`, tokens: [1000 + i, 1, 2, 3] }));
const payload = { modelId: "", descriptors: [{ path: "action", leaves: names, trigger: [[10, 11]] }] };
using matcher = new Matcher(new Constraint(new Vocabulary(128_256), payload));
const logits = new Float32Array(128_256);

// A trigger of two tokens, then a name of four.
const tokens = Int32Array.of(10, 11, 1000, 1, 2, 3);

function accept(): number {
  for (let i = 0; i < tokens.length; i++) matcher.accept(tokens[i]!);
  return tokens.length;
}

function sample(): number {
  matcher.sample(logits);
  return 1;
}

/** `run` returns the number of calls that it made. */
function medianNs(run: () => number): number {
  const figures = Array.from({ length: 101 }, () => {
    let calls = 0;
    const started = Bun.nanoseconds();
    while (calls < 20_000) calls += run();
    return (Bun.nanoseconds() - started) / calls;
  });
  return figures.sort((a, b) => a - b)[50]!;
}

const acceptNs = medianNs(accept);
matcher.activate("action");
console.log(JSON.stringify({ accept_ns: acceptNs, sample_30_names_ns: medianNs(sample) }));
