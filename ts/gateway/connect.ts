// The client side of a gateway: a RawService over one WebSocket, for pages, their workers, Deno and
// Node. The socket is opened when a call needs it, and again after a loss. A call that was never
// sent waits for the socket (`patience`), because sending it later has one effect only. A call that
// was sent and lost its socket is UNAVAILABLE: its outcome is unknown, so the caller decides
// (clients and workers retry with the same ids).
import { type Duration, toMs } from "../converter/duration.ts";
import {
  type CallOptions,
  Code,
  type MethodName,
  type RawService,
  ServiceError,
} from "../service/raw.ts";
import { backoffMs, type BackoffOptions } from "../service/retry.ts";
import { realTimers, sleepOn } from "../base/timers.ts";
import {
  askFrame,
  callFrame,
  cancelFrame,
  Close,
  GATEWAY_PROTOCOL,
  type GatewayFrame,
  type Hello,
  readGatewayFrame,
  SOCKET_PATH,
  TOKEN_PREFIX,
} from "./frames.ts";

/**
 * The part of WebSocket that is used. Satisfied by the global one of browsers, Deno and Node 22,
 * and by the npm package `ws` for Node 20.
 */
export interface GatewaySocket {
  /** Set to "arraybuffer". */
  binaryType: string;
  /** Sends one message. */
  send(data: Uint8Array<ArrayBuffer>): void;
  /** Closes the socket. */
  close(code?: number, reason?: string): void;
  /** The socket is open. */
  onopen: ((event: never) => void) | null;
  /** A message has arrived. */
  onmessage: ((event: never) => void) | null;
  /** The socket is closed, or could not be opened. */
  onclose: ((event: never) => void) | null;
  /** An error; the socket is closed afterwards. */
  onerror: ((event: never) => void) | null;
}

/** Options of connectGateway. */
export interface GatewayOptions {
  /** The gateway's token, if the URL does not contain it. */
  token?: string;
  /**
   * Time that `connectGateway` retries, and that an unsent call waits for the gateway. Default: 10
   * s.
   */
  patience?: Duration;
  /** Cancels the first attempt; `connectGateway` rejects with the signal's reason. */
  signal?: AbortSignal;
  /**
   * The WebSocket class. Default: the global WebSocket. Node 20 has none: `import { WebSocket }
   * from "ws"` and pass it.
   */
  webSocket?: new (url: string, protocols: string[]) => GatewaySocket;
}

/** State of a connection. "idle": no call has needed the connection since its loss. */
export type GatewayStatus = "connecting" | "open" | "idle" | "closed";

/** Default deadline of a call; polls set their own. */
const CALL_TIMEOUT_MS = 30_000;
/** Timeout of an attempt to open the socket. */
const OPENING_MS = 10_000;
/**
 * With open calls and no message for `quietMs`, the gateway is pinged; without a response in
 * `answerMs`, the socket is closed.
 */
const WATCH = { quietMs: 20_000, answerMs: 10_000 };
const BACKOFF: BackoffOptions = {
  initialIntervalMs: 50,
  maximumIntervalMs: 2000,
  backoffCoefficient: 2,
  jitter: 0.3,
};
/** Maximum number of a call. */
const LAST_ID = 0xffff_ffff;
const LONGEST_TIMEOUT_MS = 0x7fff_ffff;

interface OpenCall {
  readonly method: MethodName;
  settle(result: Uint8Array | ServiceError): void;
}

/** One socket and its calls. */
interface Line {
  readonly socket: GatewaySocket;
  readonly calls: Map<number, OpenCall>;
  hello: Hello | undefined;
  heardAt: number;
  ended: boolean;
  /** Rejects all waits for this socket to open. */
  refuse: (error: ServiceError) => void;
  stopWatching: () => void;
}

/**
 * A connection to a cluster through `temporalex gateway`: the `service` of clients and workers in a
 * page, or where gRPC is not available. One socket carries all calls; it is reopened after a loss.
 */
export class GatewayConnection implements RawService {
  /** True: a canceled poll can lose a task on the network. */
  readonly losesCancelledPolls = true;
  /** Address of the gateway, without the token. */
  readonly url: string;
  readonly #socketUrl: string;
  readonly #protocols: string[];
  readonly #WebSocket: NonNullable<GatewayOptions["webSocket"]>;
  readonly #patienceMs: number;
  readonly #listeners = new Set<(status: GatewayStatus) => void>();
  #status: GatewayStatus = "idle";
  #line: Line | undefined;
  /** The pending attempts, while no socket is open. */
  #opening: Promise<Line> | undefined;
  /** Number of consecutive failed attempts. */
  #failures = 0;
  #mayOpenAt = 0;
  /** End of the attempts, in `performance.now()` ms. */
  #openUntil = 0;
  #lastId = 0;
  readonly #closing = new AbortController();
  readonly #watchTimes: typeof WATCH;

