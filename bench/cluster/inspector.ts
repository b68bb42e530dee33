// The live heap of a process of Node or Deno, of all its isolates (the main one and one for each
// thread), after a requested garbage collection: over the inspector's protocol, in which both
// runtimes give access to the threads by the domain "NodeWorker". So any process can be measured
// without a change of its code.
import { setTimeout as delay } from "node:timers/promises";
import { WebSocket } from "ws";

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly sessionId: string; readonly message?: string };
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

type Send = (method: string, params?: object) => Promise<unknown>;

/** A session's calls: each response has the number of its call, in any order. */
class Calls {
  readonly #open = new Map<
    number,
    { resolve(result: unknown): void; reject(error: Error): void }
  >();
  readonly #write: (text: string) => void;
  #next = 1;

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  readonly send: Send = (method, params = {}) =>
    new Promise((resolve, reject) => {
      const id = this.#next++;
      this.#open.set(id, { resolve, reject });
      this.#write(JSON.stringify({ id, method, params }));
    });

  take({ id, result, error }: Message): void {
    const call = this.#open.get(id ?? 0);
    this.#open.delete(id ?? 0);
    if (error === undefined) call?.resolve(result);
    else call?.reject(new Error(`the inspector refused: ${error.message}`));
  }

  fail(error: Error): void {
    for (const call of this.#open.values()) call.reject(error);
    this.#open.clear();
  }
}

/**
 * Collects the garbage of every isolate, and returns the bytes of live heap in all of them
 * together.
 */
export async function liveHeap(address: string): Promise<number> {
  const socket = new WebSocket(address, { perMessageDeflate: false });
  const main = new Calls((text) => socket.send(text));
  const threads = new Map<string, Calls>();
  await new Promise<void>((resolve, reject) => socket.once("open", resolve).once("error", reject));
  socket.on(
    "close",
    () =>
      [main, ...threads.values()].forEach((calls) =>
        calls.fail(new Error("the inspector has gone"))
      ),
  );
  socket.on("message", (data) => {
    const message = JSON.parse(String(data)) as Message;
    const { sessionId = "", message: inner } = message.params ?? {};
    if (message.id !== undefined) main.take(message);
    else if (message.method === "NodeWorker.attachedToWorker") {
      const through = (text: string) =>
        void main.send("NodeWorker.sendMessageToWorker", { sessionId, message: text });
      threads.set(sessionId, new Calls(through));
    } else if (message.method === "NodeWorker.receivedMessageFromWorker") {
      threads.get(sessionId)?.take(JSON.parse(inner!));
    }
  });
  try {
    await main.send("NodeWorker.enable", { waitForDebuggerOnStart: false });
    await delay(200);
    const isolates = [main.send, ...[...threads.values()].map(({ send }) => send)];
    // What one isolate lets go may have been held for another, and finalizers run behind a
    // collection.
    for (let i = 0; i < 3; i++) {
      for (const send of isolates) await send("HeapProfiler.collectGarbage");
      await delay(100);
    }
    let bytes = 0;
    for (const send of isolates) {
      bytes += (await send("Runtime.getHeapUsage") as { usedSize: number }).usedSize;
    }
    return bytes;
  } finally {
    socket.close();
  }
}
