// Deno's node:http2 (2.9.5) calls JavaScript while nghttp2 reads a frame. A GOAWAY from the peer
// with no open call closes and frees the session inside that call; nghttp2 then reads freed memory,
// and the process can abort (`find_stream_on_goaway_func: Assertion`) or crash. So in Deno,
// sessions served by this package are closed and destroyed one turn of the event loop later, with
// no nghttp2 frame on the stack. All callers use these two methods. Calls of this package do not
// use node:http2.
import type { Http2Session } from "node:http2";
import { setImmediate } from "node:timers";

/** Installs the workaround on a new session. */
export function endAfterGoaway(session: Http2Session): void {
  if (!("Deno" in globalThis)) return;
  let waiting: (() => void)[] | undefined;
  const emit = session.emit.bind(session) as (name: string | symbol, ...args: unknown[]) => boolean;
  // Emitted before the session is closed, in the same turn. A listener is not sufficient: others
  // may close the session first, or remove all listeners.
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
  session.close = (...args) =>
    waiting === undefined ? close(...args) : void waiting.push(() => close(...args));
  session.destroy = (...args) =>
    waiting === undefined ? destroy(...args) : void waiting.push(() => destroy(...args));
}
