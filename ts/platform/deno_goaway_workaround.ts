// Deno's node:http2 (2.9.5) calls JavaScript while nghttp2 still reads a frame. When the other side says goodbye (GOAWAY) and no call is open,
// the session is closed and freed inside that call, and nghttp2 goes on with freed memory: mostly unnoticed, else the whole process aborts
// (`find_stream_on_goaway_func: Assertion`) or crashes. Its guard against that, a flag that is set while frames are read, does not hold in
// the released binary. So in Deno a session that this package serves (its own calls use no node:http2) is closed and destroyed behind a
// goodbye one turn of the event loop later, when nothing of nghttp2 is on the stack; both happen through these two methods, whoever asks.
import type { Http2Session } from "node:http2";
import { setImmediate } from "node:timers";

/** Takes a session that was just made, before anybody listens for its end. */
export function endAfterGoaway(session: Http2Session): void {
  if (!("Deno" in globalThis)) return;
  let waiting: (() => void)[] | undefined;
  // Told before the session is closed, in the same turn.
  session.on("goaway", () => {
    if (waiting !== undefined) return;
    waiting = [];
    setImmediate(() => {
      const ends = waiting!;
      waiting = undefined;
      for (const end of ends) end();
    });
  });
  const close = session.close.bind(session);
  const destroy = session.destroy.bind(session);
  session.close = (...args) => waiting === undefined ? close(...args) : void waiting.push(() => close(...args));
  session.destroy = (...args) => waiting === undefined ? destroy(...args) : void waiting.push(() => destroy(...args));
}
