// Finds waits of a test that nothing in its environment can end: for a signal that is never sent,
// for a worker that does not exist. Such a test would hang. The decision depends only on state (no
// task, activity or timer); the two seconds keep short waits out of the log.
import type { Timers } from "../base/timers.ts";
import { Client } from "../client/mod.ts";
import type { EmbeddedEngine } from "../engine/mod.ts";
import { typedService } from "../service/typed.ts";
import {
  PendingActivityState,
  PendingWorkflowTaskState,
} from "../messages/generated/temporal/api/enums/v1/workflow_pb.ts";
import { TaskQueueType } from "../messages/generated/temporal/api/enums/v1/task_queue_pb.ts";
import type { DescribeWorkflowExecutionResponse } from "../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { enumName } from "../converter/enums.ts";
import { procedureOf } from "../converter/procedure_names.ts";
import type { Awaited } from "./observed_service.ts";

/** Real time without possible progress until a wait is reported. */
export const ENDLESS_AFTER_MS = 2000;
/** Maximum number of runs in a report: the awaited run and its children. */
const MAX_DESCRIBED_RUNS = 10;

/**
 * "warn": logs a wait that cannot end. "error": rejects the waiting call with an {@link
 * EndlessWaitError}.
 */
export type EndlessWaits = "warn" | "error";

/** The facts of an {@link EndlessWaitError}. */
export interface EndlessWait {
  /** ID of the awaited workflow. */
  readonly workflowId: string;
  /** `the result`, `update "add"`. */
  readonly awaited: string;
  /** Where the workflow waits and what else is pending, with known source lines. */
  readonly waitsFor: string;
}

/**
 * A wait of a test does not end: virtual time reached `skipLimit`, or nothing in the environment
 * can end the wait.
 */
export class EndlessWaitError extends Error implements EndlessWait {
  override name = "EndlessWaitError";
  readonly workflowId: string;
  readonly awaited: string;
  readonly waitsFor: string;

  constructor(message: string, { workflowId, awaited, waitsFor }: EndlessWait) {
    super(message);
    this.workflowId = workflowId;
    this.awaited = awaited;
    this.waitsFor = waitsFor;
  }
}

/** Throws a TypeError for values other than "warn" or "error". */
export function rejectUnknownEndlessWaits(value: unknown): void {
  if (value === undefined || value === "warn" || value === "error") return;
  throw new TypeError(
    `endlessWaits must be "warn" or "error", not ${
      typeof value === "string" ? `"${value}"` : String(value)
    }`,
  );
}

export interface EndlessWaitParts {
  readonly engine: EmbeddedEngine;
  /** Real time. */
  readonly timers: Timers;
  /**
   * Returns the result of the run's `__stack_trace` query; rejects after some seconds if no worker
   * responds.
   */
  stackTrace(workflowId: string, runId: string): Promise<string>;
  /** Describes each worker of the environment in a line; empty if unknown. */
  workers(): readonly string[];
  /** Called once for each wait. */
  found(awaited: Awaited, error: EndlessWaitError): void;
}

/** The state of the environment that decides whether a wait can end. */
export interface EndlessWaitView {
  /** Whether nothing runs and no timer is due. */
  isStuck(): boolean;
  /** Whether a task waits for a worker. */
  hasQueuedTasks(): boolean;
  /** Changes with each call of the test. */
  acts(): number;
  /** Changes with each commit of the engine. */
  commits(): number;
  awaited(): Iterable<Awaited>;
}

/** The two seconds since progress became impossible. */
interface Armed {
  /** The state of the environment when they began. */
  readonly mark: string;
  isOver: boolean;
  cancel(): void;
}

export class EndlessWaitWatch {
  readonly #parts: EndlessWaitParts;
  readonly #view: EndlessWaitView;
  /** Keys of the reported waits, with the number of calls of the test before each report. */
  readonly #reported = new Map<string, number>();
  #armed: Armed | undefined;
  #isReporting = false;
  #closed = false;

  constructor(parts: EndlessWaitParts, view: EndlessWaitView) {
    this.#parts = parts;
    this.#view = view;
  }

