// One call to the service on behalf of a client: its deadline, its retries, and the loop of a long poll. Every request that passes here
// is idempotent (reads, or writes with a request or update id that stays the same over the attempts), so asking again after UNAVAILABLE
// never has a second effect.
import { type OptionNames, rejectUnknownOptions } from "../base/option_names.ts";
import { Code, ServiceError } from "../service/raw.ts";
import type { CallOptions, MethodName, RawService } from "../service/raw.ts";
import { backoffMs, isMisconfigured, isThrottled, isUnavailable, type RetryOptions } from "../service/retry.ts";
import { realTimers, sleepOn } from "../base/timers.ts";
import { type TypedService, typedService } from "../service/typed.ts";
import { type Duration, toMs } from "../converter/duration.ts";
import { refuseLoneSurrogates } from "./well_formed.ts";

/** What every call takes. */
export interface CallSettings {
  /** Deadline of the whole call, with its retries: milliseconds or text such as "10s". Calls that wait for a result have none by default. */
  timeout?: Duration | undefined;
  /** Gives the call up; it rejects with the signal's reason. What was asked may still happen. */
  signal?: AbortSignal | undefined;
}

export const CALL_SETTINGS: OptionNames<CallSettings> = { timeout: 1, signal: 1 };

/** Throws a TypeError for a setting that does not exist. */
export function checkSettings(owner: string, settings: CallSettings | undefined): void {
  rejectUnknownOptions(owner, settings, CALL_SETTINGS);
}

/** Deadline of a plain call in milliseconds; waiting for a query's answer has `QUERY_TIMEOUT_MS`. */
export const CALL_TIMEOUT_MS = 10_000;
export const QUERY_TIMEOUT_MS = 30_000;
/** Deadline of one long poll; the service answers with nothing new before that. */
const LONG_POLL_MS = 70_000;

type Request<M extends MethodName> = Parameters<TypedService[M]>[0];
type Response<M extends MethodName> = Awaited<ReturnType<TypedService[M]>>;

/** The moment at which a call of the user ends, shared by all requests that it takes. */
export class Deadline {
  readonly #at: number | undefined;
  readonly signal: AbortSignal | undefined;

  constructor(settings: CallSettings, defaultMs?: number, at?: number) {
    const ms = settings.timeout === undefined ? defaultMs : toMs(settings.timeout);
    this.#at = ms === undefined ? at : performance.now() + ms;
    this.signal = settings.signal;
  }

  /** Milliseconds left; Infinity without a deadline. */
  remaining(): number {
    return this.#at === undefined ? Infinity : Math.max(0, this.#at - performance.now());
  }

  get passed(): boolean {
    return this.remaining() === 0;
  }

  /** The same moment, for a part that another signal ends; that signal has to follow this one's. */
  under(signal: AbortSignal): Deadline {
    return new Deadline({ signal }, undefined, this.#at);
  }
}

const isDeadline = (error: unknown): error is ServiceError =>
  error instanceof ServiceError && error.code === Code.DEADLINE_EXCEEDED;

/** An answer that brings nothing this soon did not wait for anything. */
const TOO_SOON_MS = 10;

/**
 * Asks until there is an answer. A service that says "nothing yet" at once, over and over, is asked less and less often, up to once a
 * second: no service can make a client spin.
 */
export async function askUntil<T>(deadline: Deadline, ask: () => Promise<T | undefined>): Promise<T> {
  for (let hasty = 0;;) {
    const asked = performance.now();
    const answer = await ask();
    if (answer !== undefined) return answer;
    hasty = performance.now() - asked < TOO_SOON_MS ? hasty + 1 : 0;
    if (hasty > 1) await sleepOn(realTimers, Math.min(1000, 2 ** hasty, deadline.remaining()), deadline.signal);
  }
}

export class Calls {
  readonly #service: TypedService;
  readonly #retry: RetryOptions;
  /** A service that has too much to do is asked less often than one that is away. */
  readonly #throttled: RetryOptions;

  constructor(raw: RawService, retry: RetryOptions) {
    this.#service = typedService(raw);
    this.#retry = retry;
    this.#throttled = {
      ...retry,
      initialIntervalMs: retry.initialIntervalMs * 10,
      maximumIntervalMs: retry.maximumIntervalMs * 2,
    };
  }

  /**
   * One plain call. After the deadline it rejects with the service's DEADLINE_EXCEEDED. `repeating` is told before each attempt but the
   * first one.
   */
  call<M extends MethodName>(
    method: M,
    request: Request<M>,
    deadline: Deadline,
    repeating?: () => void,
    options: Pick<CallOptions, "asStored"> = {},
  ): Promise<Response<M>> {
    return this.#attempts(method, request, deadline, Infinity, options, repeating);
  }

  /** One long poll: `undefined` when there is nothing new yet and the caller is to ask again. */
  async longPoll<M extends MethodName>(
    method: M,
    request: Request<M>,
    deadline: Deadline,
    options: Pick<CallOptions, "asStored"> = {},
  ): Promise<Response<M> | undefined> {
    try {
      return await this.#attempts(method, request, deadline, LONG_POLL_MS, options);
    } catch (error) {
      if (isDeadline(error) && !deadline.passed) return undefined;
      throw error;
    }
  }

  async #attempts<M extends MethodName>(
    method: M,
    request: Request<M>,
    deadline: Deadline,
    attemptMs: number,
    options: Pick<CallOptions, "asStored"> = {},
    repeating?: () => void,
  ): Promise<Response<M>> {
    refuseLoneSurrogates(request);
    const { signal } = deadline;
    const invoke = this.#service[method] as unknown as (request: Request<M>, options: CallOptions) => Promise<Response<M>>;
    let away: ServiceError | undefined;
    for (let attempt = 1;; attempt++) {
      signal?.throwIfAborted();
      const remaining = deadline.remaining();
      if (remaining === 0) {
        const message = `the deadline of ${method} has passed`;
        throw new ServiceError(Code.DEADLINE_EXCEEDED, message, "", {}, away && { cause: away });
      }
      const timeoutMs = Math.min(remaining, attemptMs);
      try {
        return await invoke(request, { ...options, ...(signal && { signal }), ...(timeoutMs < Infinity && { timeoutMs }) });
      } catch (error) {
        signal?.throwIfAborted();
        const throttled = isThrottled(error);
        if (away !== undefined && isDeadline(error) && error.cause === undefined && deadline.passed) {
          throw new ServiceError(error.code, error.message, error.reason, error.metadata, { cause: away });
        }
        if (!(throttled || isUnavailable(error)) || isMisconfigured(error) || attempt >= this.#retry.maximumAttempts) throw error;
        const pause = backoffMs(attempt, throttled ? this.#throttled : this.#retry);
        // No time for another attempt: the reason why the service is away says more than "deadline".
        if (pause >= deadline.remaining()) throw error;
        if (error instanceof ServiceError) away = error;
        await sleepOn(realTimers, pause, signal);
        repeating?.();
      }
    }
  }
}
