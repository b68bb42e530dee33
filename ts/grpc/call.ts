// One gRPC call on a connection: a message out, a message in, as bytes. It ends exactly once, and
// whatever ends it early (deadline, caller, lost connection) frees its stream. Calls have no timers
// or listeners: the link checks deadlines, and all calls share one listener of an AbortSignal.
import { concat } from "../messages/wire.ts";
import { Code, ServiceError } from "../service/raw.ts";
import { type AbortListener, abortListenersOf } from "./abort_listeners.ts";
import { httpRefusal, refusal, type Trailers } from "./status.ts";
import type { FieldList, Fields } from "./http2/hpack.ts";
import { Reset } from "./http2/frames.ts";
import type { Link } from "./http2_link.ts";
import { LinkCall } from "./link_call.ts";
import type { LinkError } from "./link_target.ts";

/** The server has not processed the call: it can be sent again at once, on another connection. */
export class NotProcessed extends ServiceError {
  override name = "ServiceError";
}

export interface UnaryCall {
  /** Name for messages. */
  readonly method: string;
  readonly address: string;
  /** Identifies `fields` among all of the connection. */
  readonly key: string;
  readonly fields: () => FieldList;
  readonly request: Uint8Array;
  readonly dueMs: number;
  /** The caller's deadline in milliseconds, for messages; `dueMs` is the remaining part. */
  readonly wholeTimeoutMs: number;
  readonly signal: AbortSignal | undefined;
  /** Maximum size of a response; larger ones are rejected. */
  readonly maxBytes: number;
}

const PREFIX_BYTES = 5;
const CANCELLED = String(Code.CANCELLED);
/** Timers can fire a fraction of a millisecond early. */
const EARLY_MS = 1;
/** Maximum memory reserved for a response by its announced length. */
const TRUSTED_BYTES = 1024 * 1024;

/** Sends a request and waits. The response is a new buffer. Rejects with a ServiceError. */
export function unary(link: Link, call: UnaryCall): Promise<Uint8Array> {
  return new Promise((resolve, reject) => new Unary(link, call, resolve, reject).start());
}

class Unary extends LinkCall implements AbortListener {
  readonly dueMs: number;
  readonly #link: Link;
  readonly #call: UnaryCall;
  readonly #resolve: (answer: Uint8Array) => void;
  readonly #reject: (error: ServiceError) => void;
  readonly #following: Set<AbortListener> | undefined;
  #over = false;
  #answered = false;
  #trailers: Fields | undefined;
  /** The response: its length, once its prefix has arrived, and the part received so far. */
  #prefix: Uint8Array | undefined;
  #prefixBytes = 0;
  #length = -1;
  #bytes = 0;
  #whole: Uint8Array | undefined;
  #chunks: Uint8Array[] | undefined;

  constructor(
    link: Link,
    call: UnaryCall,
    resolve: (answer: Uint8Array) => void,
    reject: (error: ServiceError) => void,
  ) {
    super();
    this.dueMs = call.dueMs;
    this.#link = link;
    this.#call = call;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#following = call.signal === undefined ? undefined : abortListenersOf(call.signal);
  }

  start(): void {
    const { key, fields, request } = this.#call;
    this.#following?.add(this);
    this.#link.start(this, key, fields, request);
  }

  #settle(): boolean {
    if (this.#over) return false;
    this.#over = true;
    this.#following?.delete(this);
    return true;
  }

  /** Ends the call and resets its stream. */
  #giveUp(error: ServiceError): void {
    if (!this.#settle()) return;
    this.#reject(error);
    this.#link.cancel(this);
  }

  /** Fails the call after its stream has ended. */
  #fail(error: ServiceError): void {
    if (!this.#settle()) return;
    this.#reject(error);
    this.#link.release();
  }

