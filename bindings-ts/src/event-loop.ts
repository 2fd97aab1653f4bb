/** Lets timers, I/O and abort signals run: steps of a model are synchronous, and would hold them up to the end. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
