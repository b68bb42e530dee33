// Deno's node:http2 (2.9.5) calls JavaScript while nghttp2 still reads a frame. When the other side says goodbye (GOAWAY) and no call is open,
// the session is closed and freed inside that call, and nghttp2 goes on with freed memory: mostly unnoticed, else the whole process aborts
// (`find_stream_on_goaway_func: Assertion`) or crashes. Its guard against that, a flag that is set while frames are read, does not hold in
// the released binary. So in Deno a session that this package serves (its own calls use no node:http2) is closed and destroyed behind a
// goodbye one turn of the event loop later, when nothing of nghttp2 is on the stack; both happen through these two methods, whoever asks.
import type { Http2Session } from "node:http2";
import { setImmediate } from "node:timers";

/** Takes a session that was just made. */
export function endAfterGoaway(session: Http2Session): void {
  if (!("Deno" in globalThis)) return;
  let waiting: (() => void)[] | undefined;
  const emit = session.emit.bind(session) as (name: string | symbol, ...args: unknown[]) => boolean;
  // Emitted before the session is closed, in the same turn. Not by a listener: others may close it before theirs, or remove all.
  session.emit = ((name: string | symbol, ...args: unknown[]) => {
    if (name === "goaway" && waiting === undefined) {
      waiting = [];
      setImmediate(() => {
        const ends = waiting!;
        waiting = undefined;
        for (const end of ends) end();
      });
    }
    return emit(name, ...args);
  }) as typeof session.emit;
  const close = session.close.bind(session);
  const destroy = session.destroy.bind(session);
  session.close = (...args) => waiting === undefined ? close(...args) : void waiting.push(() => close(...args));
  session.destroy = (...args) => waiting === undefined ? destroy(...args) : void waiting.push(() => destroy(...args));
}