  /** Called for each check of the environment. */
  look(): void {
    if (this.#isReporting || this.#closed) return;
    if (this.#unreported().length === 0) return this.#disarm();
    const mark = this.#mark();
    if (this.#armed !== undefined && this.#armed.mark !== mark) this.#disarm();
    // A worker that polls again makes the engine busy for a moment, without a commit: the time
    // continues.
    if (!this.#view.isStuck()) return;
    this.#armed ??= this.#arm(mark);
    if (!this.#armed.isOver) return;
    this.#disarm();
    this.#isReporting = true;
    // A failed report (the engine closes, a query is rejected) is skipped: the wait itself is not
    // affected.
    void this.#report().catch(() => {}).finally(() => (this.#isReporting = false));
  }

  #arm(mark: string): Armed {
    const armed: Armed = {
      mark,
      isOver: false,
      cancel: this.#parts.timers.after(ENDLESS_AFTER_MS, () => (armed.isOver = true)),
    };
    return armed;
  }

  /** Called when no wait remains. */
  ended(): void {
    this.#disarm();
  }

  close(): void {
    this.#closed = true;
    this.#disarm();
  }

  #disarm(): void {
    this.#armed?.cancel();
    this.#armed = undefined;
  }

  #mark(): string {
    return `${this.#view.acts()} ${this.#view.commits()} ${
      this.#unreported().map(({ key }) => key).join(" ")
    }`;
  }

  /** Returns the waits that were not reported since the test's last call. */
  #unreported(): Awaited[] {
    const acts = this.#view.acts();
    const open = new Map([...this.#view.awaited()].map((awaited) => [awaited.key, awaited]));
    return [...open.values()].filter(({ key }) => this.#reported.get(key) !== acts);
  }

  async #report(): Promise<void> {
    const found: [Awaited, EndlessWaitError][] = [];
    const mark = this.#mark();
    const queued = await this.#queuedTasks();
    if (queued === undefined) return;
    const reason = this.#view.hasQueuedTasks()
      ? "no task is running, and virtual time does not move while a task waits for a worker. Only a worker or another call of the test " +
        "can end it"
      : "no task is running and no timer is due. Only another call of the test can end it, such as a signal";
    for (const awaited of this.#unreported()) {
      const { workflowId, runId = "", what } = awaited;
      const runs = await this.#describe(workflowId, runId);
      const others = queued.filter((line) => !runs.some((block) => block.includes(line)));
      const waitsFor = [...runs, ...others].join("\n");
      const message =
        `the wait for ${what} of workflow "${workflowId}" does not end by itself: ${reason}. ` +
        `Pending:\n${waitsFor.replace(/^/gm, "  ")}`;
      found.push([awaited, new EndlessWaitError(message, { workflowId, awaited: what, waitsFor })]);
    }
    // The test or a worker made progress meanwhile, so the facts may be outdated.
    if (this.#closed || this.#mark() !== mark || !this.#view.isStuck()) return;
    for (const [awaited, error] of found) {
      this.#reported.set(awaited.key, this.#view.acts());
      this.#parts.found(awaited, error);
    }
  }

  /**
   * Describes each task of an open run that waits for a worker. Returns undefined if progress is
   * still possible: a worker outside of the environment has a task, or an activity or procedure is
   * completed from outside.
   */
  async #queuedTasks(): Promise<string[] | undefined> {
    const { engine } = this.#parts;
    const lines: string[] = [];
    for await (
      const { workflowId, runId } of new Client({ service: engine, namespace: engine.namespace })
        .list(OPEN_RUNS)
    ) {
      const run = await this.#run(workflowId, runId);
      if (run?.pendingWorkflowTask?.state === PendingWorkflowTaskState.STARTED) return undefined;
      for (const { state, activityType } of run?.pendingActivities ?? []) {
        if (procedureOf(activityType?.name ?? "") !== undefined) return undefined;
        if (
          state === PendingActivityState.STARTED || state === PendingActivityState.CANCEL_REQUESTED
        ) return undefined;
      }
      if (run !== undefined) lines.push(...await this.#tasksOf(workflowId, run));
    }
    return lines;
  }

  #run(workflowId: string, runId: string): Promise<DescribeWorkflowExecutionResponse | undefined> {
    const { engine } = this.#parts;
    return typedService(engine).describeWorkflowExecution({
      namespace: engine.namespace,
      execution: { workflowId, runId },
    })
      .catch(() => undefined);
  }

  /** Describes a run and its children: type, where the code waits, tasks. */
  async #describe(workflowId: string, runId: string): Promise<string[]> {
    const blocks: string[] = [];
    const open = [{ workflowId, runId }];
    for (let i = 0; i < Math.min(open.length, MAX_DESCRIBED_RUNS); i++) {
      const { workflowId, runId } = open[i]!;
      const run = await this.#run(workflowId, runId);
      const info = run?.workflowExecutionInfo;
      if (run === undefined || info === undefined) continue;
      const actualRunId = info.execution?.runId ?? "";
      const lines = await this.#tasksOf(workflowId, run);
      if (run.pendingWorkflowTask === undefined) {
        const unknown = (error: Error) => `where its code waits is not known: ${error.message}`;
        lines.unshift(await this.#parts.stackTrace(workflowId, actualRunId).catch(unknown));
      }
      blocks.push([
        `workflow "${workflowId}" (type "${info.type?.name}", run ${actualRunId})`,
        ...lines.map((line) => line.replace(/^/gm, "  ")),
      ].join("\n"));
      for (const child of run.pendingChildren) {
        open.push({ workflowId: child.workflowId, runId: child.runId });
      }
    }
    if (open.length > MAX_DESCRIBED_RUNS) {
      blocks.push(`and ${open.length - MAX_DESCRIBED_RUNS} more child workflows`);
    }
    return blocks;
  }

  /** Returns the tasks of a run that no worker has. */
  async #tasksOf(workflowId: string, run: DescribeWorkflowExecutionResponse): Promise<string[]> {
    const lines: string[] = [];
    const queue = run.executionConfig?.taskQueue?.name ?? "";
    const task = run.pendingWorkflowTask;
    if (task !== undefined) {
      const what = `workflow task of "${workflowId}"`;
      lines.push(
        task.attempt > 1
          ? `${what}: attempt ${task.attempt}`
          : `${what}: waits in ${await this.#queue(queue, "WORKFLOW")}`,
      );
    }
    for (
      const { activityType, activityId, attempt, state, nextAttemptScheduleTime, activityOptions }
        of run.pendingActivities
    ) {
      const what = `activity "${activityType?.name}" (id ${activityId}) of "${workflowId}"`;
      const name = activityOptions?.taskQueue?.name || queue;
      if (state !== PendingActivityState.SCHEDULED) {
        lines.push(`${what}: ${enumName(PendingActivityState, state) ?? "UNKNOWN"}`);
      } else if (nextAttemptScheduleTime !== undefined) {
        lines.push(`${what}: attempt ${attempt} is not due yet`);
      } else lines.push(`${what}: waits in ${await this.#queue(name, "ACTIVITY")}`);
    }
    return lines;
  }

  /** `task queue "mail", which no worker polls for activities`. */
  async #queue(name: string, side: "WORKFLOW" | "ACTIVITY"): Promise<string> {
    const { engine } = this.#parts;
    const request = {
      namespace: engine.namespace,
      taskQueue: { name },
      taskQueueType: TaskQueueType[side],
    };
    const { pollers } = await typedService(engine).describeTaskQueue(request);
    const queue = `task queue "${name}"`;
    // A worker that polled some time ago may have stopped, or has no free slot.
    if (pollers.length > 0) return `${queue} for a worker`;
    const workers = this.#parts.workers();
    const known = workers.length === 0 ? "" : `; workers: ${workers.join("; ")}`;
    return `${queue}, which no worker polls for ${
      side === "ACTIVITY" ? "activities" : "workflows"
    }${known}`;
  }
}

const OPEN_RUNS = "ExecutionStatus = 'Running'";
