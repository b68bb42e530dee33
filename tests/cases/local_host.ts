// Runs local activities for random programs: a small generator decides which running activity ends
// next, its outcome, and when the task is completed instead, so a program and a life have one
// course. It replaces the worker; retries are the worker's job and are not here.
import {
  LocalActivityResolution,
  type LocalWork,
} from "../../ts/core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { encodeFailure } from "../../ts/converter/failure_converter.ts";
import { ApplicationFailure, CancelledFailure } from "../../ts/converter/failures.ts";
import { defaultPayloadConverter } from "../../ts/converter/payload.ts";
import type { LocalAnswer } from "../../ts/executor/tasks/local_work.ts";

const JSON_ENCODING = { encoding: new TextEncoder().encode("json/plain") };

export class LocalHost {
  /** Every attempt that was asked for, in order. */
  readonly started: LocalWork["start"] = [];
  /** Labels of those that run, by seq. */
  readonly #running = new Map<number, string>();
  readonly #cancelled = new Set<number>();
  #seed = 1;

  /** The next number below `n`. */
  #next(n: number): number {
    this.#seed = Math.imul(this.#seed, 1664525) + 1013904223 | 0;
    return (this.#seed >>> 16) % n;
  }

  readonly run = (work: LocalWork): Promise<LocalAnswer> => {
    this.started.push(...work.start);
    for (const { seq, arguments: args } of work.start) {
      this.#running.set(
        seq,
        args.length === 0 ? "" : String(defaultPayloadConverter.fromPayload(args[0]!)),
      );
    }
    for (const seq of work.cancel) if (this.#running.has(seq)) this.#cancelled.add(seq);
    for (const seq of work.abandon) this.#running.delete(seq);
    const resolutions: Uint8Array[] = [];
    if (!work.wait) return Promise.resolve({ resolutions });
    if (this.#running.size === 0 || this.#next(4) === 0) {
      return Promise.resolve({ resolutions, heartbeat: true });
    }
    // Sometimes two at once.
    for (let left = 1 + this.#next(2); left > 0 && this.#running.size > 0; left--) {
      const seq = [...this.#running.keys()][this.#next(this.#running.size)]!;
      resolutions.push(this.#end(seq));
      this.#running.delete(seq);
    }
    return Promise.resolve({ resolutions });
  };

  #end(seq: number): Uint8Array {
    const label = this.#running.get(seq)!;
    const ends = { attempt: 1, runtimeMs: this.#next(50), originalScheduleTimeMs: 1000 };
    const failure = (error: Error) => encodeFailure(error, defaultPayloadConverter);
    if (this.#cancelled.has(seq)) {
      const value = failure(new CancelledFailure("told to stop"));
      return LocalActivityResolution.encode({
        seq,
        ...ends,
        backoffMs: 0,
        result: { $case: "cancelled", value },
      }).finish();
    }
    const luck = this.#next(6);
    if (luck > 1) {
      const data = new TextEncoder().encode(JSON.stringify(`near ${label}`));
      const value = { result: { metadata: JSON_ENCODING, data, externalPayloads: [] } };
      return LocalActivityResolution.encode({
        seq,
        ...ends,
        backoffMs: 0,
        result: { $case: "completed", value },
      }).finish();
    }
    const value = failure(new ApplicationFailure(`near ${label} failed`));
    const backoffMs = luck === 1 ? 3 : 0;
    return LocalActivityResolution.encode({
      seq,
      ...ends,
      backoffMs,
      result: { $case: "failed", value },
    }).finish();
  }
}