  /** @internal Use connectGateway. */
  constructor(url: string, options: GatewayOptions = {}, watch: typeof WATCH = WATCH) {
    this.#watchTimes = watch;
    const { address, token } = readUrl(url, options.token);
    this.url = address.href;
    const socketUrl = new URL(SOCKET_PATH, address);
    socketUrl.protocol = address.protocol === "https:" ? "wss:" : "ws:";
    this.#socketUrl = socketUrl.href;
    this.#protocols = [GATEWAY_PROTOCOL, `${TOKEN_PREFIX}${token}`];
    const WebSocketClass = options.webSocket ??
      (globalThis as { WebSocket?: GatewayOptions["webSocket"] }).WebSocket;
    if (WebSocketClass === undefined) {
      throw new TypeError(
        'WebSocket is not available: pass one, for example import { WebSocket } from "ws" and { webSocket: WebSocket }',
      );
    }
    this.#WebSocket = WebSocketClass;
    this.#patienceMs = toMs(options.patience ?? OPENING_MS);
  }

  /** State of the connection. */
  get status(): GatewayStatus {
    return this.#status;
  }

  /** Calls `listener` at each change of `status`. Returns a function that removes it. */
  onStatus(listener: (status: GatewayStatus) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Calls a method of WorkflowService. Rejects with a ServiceError. */
  async call(
    method: MethodName,
    request: Uint8Array,
    options: CallOptions = {},
  ): Promise<Uint8Array> {
    const { signal } = options;
    const timeoutMs = Math.min(
      LONGEST_TIMEOUT_MS,
      Math.max(1, Math.ceil(options.timeoutMs ?? CALL_TIMEOUT_MS)),
    );
    const deadline = performance.now() + timeoutMs;
    if (signal?.aborted) throw givenUp(method, signal);
    const line = this.#line?.hello !== undefined
      ? this.#line
      : await this.#lineWithin(timeoutMs, method, signal);
    const rest = Math.max(1, Math.ceil(deadline - performance.now()));
    return await this.#send(line, method, request, rest, signal);
  }

  /** Closes the connection. Open and later calls are rejected. */
  close(): Promise<void> {
    if (this.#status === "closed") return Promise.resolve();
    this.#setStatus("closed");
    this.#listeners.clear();
    this.#closing.abort(closedError());
    if (this.#line !== undefined) this.#end(this.#line, closedError(), 1000);
    return Promise.resolve();
  }

  /** Same as `close()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** @internal Resolves when the gateway has responded. */
  async opened(signal?: AbortSignal): Promise<void> {
    try {
      await this.#lineWithin(Infinity, undefined, signal);
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    }
  }

  #setStatus(status: GatewayStatus): void {
    if (this.#status === status || this.#status === "closed") return;
    this.#status = status;
    for (const listener of [...this.#listeners]) listener(status);
  }

  /** Returns the open socket, waiting at most `timeoutMs` and the patience of this connection. */
  async #lineWithin(
    timeoutMs: number,
    method: MethodName | undefined,
    signal: AbortSignal | undefined,
  ): Promise<Line> {
    if (this.#status === "closed") throw closedError();
    if (signal?.aborted) throw givenUp(method ?? "connecting", signal);
    const waitMs = Math.min(timeoutMs, this.#patienceMs);
    return await new Promise<Line>((resolve, reject) => {
      const stop = () => refuse(givenUp(method ?? "connecting", signal!));
      const done = () => {
        cancel();
        signal?.removeEventListener("abort", stop);
      };
      const refuse = (error: unknown) => (done(), reject(error));
      const cancel = realTimers.after(waitMs, () => refuse(this.#unreachable()));
      signal?.addEventListener("abort", stop);
      this.#open(waitMs).then((line) => (done(), resolve(line)), refuse);
    });
  }

  /**
   * Retries until an attempt succeeds, shared by all waiting calls. Ends with the first error that
   * a retry cannot fix, or when no call waits.
   */
  #open(waitMs: number): Promise<Line> {
    if (this.#line?.hello !== undefined) return Promise.resolve(this.#line);
    this.#openUntil = Math.max(this.#openUntil, performance.now() + waitMs);
    return this.#opening ??= this.#attempts().finally(() => {
      this.#opening = undefined;
      this.#setStatus(this.#line === undefined ? "idle" : "open");
    });
  }

  async #attempts(): Promise<Line> {
    const { signal } = this.#closing;
    this.#setStatus("connecting");
    for (;;) {
      const pause = this.#mayOpenAt - performance.now();
      if (pause > 0) await sleepOn(realTimers, pause, signal);
      try {
        const line = await this.#attempt();
        this.#failures = 0;
        return line;
      } catch (error) {
        signal.throwIfAborted();
        this.#failures++;
        this.#mayOpenAt = performance.now() + backoffMs(this.#failures, BACKOFF);
        const final = !(error instanceof ServiceError) || error.code !== Code.UNAVAILABLE;
        if (final || this.#mayOpenAt > this.#openUntil) throw error;
      }
    }
  }

  #attempt(): Promise<Line> {
    return new Promise((resolve, reject) => {
      let socket: GatewaySocket;
      try {
        socket = new this.#WebSocket(this.#socketUrl, this.#protocols);
      } catch (error) {
        // The page's policy (connect-src), or a token with characters that a header cannot have.
        const why = error instanceof Error ? error.message : String(error);
        return reject(
          new ServiceError(
            Code.FAILED_PRECONDITION,
            `cannot open a WebSocket to ${this.url}: ${why}`,
          ),
        );
      }
      socket.binaryType = "arraybuffer";
      const now = performance.now();
      const line: Line = {
        ...{ socket, calls: new Map(), hello: undefined, heardAt: now, ended: false },
        refuse: reject,
        stopWatching: realTimers.after(OPENING_MS, () => this.#end(line, this.#unreachable())),
      };
      this.#line = line;
      socket.onmessage = (event: never) => {
        const { data } = event as { data: unknown };
        line.heardAt = performance.now();
        try {
          if (!(data instanceof ArrayBuffer)) {
            throw new Error("expected a binary WebSocket message");
          }
          const frame = readGatewayFrame(new Uint8Array(data));
          if (frame.kind !== "hello") return this.#heard(line, frame);
          line.stopWatching();
          line.hello = frame.hello;
          this.#watch(line);
          resolve(line);
        } catch (error) {
          this.#end(
            line,
            new ServiceError(
              Code.INTERNAL,
              `invalid message from ${this.url}: ${(error as Error).message}`,
            ),
          );
        }
      };
      socket.onclose = (event: never) =>
        this.#end(
          line,
          this.#closedBy(event as { code: number; reason: string }, line.hello !== undefined),
        );
      // The close event that follows has the reason; browsers report none here.
      socket.onerror = () => {};
    });
  }

  #heard(line: Line, frame: Exclude<GatewayFrame, { kind: "hello" }>): void {
    if (frame.kind === "here") return;
    // Undefined for a canceled call.
    const call = line.calls.get(frame.id);
    if (frame.kind === "answer") return call?.settle(frame.response);
    const { code, message, reason, metadata, failure } = frame.refusal;
    call?.settle(new ServiceError(code as Code, message, reason, metadata, { failure }));
  }

  #send(
    line: Line,
    method: MethodName,
    request: Uint8Array,
    timeoutMs: number,
    signal: AbortSignal | undefined,
  ): Promise<Uint8Array> {
    if (line.ended) return Promise.reject(this.#unreachable());
    const { maxRequestBytes } = line.hello!;
    if (request.length > maxRequestBytes) {
      const why =
        `the request of ${method} takes ${request.length} bytes, but the gateway accepts at most ${maxRequestBytes}`;
      return Promise.reject(new ServiceError(Code.INVALID_ARGUMENT, why));
    }
    return new Promise((resolve, reject) => {
      const id = this.#nextId(line);
      const settle = (result: Uint8Array | ServiceError) => {
        line.calls.delete(id);
        cancelTimer();
        signal?.removeEventListener("abort", stop);
        if (result instanceof Uint8Array) resolve(result);
        else reject(result);
      };
      const takeBack = (error: ServiceError) => {
        settle(error);
        if (!line.ended) line.socket.send(cancelFrame(id));
      };
      const stop = () => takeBack(givenUp(method, signal!));
      const cancelTimer = realTimers.after(
        timeoutMs,
        () =>
          takeBack(
            new ServiceError(
              Code.DEADLINE_EXCEEDED,
              `${method} did not complete before its deadline`,
            ),
          ),
      );
      signal?.addEventListener("abort", stop);
      line.calls.set(id, { method, settle });
      line.socket.send(callFrame(id, method, timeoutMs, request));
    });
  }

  #nextId(line: Line): number {
    do this.#lastId = this.#lastId === LAST_ID ? 1 : this.#lastId + 1; while (
      line.calls.has(this.#lastId)
    );
    return this.#lastId;
  }

  /**
   * Detects a dead socket without a close event: the machine slept, or the gateway's process is
   * stopped. Timers of hidden pages fire late, before messages that have arrived meanwhile, so a
   * late timer is ignored.
   */
  #watch(line: Line): void {
    const { quietMs, answerMs } = this.#watchTimes;
    let askedAt: number | undefined;
    const look = (due: number) => {
      if (line.ended) return;
      const now = performance.now();
      if (now - due > 1000) askedAt = undefined;
      else if (line.calls.size > 0 && now - line.heardAt > quietMs) {
        if (askedAt === undefined || line.heardAt > askedAt) {
          askedAt = now;
          line.socket.send(askFrame(0));
        } else if (now - askedAt > answerMs) {
          return void this.#end(
            line,
            new ServiceError(Code.UNAVAILABLE, `the gateway at ${this.url} does not respond`),
          );
        }
      }
      arm();
    };
    const arm = () => {
      const due = performance.now() + answerMs / 2;
      line.stopWatching = realTimers.after(answerMs / 2, () => look(due));
    };
    arm();
  }

