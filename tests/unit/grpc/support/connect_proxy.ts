// An HTTP proxy that makes tunnels (CONNECT), on the loopback, byte by byte: so that it can also do
// what no proxy should.
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/** What a proxy does instead of making a tunnel, or before it. */
export type Misdeed = (socket: Socket, head: string, tunnel: () => void) => void;

export class ConnectProxy {
  /** Heads of the requests, as they came. */
  readonly heads: string[] = [];
  /** Where names lead to: `host:port` to a port of the loopback. Others lead to themselves. */
  readonly routes = new Map<string, number>();
  /** `user:password` that it wants. */
  auth: string | undefined;
  misdeed: Misdeed | undefined;
  /** Written in one piece with the first bytes of the server, as by a slow proxy. */
  late = false;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor() {
    this.#server = createServer((socket) => this.#serve(this.#keep(socket)));
  }

  static async start(): Promise<ConnectProxy> {
    const proxy = new ConnectProxy();
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  get address(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Connections that are open, on both sides. */
  get open(): number {
    return this.#sockets.size;
  }

  /** Ends every tunnel. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Passes nothing on any more, and ends nothing. */
  freeze(): void {
    for (const socket of this.#sockets) socket.unpipe().pause();
  }

  async stop(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #keep(socket: Socket): Socket {
    this.#sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => this.#sockets.delete(socket));
    return socket;
  }

  #serve(socket: Socket): void {
    let read = "";
    const onData = (chunk: Uint8Array) => {
      read += Buffer.from(chunk).toString("latin1");
      if (!read.endsWith("\r\n\r\n")) return;
      socket.off("data", onData);
      this.heads.push(read);
      const tunnel = () => this.#tunnel(socket, read);
      if (this.misdeed !== undefined) this.misdeed(socket, read, tunnel);
      else tunnel();
    };
    socket.on("data", onData);
  }

  #tunnel(socket: Socket, head: string): void {
    const to = /^CONNECT ([^ ]+) HTTP\/1\.1\r\n/.exec(head)?.[1];
    const auth = /^proxy-authorization: Basic (.*)\r$/im.exec(head)?.[1];
    if (to === undefined) return void socket.end("HTTP/1.1 400 Bad Request\r\n\r\n");
    if (this.auth !== undefined && auth !== Buffer.from(this.auth).toString("base64")) {
      const text =
        'HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm="x"\r\nContent-Length: 5\r\n\r\nno!!!';
      return void socket.end(text);
    }
    const [, host, port] = /^\[?(.*?)\]?:(\d+)$/.exec(to)!;
    const routed = this.routes.get(to);
    const server = this.#keep(
      connect(
        routed === undefined
          ? { host: host!, port: Number(port) }
          : { host: "127.0.0.1", port: routed },
      ),
    );
    const answer = "HTTP/1.1 200 Connection established\r\nvia: test\r\n\r\n";
    let joined = false;
    const join = (first: Uint8Array) => {
      joined = true;
      socket.write(Buffer.concat([Buffer.from(answer), first]));
      server.pipe(socket);
    };
    server.on("connect", () => {
      socket.pipe(server);
      if (this.late) server.once("data", (chunk: Uint8Array) => join(chunk));
      else join(new Uint8Array(0));
    });
    server.on(
      "close",
      () => void (joined ? socket.destroy() : socket.end("HTTP/1.1 502 Bad Gateway\r\n\r\n")),
    );
    socket.on("close", () => server.destroy());
  }
}
