// Servers of one test file, by name, on separate ports: they end with all their connections.
import type { Http2Server } from "node:http2";
import type { AddressInfo, Server, Socket } from "node:net";
import { endAfterGoaway } from "../../../../ts/platform/deno_goaway_workaround.ts";

export class Servers {
  readonly #servers: Server[] = [];
  readonly #sockets = new Set<Socket>();
  readonly #ports: { [name: string]: number } = {};

  /**
   * Listens on a port of the loopback, or at a socket's path. What goes wrong on its connections is
   * the caller's business at the other end.
   */
  async serve(name: string, server: Server | Http2Server, path?: string): Promise<void> {
    server.on("connection", (socket: Socket) => {
      this.#sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => this.#sockets.delete(socket));
    });
    for (const event of ["sessionError", "tlsClientError"]) server.on(event, () => {});
    (server as Http2Server).on("session", (session) => {
      endAfterGoaway(session);
      session.on("error", () => {});
    });
    await new Promise<void>((resolve) =>
      path === undefined ? server.listen(0, "127.0.0.1", resolve) : server.listen(path, resolve)
    );
    this.#servers.push(server as Server);
    if (path !== undefined) return;
    this.#ports[name] = (server.address() as AddressInfo).port;
  }

  port(name: string): number {
    const port = this.#ports[name];
    if (port === undefined) throw new Error(`no server is called ${name}`);
    return port;
  }

  at(name: string): string {
    return `127.0.0.1:${this.port(name)}`;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await Promise.all(
      this.#servers.map((server) => new Promise((resolve) => server.close(resolve))),
    );
  }
}
