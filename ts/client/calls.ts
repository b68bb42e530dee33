// Calls of a client to the service: deadline, retries, and the loop of a long poll. All requests
// are idempotent (reads, or writes with a request or update id that is the same in all attempts),
// so a retry after UNAVAILABLE has no second effect.
import { type OptionNames, rejectUnknownOptions } from "../base/option_names.ts";
import { Code, ServiceError } from "../service/raw.ts";
import type { CallOptions, MethodName, RawService } from "../service/raw.ts";
import {
  backoffMs,
  isMisconfigured,
  isThrottled,
  isUnavailable,
  type RetryOptions,
} from "../service/retry.ts";
import { realTimers, sleepOn } from "../base/timers.ts";
import { type TypedService, typedService } from "../service/typed.ts";
import { type Duration, toMs } from "../converter/duration.ts";
import { refuseLoneSurrogates } from "./well_formed.ts";

/** Settings of every call. */
export interface CallSettings {
  /**
   * Deadline of the whole call, including retries: milliseconds or text such as "10s". Calls that
   * wait for a result have none by default.
   */
  timeout?: Duration | undefined;
  /**
   * Cancels the call, which rejects with the signal's reason. The request may still take effect.
   */
  signal?: AbortSignal | undefined;
}

export const CALL_SETTINGS: OptionNames<CallSettings> = { timeout: 1, signal: 1 };

/** Throws a TypeError for an unknown setting. */
export function checkSettings(owner: string, settings: CallSettings | undefined): void {
  rejectUnknownOptions(owner, settings, CALL_SETTINGS);
}

/** Default deadline of a call in milliseconds; queries have `QUERY_TIMEOUT_MS`. */
export const CALL_TIMEOUT_MS = 10_000;
export const QUERY_TIMEOUT_MS = 30_000;
/** Deadline of one long poll; the service returns an empty response earlier. */
const LONG_POLL_MS = 70_000;

type Request<M extends MethodName> = Parameters<TypedService[M]>[0];
type Response<M extends MethodName> = Awaited<ReturnType<TypedService[M]>>;

/** Deadline of a user's call, shared by all of its requests. */
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

  /** Returns the same deadline with another signal, which must follow this one's. */
  under(signal: AbortSignal): Deadline {
    return new Deadline({ signal }, undefined, this.#at);
  }
}

const isDeadline = (error: unknown): error is ServiceError =>
  error instanceof ServiceError && error.code === Code.DEADLINE_EXCEEDED;

/** An empty response within this time did not wait. */
const TOO_SOON_MS = 10;

/**
 * Polls until there is a response. If the service returns empty responses at once, the polls slow
 * down to one per second, so no service can cause a busy loop.
 */
export async function askUntil<T>(
  deadline: Deadline,
  ask: () => Promise<T | undefined>,
): Promise<T> {
  for (let hasty = 0;;) {
    const asked = performance.now();
    const answer = await ask();
    if (answer !== undefined) return answer;
    hasty = performance.now() - asked < TOO_SOON_MS ? hasty + 1 : 0;
    if (hasty > 1) {
      await sleepOn(realTimers, Math.min(1000, 2 ** hasty, deadline.remaining()), deadline.signal);
    }
  }
}

export class Calls {
  readonly #service: TypedService;
  readonly #retry: RetryOptions;
  /** An overloaded service is retried more slowly than an unavailable one. */
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
   * Makes one call. Rejects with DEADLINE_EXCEEDED after the deadline. `repeating` is called before
   * each retry.
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

  /** Makes one long poll. Returns `undefined` without news; the caller then polls again. */
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
    const invoke = this.#service[method] as unknown as (
      request: Request<M>,
      options: CallOptions,
    ) => Promise<Response<M>>;
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
        return await invoke(request, {
          ...options,
          ...(signal && { signal }),
          ...(timeoutMs < Infinity && { timeoutMs }),
        });
      } catch (error) {
        signal?.throwIfAborted();
        const throttled = isThrottled(error);
        if (
          away !== undefined && isDeadline(error) && error.cause === undefined && deadline.passed
        ) {
          throw new ServiceError(error.code, error.message, error.reason, error.metadata, {
            cause: away,
          });
        }
        if (
          !(throttled || isUnavailable(error)) || isMisconfigured(error) ||
          attempt >= this.#retry.maximumAttempts
        ) throw error;
        const pause = backoffMs(attempt, throttled ? this.#throttled : this.#retry);
        // No time for a retry: the service's error is more useful than a timeout.
        if (pause >= deadline.remaining()) throw error;
        if (error instanceof ServiceError) away = error;
        await sleepOn(realTimers, pause, signal);
        repeating?.();
      }
    }
  }
}
