/**
 * Lets timers, I/O and abort signals run. The steps of a model are synchronous: without this, they would wait until the
 * end.
 */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
