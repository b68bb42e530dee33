// The calls of one accepted WebSocket: frames in, service calls, frames out. Payloads are neither
// decoded nor logged.
import type { WebSocket } from "ws";
import { METHOD_NAMES } from "../api/raw_methods.ts";
import type { Logger } from "../base/logger.ts";
import { Code, type MethodName, type RawService, ServiceError } from "../service/raw.ts";
import { isServiceGone } from "../service/retry.ts";
import {
  answerFrame,
  type CallerFrame,
  Close,
  FrameError,
  hereFrame,
  readCallerFrame,
  refusalFrame,
} from "./frames.ts";

export interface SocketLimits {
  /** Maximum open calls of one socket. */
  readonly calls: number;
  /** Maximum bytes of responses that the caller has not read. */
  readonly waitingBytes: number;
}

const METHODS: ReadonlySet<string> = new Set(METHOD_NAMES);
/** Maximum deadline of a call; polls, the longest calls, end after about a minute. */
const LONGEST_CALL_MS = 10 * 60_000;

export class SocketCalls {
  readonly #socket: WebSocket;
  readonly #service: RawService;
  readonly #limits: SocketLimits;
  readonly #logger: Logger;
  readonly #calls = new Map<
    number,
    { readonly controller: AbortController; readonly method: string }
  >();
  #refusing = false;
  #idle = () => {};

  constructor(socket: WebSocket, service: RawService, limits: SocketLimits, logger: Logger) {
    this.#socket = socket;
    this.#service = service;
    this.#limits = limits;
    this.#logger = logger;
    socket.on(
      "message",
      (data: Uint8Array<ArrayBuffer>, binary: boolean) => this.#message(data, binary),
    );
    // No caller is left to receive the responses.
    socket.on("close", () => this.abandon());
  }

  /** Accepts no more calls. Resolves when open ones have ended, except for waiting polls. */
  drain(): Promise<void> {
    this.#refusing = true;
    return new Promise((resolve) => {
      this.#idle = () => {
        if (![...this.#calls.values()].some(({ method }) => !method.startsWith("poll"))) resolve();
      };
      this.#idle();
    });
  }

  /** Cancels all open calls. */
  abandon(): void {
    for (const { controller } of this.#calls.values()) {
      controller.abort(new Error("the caller's connection is closed"));
    }
    this.#calls.clear();
    this.#idle();
  }

  #message(data: Uint8Array<ArrayBuffer>, binary: boolean): void {
    try {
      if (!binary) throw new FrameError("frames must be binary messages");
      this.#frame(readCallerFrame(data));
    } catch (error) {
      if (!(error instanceof FrameError)) throw error;
      this.#logger.warn("a caller was disconnected", { why: error.message });
      this.#socket.close(Close.PROTOCOL, error.message);
    }
  }

  #frame(frame: CallerFrame): void {
    const { id } = frame;
    switch (frame.kind) {
      case "ask":
        return this.#send(hereFrame(id));
      case "cancel":
        this.#calls.get(id)?.controller.abort(new Error("the caller canceled the call"));
        return;
      case "call":
        if (this.#calls.has(id)) throw new FrameError(`call ${id} has the number of an open call`);
        void this.#call(frame);
    }
  }

  async #call({ id, method, timeoutMs, request }: CallerFrame & { kind: "call" }): Promise<void> {
    const controller = new AbortController();
    try {
      if (this.#refusing) throw new ServiceError(Code.UNAVAILABLE, "the gateway is shutting down");
      if (!METHODS.has(method)) {
        throw new ServiceError(Code.UNIMPLEMENTED, `unknown method ${JSON.stringify(method)}`);
      }
      if (this.#calls.size >= this.#limits.calls) {
        throw new ServiceError(
          Code.RESOURCE_EXHAUSTED,
          `${this.#limits.calls} calls of this caller are already open`,
        );
      }
      this.#calls.set(id, { controller, method });
      const response = await this.#service.call(method as MethodName, request, {
        signal: controller.signal,
        ...(timeoutMs > 0 && { timeoutMs: Math.min(timeoutMs, LONGEST_CALL_MS) }),
      });
      this.#done(id, controller);
      if (!controller.signal.aborted) this.#send(answerFrame(id, response));
    } catch (error) {
      this.#done(id, controller);
      if (!controller.signal.aborted) this.#send(this.#refusal(id, method, error));
    }
  }

  #done(id: number, controller: AbortController): void {
    // Keeps a later call with the same number.
    if (this.#calls.get(id)?.controller === controller) this.#calls.delete(id);
    this.#idle();
  }

  #refusal(id: number, method: string, error: unknown): Uint8Array {
    if (!(error instanceof ServiceError)) {
      this.#logger.error(`${method} failed in the gateway`, { error });
      const message = `the gateway failed: ${
        error instanceof Error ? error.message : String(error)
      }`;
      return refusalFrame(id, {
        code: Code.INTERNAL,
        message,
        reason: "",
        metadata: {},
        failure: undefined,
      });
    }
    const { code, message, reason, metadata, failure } = error;
    // A service that has stopped may return at the same address.
    return refusalFrame(id, {
      code,
      message,
      failure,
      ...(isServiceGone(error) ? { reason: "", metadata: {} } : { reason, metadata }),
    });
  }

  #send(frame: Uint8Array): void {
    const { OPEN, readyState } = this.#socket;
    if (readyState !== OPEN) return;
    this.#socket.send(frame);
    if (this.#socket.bufferedAmount <= this.#limits.waitingBytes) return;
    this.#logger.warn("a caller was disconnected", { why: "it does not read its responses" });
    this.#socket.terminate();
  }
}