  /** Rejects the calls of the socket and closes it. */
  #end(line: Line, error: ServiceError, code?: number): void {
    if (line.ended) return;
    line.ended = true;
    line.stopWatching();
    line.refuse(error);
    if (this.#line === line) this.#line = undefined;
    const { socket, calls } = line;
    socket.onopen = socket.onmessage = socket.onclose = null;
    for (const { method, settle } of [...calls.values()]) {
      settle(
        error.code === Code.UNAVAILABLE
          ? new ServiceError(
            error.code,
            `the connection was lost during ${method}: ${error.message}`,
          )
          : error,
      );
    }
    try {
      socket.close(code);
    } catch {
      // Already closed.
    }
    if (this.#opening === undefined) this.#setStatus("idle");
  }

  #closedBy(
    { code, reason }: { readonly code: number; readonly reason: string },
    wasOpen: boolean,
  ): ServiceError {
    if (code === Close.TOKEN) {
      return new ServiceError(
        Code.UNAUTHENTICATED,
        `the gateway at ${this.url} rejected the token; use the URL that it prints at start, ` +
          "or start it with --token-file to keep the token",
      );
    }
    if (code === Close.PROTOCOL) {
      return new ServiceError(
        Code.FAILED_PRECONDITION,
        `the gateway at ${this.url} and this package are not compatible: ${reason}`,
      );
    }
    return wasOpen
      ? new ServiceError(
        Code.UNAVAILABLE,
        `the gateway at ${this.url} closed the connection${reason === "" ? "" : `: ${reason}`}`,
      )
      : this.#unreachable();
  }

