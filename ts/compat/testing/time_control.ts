// Time of a test server, skipped as in Temporal's test server: while a client waits for a result or
// an update, and when the test sleeps. While a call is pending or a worker has a task, time is
// real.
import { typedService } from "../../service/typed.ts";
import { type SkipLimits, VirtualTime } from "../../testing/time.ts";
import { type Awaited, awaitedResult, awaitedUpdate } from "../../testing/observed_service.ts";
import {
  ENDLESS_AFTER_MS,
  EndlessWaitError,
  type EndlessWaits,
} from "../../testing/endless_wait.ts";
import type { Logger } from "../../base/logger.ts";
import { realTimers, type Timers } from "../../base/timers.ts";
import type { EmbeddedEngine } from "../../engine/mod.ts";
import {
  PendingActivityState,
  WorkflowExecutionStatus,
} from "../../messages/generated/temporal/api/enums/v1/workflow_pb.ts";
import type { FailedWorkflowTask, HeldActivity, ObservedCalls } from "./observed_calls.ts";
import type { SkippingClock } from "./skipping_clock.ts";

const DAY_MS = 86_400_000;
/** Maximum skipped time for one result. */
const LIMITS: SkipLimits = { timeMs: 100 * 365 * DAY_MS, moments: 100_000 };
/** Interval in which the server is asked whether it still waits for activities of workers. */
const CHECK_MS = 500;

interface Wait extends Awaited {
  readonly fail: (error: Error) => void;
}

/** A wait that keeps time running without end. */
export class EndlessSkipError extends Error {
  override name = "EndlessSkipError";
}

/** Action for waits that nothing can end. */
export interface EndlessWaitSettings {
  readonly endlessWaits?: EndlessWaits | undefined;
  /** Default: no log. */
  readonly logger?: Logger;
  /** Timers of real time. */
  readonly timers?: Timers;
}

export class TimeControl {
  readonly #clock: SkippingClock;
  readonly #engine: EmbeddedEngine;
  readonly #calls: ObservedCalls;
  readonly #time: VirtualTime;
  readonly #waits = new Set<Wait>();
  readonly #settings: EndlessWaitSettings;
  /** By run: cancels the timer that reports its failing workflow task. */
  readonly #failing = new Map<string, () => void>();
  #checking: ReturnType<typeof setInterval> | undefined;

  /** Returns the `__stack_trace` query of a run; set when there is a client. */
  stackTrace: (workflowId: string, runId: string) => Promise<string> = () =>
    Promise.reject(new Error("no client is connected"));

