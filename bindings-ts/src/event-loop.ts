/**
 * Lets timers, I/O and abort signals run. The steps of a model are synchronous: without this, they would wait until the
 * end.
 */
export function yieldToEventLoop(): Promise<void> {
  const { setImmediate: soon = (call) => setTimeout(call, 0) } = globalThis as {
    setImmediate?: (call: () => void) => unknown; // absent in browsers
  };
  return new Promise((resolve) => void soon(resolve));
}