  #unreachable(): ServiceError {
    const origin = (globalThis as { location?: { origin?: string } }).location?.origin;
    const page = origin === undefined || origin === "null"
      ? ""
      : `, or does not allow the origin ${origin} (--allow-origin ${origin})`;
    return new ServiceError(
      Code.UNAVAILABLE,
      `the gateway at ${this.url} cannot be reached${page}; check that it is running and that the page's content security policy allows it (connect-src)`,
    );
  }
}

const closedError = (): ServiceError =>
  new ServiceError(Code.CANCELLED, "the connection to the gateway is closed");
const givenUp = (method: string, signal: AbortSignal): ServiceError =>
  new ServiceError(Code.CANCELLED, `${method} was canceled by its caller`, "", {}, {
    cause: signal.reason,
  });

function readUrl(
  text: string,
  option: string | undefined,
): { readonly address: URL; readonly token: string } {
  const example =
    'use the URL that temporalex gateway prints, such as "http://127.0.0.1:8273/#token"';
  if (!URL.canParse(text)) {
    throw new TypeError(`"${text.replace(/#.*/s, "")}" is not the URL of a gateway; ${example}`);
  }
  const address = new URL(text);
  const inUrl = address.hash.slice(1);
  address.hash = "";
  if (!/^https?:$/.test(address.protocol)) {
    throw new TypeError(`"${address.href}" is not the URL of a gateway; ${example}`);
  }
  const token = option ?? inUrl;
  if (!/^[A-Za-z0-9_-]+$/.test(token)) {
    throw new TypeError(`the URL of the gateway at ${address.href} has no valid token; ${example}`);
  }
  return { address, token };
}

/**
 * Connects to a cluster through a `temporalex gateway`. Resolves when the gateway has responded.
 * Rejects with a ServiceError (UNAVAILABLE: no gateway, or the page's origin is not allowed;
 * UNAUTHENTICATED: invalid token), and with a TypeError for an invalid URL.
 *
 * @param url The URL that the gateway prints at start, with its token after "#".
 *
 * @example
 * const service = await connectGateway("http://127.0.0.1:8273/#kU2...");
 * const client = new Client({ service, taskQueue: "main" });
 * const worker = await Worker.create({ service, taskQueue: "main", activities, realm });
 */
export async function connectGateway(
  url: string,
  options: GatewayOptions = {},
): Promise<GatewayConnection> {
  const connection = new GatewayConnection(url, options);
  try {
    await connection.opened(options.signal);
    return connection;
  } catch (error) {
    await connection.close();
    throw error;
  }
}