  constructor(
    clock: SkippingClock,
    engine: EmbeddedEngine,
    calls: ObservedCalls,
    settings: EndlessWaitSettings = {},
  ) {
    this.#clock = clock;
    this.#engine = engine;
    this.#calls = calls;
    this.#settings = settings;
    calls.onWorkflowTaskFailed = (failed) => this.#watchFailing(failed);
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
      // An activity to be completed from outside counts as one of a worker.
      outside: () => Promise.resolve(false),
      limits: LIMITS,
      tooFar: (awaited) => {
        this.#tooFar(awaited as Wait);
        return Promise.resolve();
      },
      endless: {
        engine,
        timers: settings.timers ?? realTimers,
        stackTrace: (workflowId, runId) => this.stackTrace(workflowId, runId),
        // Workers are other programs.
        workers: () => [],
        found: (awaited, error) =>
          this.#found(error, [...waits].filter(({ key }) => key === awaited.key)),
      },
      goesByItself: true,
    });
  }

  /** Returns the server's time, in milliseconds since 1970. */
  now(): number {
    return this.#clock.nowMs();
  }

  /** Advances time, also while activities run. */
  sleep(ms: number): Promise<void> {
    return this.#time.advance(ms);
  }

  /** Skips time while `work` waits for the result of a workflow. */
  skipping<T>(workflowId: string, work: () => Promise<T>, runId?: string): Promise<T> {
    return this.#while(awaitedResult(workflowId, runId), work);
  }

  /** Skips time while `work` waits for an update and the server has the waiting call. */
  async skippingUpdate<T>(
    workflowId: string,
    updateId: string,
    work: () => Promise<T>,
    name?: string,
  ): Promise<T> {
    const awaited = awaitedUpdate({ workflowId }, updateId, name);
    const left = this.#calls.expect(awaited.key);
    try {
      return await this.#while(awaited, work);
    } finally {
      left();
    }
  }

  async #while<T>(awaited: Awaited, work: () => Promise<T>): Promise<T> {
    let fail!: (error: Error) => void;
    const failed = new Promise<never>((_, reject) => fail = reject);
    const wait: Wait = { ...awaited, fail };
    this.#waits.add(wait);
    for (const failed of this.#calls.failing.values()) {
      if (failed.workflowId === wait.workflowId) this.#watchFailing(failed);
    }
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
    for (const cancel of this.#failing.values()) cancel();
    clearInterval(this.#checking);
  }

  /** Removes attempts of dead workers, which the server has timed out. */
  async #check(): Promise<void> {
    for (const held of this.#calls.heldActivities()) {
      if (!await this.#isPending(held)) this.#calls.forget(held);
    }
  }

  async #isPending({ workflowId, runId, activityId, attempt }: HeldActivity): Promise<boolean> {
    if (workflowId === "") return true;
    const request = { namespace: this.#engine.namespace, execution: { workflowId, runId } };
    const pending = await typedService(this.#engine).describeWorkflowExecution(request).then(
      (run) => run.pendingActivities,
      () => [],
    );
    return pending.some((activity) =>
      activity.activityId === activityId && activity.attempt === attempt &&
      activity.state !== PendingActivityState.SCHEDULED
    );
  }

  #found(error: EndlessWaitError, waits: readonly Wait[]): void {
    const { endlessWaits, logger } = this.#settings;
    if (endlessWaits === "error" && waits.length > 0) { for (const { fail } of waits) fail(error); }
    else logger?.warn(error.message, { workflowId: error.workflowId });
  }

  /**
   * A worker reports only the first failure of a workflow task. If it is not completed two seconds
   * later, waits for it are reported.
   */
  #watchFailing(failed: FailedWorkflowTask): void {
    const { runId } = failed;
    if (this.#failing.has(runId)) return;
    const cancel = (this.#settings.timers ?? realTimers).after(ENDLESS_AFTER_MS, () => {
      this.#failing.delete(runId);
      void this.#reportFailing(failed);
    });
    this.#failing.set(runId, cancel);
  }

  async #reportFailing(failed: FailedWorkflowTask): Promise<void> {
    const { workflowId, runId, message } = failed;
    const isOpen = await this.#isOpen(workflowId, runId);
    if (this.#calls.failing.get(runId) !== failed) return;
    if (!isOpen) return void this.#calls.failing.delete(runId);
    const waits = [...this.#waits].filter((wait) => wait.workflowId === workflowId);
    if (waits.length === 0) return;
    const awaited = waits[0]!.what;
    const waitsFor =
      `workflow task of "${workflowId}" (run ${runId}): failed, and not completed since: ${message}`;
    const text =
      `the wait for ${awaited} of workflow "${workflowId}" does not end while its workflow task fails. Pending:\n  ${waitsFor}`;
    this.#found(new EndlessWaitError(text, { workflowId, awaited, waitsFor }), waits);
  }

  async #isOpen(workflowId: string, runId: string): Promise<boolean> {
    const request = { namespace: this.#engine.namespace, execution: { workflowId, runId } };
    const run = await typedService(this.#engine).describeWorkflowExecution(request).catch(() =>
      undefined
    );
    return run?.workflowExecutionInfo?.status === WorkflowExecutionStatus.RUNNING;
  }

  #tooFar({ workflowId, what, fail }: Wait): void {
    fail(
      new EndlessSkipError(
        `${what} of workflow "${workflowId}" was not reached within ${LIMITS.moments} moments or ${
          LIMITS.timeMs / DAY_MS / 365
        } years of ` +
          `skipped time (to ${
            new Date(this.now()).toISOString()
          }): it seems never to end. End it with a signal, cancel() or ` +
          "terminate(), or move time with env.sleep()",
      ),
    );
  }
}
