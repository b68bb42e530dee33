// An HTTP/2 server without TLS on a Unix socket or a loopback port, for a handler such as serve.ts makes. It does not keep its process
// alive unless asked to, and its end is orderly: calls that wait are answered by their service first, then connections are closed.
import { createServer, type Http2ServerRequest, type Http2ServerResponse, type ServerHttp2Session } from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import { endsLater } from "./ends_later.ts";

export type Http2Handler = (request: Http2ServerRequest, response: Http2ServerResponse) => void;

export interface ListenOptions {
  /** Path of a Unix socket, or a port on 127.0.0.1 (0: any free one). */
  readonly at: { readonly path: string } | { readonly port: number };
  readonly handler: Http2Handler;
  /** The process lives as long as it listens. Default: false. */
  readonly keepsAlive?: boolean;
  /** Told when the server fails after it has begun to listen. */
  onError?(error: Error): void;
}

export interface Listener {
  /** 0 for a Unix socket. */
  readonly port: number;
  /** Takes no more calls, waits for open ones for at most `graceMs`, closes. */
  close(graceMs?: number): Promise<void>;
}

const FLUSH_MS = 20;
/** After this a connection that was told to close is cut. */
const CUT_MS = 100;
/** Bytes that a caller may send ahead on one call, and on all of a connection. The protocol's 64 KB would let large messages crawl. */
const STREAM_WINDOW = 1024 * 1024;
const CONNECTION_WINDOW = 16 * 1024 * 1024;
/**
 * Node refuses new calls of a connection whose calls hold more than this, in megabytes; its 10 would be reached by three large messages.
 * All of a worker's calls share a connection.
 */
const SESSION_MEMORY_MB = 512;

export function listen({ at, handler, keepsAlive = false, onError = () => {} }: ListenOptions): Promise<Listener> {
  const sessions = new Set<ServerHttp2Session>();
  const sockets = new Set<Socket>();
  let open = 0;
  let idle = () => {};
  const settings = { initialWindowSize: STREAM_WINDOW };
  const server = createServer({ settings, maxSessionMemory: SESSION_MEMORY_MB }, (request, response) => {
    open++;
    response.once("close", () => {
      open--;
      if (open === 0) idle();
    });
    handler(request, response);
  });
  server.on("session", (session) => {
    endsLater(session);
    sessions.add(session);
    session.on("close", () => sessions.delete(session));
    // A caller that goes away in the middle: its calls are given up by their own streams.
    session.on("error", () => {});
    // Deno has no such method, and its own window.
    (session as { setLocalWindowSize?: (bytes: number) => void }).setLocalWindowSize?.(CONNECTION_WINDOW);
  });
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => {});
    if (!keepsAlive) socket.unref();
  });
  server.on("sessionError", () => {});
  const within = (ms: number, wait: (done: () => void) => void) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      wait(() => (clearTimeout(timer), resolve()));
    });
  const close = async (graceMs = 1000) => {
    // Not left to `close()` of server and sessions: they are to let open streams end, but Deno's cut them off.
    if (open > 0 && graceMs > 0) await within(graceMs, (done) => (idle = done));
    // Deno calls a response closed before its last bytes are on their way.
    if (sockets.size > 0 && graceMs > 0) await within(FLUSH_MS, () => {});
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const session of sessions) session.close();
    if (sockets.size > 0 && graceMs > 0) await within(CUT_MS, (done) => void closed.then(done));
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    // `exclusive`: in a worker of node:cluster the socket would otherwise be the parent's.
    server.listen(
      "path" in at ? { path: at.path, exclusive: true } : { port: at.port, host: "127.0.0.1", exclusive: true },
      () => {
        server.off("error", reject);
        server.on("error", onError);
        if (!keepsAlive) server.unref();
        const address = server.address() as AddressInfo | string | null;
        resolve({ port: typeof address === "object" && address !== null ? address.port : 0, close });
      },
    );
  });
}