  onAbort(): void {
    this.#giveUp(
      new ServiceError(Code.CANCELLED, `${this.#call.method} was canceled by its caller`),
    );
  }

  override onDeadline(): void {
    const heard = this.#answered;
    this.#giveUp(this.#late());
    if (!heard) this.#link.probe();
  }

  #late(): ServiceError {
    const { method, wholeTimeoutMs } = this.#call;
    return new ServiceError(
      Code.DEADLINE_EXCEEDED,
      `${method} timed out after ${wholeTimeoutMs} ms`,
    );
  }

  /**
   * True after the deadline. The server's clock for this call started later, but its error can
   * precede the timer.
   */
  #isLate(): boolean {
    return performance.now() + EARLY_MS >= this.dueMs;
  }

  override onLost(reason: LinkError, untouched: boolean): void {
    if (!this.#settle()) return;
    const { method, address } = this.#call;
    this.#reject(
      untouched ? this.#refused(reason) : new ServiceError(
        Code.UNAVAILABLE,
        `the connection to ${address} was lost during ${method}: ${reason.message}`,
        "",
        {},
        {
          cause: reason,
        },
      ),
    );
  }

  #refused(cause?: Error): NotProcessed {
    const { method, address } = this.#call;
    const message = `${address} rejects calls at the moment (${method} was refused)`;
    return new NotProcessed(Code.UNAVAILABLE, message, "", {}, { cause });
  }

  override onFields(fields: Fields): void {
    if (this.#answered) {
      this.#trailers = fields;
      return;
    }
    const status = fields[":status"] ?? "";
    // Informational response; the final one follows.
    if (status[0] === "1") return;
    this.#answered = this.#link.proven = true;
    if (fields["grpc-status"] !== undefined) {
      this.#trailers = fields;
      return;
    }
    const type = fields["content-type"] ?? "";
    if (status !== "200" || !(type === "application/grpc" || /^application\/grpc\b/.test(type))) {
      const { method, address } = this.#call;
      this.#giveUp(httpRefusal(method, Number(status), type, address));
    }
  }

  override onData(chunk: Uint8Array): void {
    let at = 0;
    if (this.#length < 0) {
      at = this.#readPrefix(chunk);
      if (this.#length < 0 || this.#over) return;
    }
    const more = chunk.length - at;
    if (more === 0) return;
    const before = this.#bytes;
    this.#bytes += more;
    if (this.#bytes > this.#length) return;
    if (this.#whole !== undefined) this.#whole.set(at === 0 ? chunk : chunk.subarray(at), before);
    else this.#chunks!.push(chunk.slice(at));
  }

  /** Returns where the message begins in this chunk. */
  #readPrefix(chunk: Uint8Array): number {
    let prefix = chunk;
    let at = PREFIX_BYTES;
    if (this.#prefixBytes > 0 || chunk.length < PREFIX_BYTES) {
      prefix = this.#prefix ??= new Uint8Array(PREFIX_BYTES);
      at = Math.min(chunk.length, PREFIX_BYTES - this.#prefixBytes);
      prefix.set(chunk.subarray(0, at), this.#prefixBytes);
      this.#prefixBytes += at;
      if (this.#prefixBytes < PREFIX_BYTES) return at;
    }
    const { method, maxBytes } = this.#call;
    if (prefix[0] !== 0) {
      this.#broken("is compressed, but compression was not requested");
      return at;
    }
    const length = this.#length =
      (prefix[1]! << 24 | prefix[2]! << 16 | prefix[3]! << 8 | prefix[4]!) >>> 0;
    if (length > maxBytes) {
      this.#giveUp(
        new ServiceError(
          Code.RESOURCE_EXHAUSTED,
          `the response to ${method} is larger than ${maxBytes} bytes`,
        ),
      );
    } else if (length <= TRUSTED_BYTES) this.#whole = new Uint8Array(length);
    else this.#chunks = [];
    return at;
  }

  #broken(how: string): void {
    this.#giveUp(new ServiceError(Code.INTERNAL, `the response to ${this.#call.method} ${how}`));
  }

  override onEnd(reset: number | undefined): void {
    if (this.#over) return;
    const { method, address } = this.#call;
    const trailers = this.#trailers;
    if (trailers?.["grpc-status"] !== undefined) return this.#complete(trailers);
    // The stream was opened on a connection that the server is closing.
    if (reset === Reset.REFUSED_STREAM && !this.#answered) return this.#fail(this.#refused());
    // Servers (grpc-go) reset streams at the deadline.
    if (reset === Reset.CANCEL && this.#isLate()) return this.#fail(this.#late());
    const why = reset === undefined || reset === 0
      ? "the response ended early"
      : `reset with code ${reset}`;
    this.#fail(
      new ServiceError(
        Code.UNAVAILABLE,
        `the connection to ${address} was lost during ${method}: ${why}`,
      ),
    );
  }

  /** Ends the call after the trailers. */
  #complete(trailers: Trailers): void {
    const { method } = this.#call;
    const refused = trailers["grpc-status"] === "0" ? undefined : refusal(method, trailers);
    if (refused !== undefined) {
      return this.#fail(
        trailers["grpc-status"] === CANCELLED && this.#isLate() ? this.#late() : refused,
      );
    }
    if (this.#length < 0) return this.#broken("has no message");
    if (this.#bytes !== this.#length) {
      return this.#broken(`has ${this.#bytes} bytes instead of ${this.#length}`);
    }
    if (!this.#settle()) return;
    this.#resolve(this.#whole ?? concat(this.#chunks!));
    this.#link.release();
  }
}
