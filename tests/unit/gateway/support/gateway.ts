// A gateway in front of a service, and callers of it: through the product's own connection, by hand
// over a WebSocket, by hand over a socket.
import { connect } from "node:net";
import { WebSocket } from "ws";
import type { LogFields, Logger } from "../../../../ts/base/logger.ts";
import {
  connectGateway,
  type GatewayConnection,
  type GatewayOptions,
} from "../../../../ts/gateway/mod.ts";
import {
  type Gateway,
  type GatewayServerOptions,
  startGateway,
} from "../../../../ts/gateway/server.ts";

export const PAGE = "https://app.example.com";

/** What Node 20 has not; Deno's own elsewhere. */
export const socketClass: Pick<GatewayOptions, "webSocket"> = "Deno" in globalThis
  ? {}
  : { webSocket: WebSocket };

export interface Under {
  readonly gateway: Gateway;
  readonly token: string;
  /** Everything that the gateway has logged. */
  readonly log: string[];
  /** Another connection, closed at the end. */
  dial(options?: GatewayOptions): Promise<GatewayConnection>;
}

/** Runs `body` with a gateway on a free port. */
export async function withGateway(
  options: Omit<GatewayServerOptions, "port">,
  body: (under: Under) => Promise<void>,
): Promise<void> {
  const log: string[] = [];
  const note = (level: string) => (message: string, fields: LogFields = {}) => {
    const shown = Object.entries(fields).map(([name, value]) =>
      `${name}=${value instanceof Error ? value.stack : String(value)}`
    );
    log.push([level, message, ...shown].join(" "));
  };
  const logger: Logger = {
    debug: note("debug"),
    info: note("info"),
    warn: note("warn"),
    error: note("error"),
  };
  const gateway = await startGateway({ origins: [PAGE], logger, port: 0, ...options });
  const connections: GatewayConnection[] = [];
  try {
    await body({
      gateway,
      token: new URL(gateway.url).hash.slice(1),
      log,
      async dial(more = {}) {
        const connection = await connectGateway(gateway.url, { ...socketClass, ...more });
        connections.push(connection);
        return connection;
      },
    });
  } finally {
    await Promise.all(connections.map((connection) => connection.close()));
    await gateway.close(0);
  }
}

export interface Upgrade {
  readonly protocols?: string[];
  readonly headers?: { readonly [name: string]: string };
  readonly path?: string;
}

/**
 * How an attempt to open a WebSocket by hand went: "opened", an HTTP status, or the code with which
 * it was closed.
 */
export function upgrade(
  port: number,
  { protocols = [], headers = {}, path = "/socket" }: Upgrade,
): Promise<string> {
  return new Promise((resolve) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, protocols, { headers });
    socket.on("unexpected-response", (request, response) => {
      resolve(String(response.statusCode));
      request.destroy();
    });
    socket.on("message", () => {
      resolve("opened");
      socket.terminate();
    });
    socket.on("close", (code) => resolve(`closed ${code}`));
    socket.on("error", () => {});
  });
}

/** A socket on which a test sends hand-made frames. */
export async function rawSocket(port: number, token: string): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/socket`, [
    "temporalex.gateway.v1",
    `temporalex.token.${token}`,
  ]);
  socket.on("error", () => {});
  await new Promise((resolve) => socket.once("message", resolve));
  return socket;
}

/**
 * Sends bytes over TCP; what came back, and after how many milliseconds the other side had closed
 * the connection.
 */
export function sendBytes(
  port: number,
  text: string,
  host = "127.0.0.1",
): Promise<{ readonly answer: string; readonly ms: number }> {
  return new Promise((resolve) => {
    const began = performance.now();
    let answer = "";
    const socket = connect(port, host, () => socket.write(text));
    socket.setEncoding("utf8");
    socket.on("data", (chunk) => answer += chunk);
    socket.on("error", () => {});
    socket.on("close", () => resolve({ answer, ms: performance.now() - began }));
  });
}
