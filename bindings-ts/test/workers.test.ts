/** Workers are threads of one process: each has objects of its own, and all use the one library and its caches. */
import { expect, test } from "bun:test";
import { setTrieCacheLimit, trieCacheStats } from "../src";
import "./support";
import { type Found, work } from "./worker";

const nWorkers = 6;

function inWorker(times: number): Promise<Found> {
  const worker = new Worker(new URL("./worker.ts", import.meta.url).href);
  return new Promise<Found>((resolve, reject) => {
    worker.onmessage = ({ data }) => resolve(data as Found);
    worker.onerror = ({ message }) => reject(new Error(message));
    worker.postMessage(times);
  }).finally(() => worker.terminate());
}

test("workers see what one thread alone sees, in the same library", async () => {
  const limit = trieCacheStats().bytesMax;
  const alone = work(1);
  expect(Object.keys(alone.masks).length).toBe(7);
  const found = await Promise.all([...Array(nWorkers).keys()].map(() => inWorker(3)));
  for (const { path, masks } of found) expect({ path, masks }).toEqual({ path: alone.path, masks: alone.masks });
  // The cache of compiled payloads is the process's: what this thread had compiled, they found.
  expect(Math.max(...found.map(({ hits }) => hits))).toBeGreaterThanOrEqual(alone.hits + nWorkers);
  setTrieCacheLimit(Number(limit));
});

test("a worker that is ended in the middle of its work disturbs no other", async () => {
  const ended = new Worker(new URL("./worker.ts", import.meta.url).href);
  ended.postMessage(1_000_000);
  const { masks } = await inWorker(2);
  ended.terminate();
  expect(masks).toEqual(work(1).masks);
});
