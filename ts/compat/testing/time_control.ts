// Time of a test server, skipped as Temporal's test server does it: while a client that skips time waits for a result, and when the test
// sleeps. As long as a call is on its way or a worker has a task, it goes as the wall clock does.
import { typedService } from "../../service/typed.ts";
import { type SkipLimits, VirtualTime } from "../../testing/time.ts";
import type { Awaited } from "../../testing/observed_service.ts";
import type { EmbeddedEngine } from "../../engine/mod.ts";
import { PendingActivityState } from "../../api/generated/temporal/api/enums/v1/workflow_pb.ts";
import type { HeldActivity, ObservedCalls } from "./observed_calls.ts";
import type { SkippingClock } from "./skipping_clock.ts";

const DAY_MS = 86_400_000;
/** How far time goes by itself for one result. */
const LIMITS: SkipLimits = { timeMs: 100 * 365 * DAY_MS, moments: 100_000 };
/** How often it is asked whether the server still waits for the activities that workers have. */
const CHECK_MS = 500;

interface Wait extends Awaited {
  readonly fail: (error: Error) => void;
}

/** Says what a client waits for that keeps time going. */
export class EndlessSkipError extends Error {
  override name = "EndlessSkipError";
}

export class TimeControl {
  readonly #clock: SkippingClock;
  readonly #engine: EmbeddedEngine;
  readonly #calls: ObservedCalls;
  readonly #time: VirtualTime;
  readonly #waits = new Set<Wait>();
  #checking: ReturnType<typeof setInterval> | undefined;

  constructor(clock: SkippingClock, engine: EmbeddedEngine, calls: ObservedCalls) {
    this.#clock = clock;
    this.#engine = engine;
    this.#calls = calls;
    const waits = this.#waits;
    this.#time = new VirtualTime({
      engine,
      clock,
      timers: { next: () => Infinity },
      service: {
        get waiting() {
          return waits.size;
        },
        get busy() {
          return calls.busy;
        },
        get acts() {
          return calls.acts;
        },
        awaited: () => waits,
      },
      workers: new Set([calls]),
      // An activity that is completed from outside is one that a worker has.
      outside: () => Promise.resolve(false),
      limits: LIMITS,
      tooFar: (awaited) => {
        this.#tooFar(awaited as Wait);
        return Promise.resolve();
      },
    });
  }

  /** The server's time, in milliseconds since 1970. */
  now(): number {
    return this.#clock.nowMs();
  }

  /** Moves time on, also while activities run. */
  sleep(ms: number): Promise<void> {
    return this.#time.advance(ms);
  }

  /** Skips time while `work` waits for the result of a workflow. */
  async skipping<T>(workflowId: string, work: () => Promise<T>): Promise<T> {
    let fail!: (error: Error) => void;
    const failed = new Promise<never>((_, reject) => fail = reject);
    const wait: Wait = { workflowId, what: "the result", fail };
    this.#waits.add(wait);
    this.#checking ??= setInterval(() => void this.#check(), CHECK_MS);
    this.#time.wanted();
    try {
      return await Promise.race([work(), failed]);
    } finally {
      this.#waits.delete(wait);
      if (this.#waits.size === 0) {
        clearInterval(this.#checking);
        this.#checking = undefined;
      }
    }
  }

  close(): void {
    this.#time.close();
    clearInterval(this.#checking);
  }

  /** Forgets attempts of workers that are gone: the server has given them up by a timeout. */
  async #check(): Promise<void> {
    for (const held of this.#calls.heldActivities()) if (!await this.#isPending(held)) this.#calls.forget(held);
  }

  async #isPending({ workflowId, runId, activityId, attempt }: HeldActivity): Promise<boolean> {
    if (workflowId === "") return true;
    const request = { namespace: this.#engine.namespace, execution: { workflowId, runId } };
    const pending = await typedService(this.#engine).describeWorkflowExecution(request).then(
      (run) => run.pendingActivities,
      () => [],
    );
    return pending.some((activity) =>
      activity.activityId === activityId && activity.attempt === attempt && activity.state !== PendingActivityState.SCHEDULED
    );
  }

  #tooFar({ workflowId, fail }: Wait): void {
    fail(
      new EndlessSkipError(
        `the result of workflow "${workflowId}" did not come in ${LIMITS.moments} moments or ${
          LIMITS.timeMs / DAY_MS / 365
        } years of ` +
          `skipped time (to ${new Date(this.now()).toISOString()}): it seems never to end. End it with a signal, cancel() or ` +
          "terminate(), or move time with env.sleep()",
      ),
    );
  }
}
