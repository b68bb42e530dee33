// One macrotask hop: everything that a turn of workflow code set off in microtasks has run when it resolves (measured: one hop drains
// a 100,000-deep await chain in every runtime). The host functions are captured when this module is loaded, so that a determinism
// guard which replaces globals later does not reach them. A hop never keeps a process alive after it has resolved.

type Hop = () => Promise<void>;

function makeHop(): Hop {
  const immediate = (globalThis as { setImmediate?: (callback: () => void) => unknown }).setImmediate;
  if (typeof immediate === "function") return () => new Promise<void>((resolve) => void immediate(resolve));
  // Browsers. Messages of one port arrive in the order in which they were posted, so a queue of resolvers pairs them up.
  const { port1, port2 } = new MessageChannel();
  const waiting: (() => void)[] = [];
  let head = 0;
  port1.onmessage = () => {
    const resolve = waiting[head++]!;
    if (head === waiting.length) {
      waiting.length = 0;
      head = 0;
    }
    resolve();
  };
  return () =>
    new Promise<void>((resolve) => {
      waiting.push(resolve);
      port2.postMessage(null);
    });
}

/** Resolves after one macrotask: setImmediate where it exists, else a MessageChannel. */
export const hop: Hop = makeHop();
