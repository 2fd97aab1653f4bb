// What the tests of bindings-ts take from bun, in Node.js: `bun:test`, and the global Bun.
import { readFileSync, writeFileSync } from "node:fs";
import { after, afterEach, before, describe, test as nodeTest } from "node:test";
import { inspect } from "node:util";
import { expect } from "expect";

export { afterEach, describe, expect };
export const beforeAll = before;
export const afterAll = after;

export function test(name, run) {
  nodeTest(name, () => run());
}

test.each = each(test);
describe.each = each(describe);

/** `%p` and `%s` in the name stand for the first values of a case. */
function each(define) {
  return (cases) => (name, run) => {
    for (const one of cases) {
      const values = Array.isArray(one) ? one : [one];
      const rest = [...values];
      define(
        name.replace(/%[psi]/g, () => inspect(rest.shift())),
        () => run(...values),
      );
    }
  };
}

expect.extend({
  toBeFunction: (value) => outcome(typeof value === "function", value, "be", "a function"),
  toStartWith: (text, start) => outcome(text.startsWith(start), text, "start with", start),
  toEndWith: (text, end) => outcome(text.endsWith(end), text, "end with", end),
});

expect.unreachable = () => {
  throw new Error("this should not have been reached");
};

function outcome(pass, value, verb, wanted) {
  return { pass, message: () => `expected ${inspect(value)} to ${verb} ${inspect(wanted)}` };
}

globalThis.Bun = {
  file: (path) => ({
    text: async () => readFileSync(path, "utf8"),
    json: async () => JSON.parse(readFileSync(path, "utf8")),
    bytes: async () => new Uint8Array(readFileSync(path)),
  }),
  write: async (path, content) => writeFileSync(path, content),
  gc: () => globalThis.gc(),
};
