// One schedule: which actions are due, what the overlap policies make of them, and the workflows
// that it starts and observes. Its semantics are those of Temporal's scheduler workflow.
import { create } from "@bufbuild/protobuf";
import {
  type Payload,
  SearchAttributesSchema,
} from "../../messages/generated/temporal/api/common/v1/message_pb.ts";
import { ScheduleOverlapPolicy as Overlap } from "../../messages/generated/temporal/api/enums/v1/schedule_pb.ts";
import {
  WorkflowExecutionStatus as Status,
  WorkflowIdReusePolicy as Reuse,
} from "../../messages/generated/temporal/api/enums/v1/workflow_pb.ts";
import {
  type Schedule,
  ScheduleActionResultSchema,
  type SchedulePatch,
} from "../../messages/generated/temporal/api/schedule/v1/message_pb.ts";
import type { NewWorkflowExecutionInfo } from "../../messages/generated/temporal/api/workflow/v1/message_pb.ts";
import {
  type StartWorkflowExecutionRequest,
  StartWorkflowExecutionRequestSchema,
} from "../../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { randomId } from "../../platform/host.ts";
import { Code, type ServiceError } from "../../service/raw.ts";
import { durationMsOrZero, timestampMsIfSet, timestampOfMs } from "./durations.ts";
import { decideOverlap } from "./overlap.ts";
import type { ClosedChain } from "./started_runs.ts";
import type { SpecTime } from "./spec.ts";
import type { BufferedStart, ScheduleState } from "./state.ts";

/** Actions in the buffer and backfills of a schedule; more are dropped and counted. */
export const MAX_BUFFER = 1000;
/** Actions that a backfill adds between two commits. */
const BACKFILL_SLICE = 100;
/** Times that are considered between two commits. */
const TIMES_SLICE = 10_000;
const RECENT_ACTIONS = 10;
/** Delay until a start is retried that the engine could not carry out, in ms. */
const RETRY_MS = 1000;

/** What a schedule needs of its engine. Everything is part of the open batch. */
export interface ScheduleHost {
  readonly namespace: string;
  /** Starts a workflow. Returns its run id, or the error. */
  start(request: StartWorkflowExecutionRequest): string | ServiceError;
  /** Stops a run if it is open. */
  stop(how: "cancel" | "terminate", workflowId: string, firstRunId: string, identity: string): void;
  /** How a run and its successors ended; undefined while one is open. */
  closed(workflowId: string, firstRunId: string): ClosedChain | undefined;
  /** Reports a workflow that cannot be started. */
  report(error: Error): void;
}

/** When a schedule acts next, in ms since the epoch; Infinity: after a change only. */
export interface NextStep {
  readonly atMs: number;
  /** The state has changed and must be committed. */
  readonly changed: boolean;
  /** Times that were computed, with those that exclusions skipped. */
  readonly work: number;
}

/** One step of a schedule. */
export class ScheduleStep {
  readonly #state: ScheduleState;
  readonly #host: ScheduleHost;
  readonly #nowMs: number;
  readonly #seed: string;
  #changed = false;
  #work = 0;
  /** Starts that the engine could not carry out now, in their order. */
  #retried: BufferedStart[] = [];

  constructor(state: ScheduleState, host: ScheduleHost, nowMs: number) {
    this.#state = state;
    this.#host = host;
    this.#seed = jitterSeed(host.namespace, state.id);
    this.#nowMs = Math.max(nowMs, state.createdMs);
  }

  /**
   * Considers what is due, applies a change, and takes actions. `changeFirst`: what is due before
   * the change cannot be considered.
   */
  run(change?: (step: ScheduleStep) => void, changeFirst = false): NextStep {
    const state = this.#state;
    if (!changeFirst) {
      this.#observe();
      this.#takeDue();
    }
    if (change !== undefined) {
      change(this);
      this.#changed = true;
    }
    if (changeFirst) this.#observe();
    let nextMs = this.#takeDue();
    nextMs = Math.min(nextMs, this.#backfill());
    while (this.#takeBuffered());
    if (this.#retried.length > 0) nextMs = Math.min(nextMs, this.#nowMs + RETRY_MS);
    const atMs = Math.max(nextMs, state.createdMs);
    return { atMs, changed: this.#changed, work: this.#work };
  }

  // --------------------------------------------------------------------------------------- changes

  /** Replaces the configuration; times before now are not considered with the new one. */
  update(schedule: Schedule, spec: ScheduleState["spec"]): void {
    const state = this.#state;
    state.schedule = schedule;
    state.spec = spec;
    state.info.updateTime = timestampOfMs(this.#nowMs);
    // A time before now may be delayed beyond it.
    state.processedMs = Math.max(state.processedMs, this.#nowMs - 1 - spec.jitterMs);
    state.conflictToken++;
  }

  /** Triggers an action, adds backfills, pauses and unpauses. */
  patch(patch: SchedulePatch): void {
    const state = this.#state;
    const { triggerImmediately: trigger } = patch;
    if (trigger !== undefined) {
      const at = timestampMsIfSet(trigger.scheduledTime) ?? this.#nowMs;
      this.#add(at, at, trigger.overlapPolicy, true);
    }
    for (const { startTime, endTime, overlapPolicy } of patch.backfillRequest) {
      if (state.backfills.length >= MAX_BUFFER) {
        state.info.bufferDropped++;
        continue;
      }
      state.backfills.push({
        // The start of the range is included.
        afterMs: (timestampMsIfSet(startTime) ?? 0) - 1,
        endMs: timestampMsIfSet(endTime) ?? 0,
        overlap: overlapPolicy,
      });
    }
    if (patch.pause !== "") this.#pause(true, patch.pause);
    if (patch.unpause !== "") this.#pause(false, patch.unpause);
  }

  #pause(paused: boolean, notes: string): void {
    const { schedule } = this.#state;
    schedule.state!.paused = paused;
    schedule.state!.notes = notes;
    this.#state.conflictToken++;
  }

  // ----------------------------------------------------------------------------------------- times

  /** Whether actions of the spec are taken now. */
  #isActive(): boolean {
    const { paused, limitedActions, remainingActions } = this.#state.schedule.state!;
    return !paused && (!limitedActions || remainingActions > 0n);
  }

  #timeAfter(ms: number): SpecTime | undefined {
    const { spec } = this.#state;
    const skips = spec.skips();
    const { left } = skips;
    const time = spec.next(ms, this.#seed, skips);
    this.#work += 1 + left - skips.left;
    return time;
  }

  /** Buffers the actions that are due. Returns the next time. */
  #takeDue(): number {
    const state = this.#state;
    if (!this.#isActive()) {
      // Times during a pause are not caught up.
      if (this.#timeAfter(state.processedMs) !== undefined) {
        this.#processed(Math.max(state.processedMs, this.#nowMs));
      }
      return Infinity;
    }
    const windowMs = durationMsOrZero(state.schedule.policies!.catchupWindow);
    const updatedMs = timestampMsIfSet(state.info.updateTime) ?? -Infinity;
    const end = this.#work + TIMES_SLICE;
    while (this.#work < end) {
      const time = this.#timeAfter(state.processedMs);
      if (time === undefined) return Infinity;
      if (time.nextMs > this.#nowMs) return time.nextMs;
      this.#processed(time.nextMs);
      if (time.nextMs < updatedMs) continue;
      if (this.#nowMs - time.nextMs > windowMs) state.info.missedCatchupWindow++;
      else this.#add(time.nominalMs, time.nextMs, Overlap.UNSPECIFIED, false);
    }
    return this.#nowMs;
  }

  #processed(ms: number): void {
    if (this.#state.processedMs === ms) return;
    this.#state.processedMs = ms;
    this.#changed = true;
  }

  /** Buffers actions of backfills. Returns now if more of them can be taken. */
  #backfill(): number {
    const state = this.#state;
    const end = this.#work + TIMES_SLICE;
    for (let added = 0; added < BACKFILL_SLICE && this.#work < end;) {
      const backfill = state.backfills[0];
      if (backfill === undefined) return Infinity;
      // The rest of the buffer is for the times of the spec. A closed workflow continues here.
      if (state.buffer.length >= MAX_BUFFER / 2) return Infinity;
      const time = this.#timeAfter(backfill.afterMs);
      this.#changed = true;
      if (time === undefined || time.nextMs > backfill.endMs) {
        state.backfills.shift();
        continue;
      }
      backfill.afterMs = time.nextMs;
      this.#add(time.nominalMs, time.nextMs, backfill.overlap, true);
      added++;
    }
    return this.#nowMs;
  }

  #add(nominalMs: number, actualMs: number, overlap: Overlap, manual: boolean): void {
    const state = this.#state;
    this.#changed = true;
    if (state.buffer.length >= MAX_BUFFER) state.info.bufferDropped++;
    else state.buffer.push({ nominalMs, actualMs, overlap, manual });
  }

  // --------------------------------------------------------------------------------------- actions

  /** Takes buffered actions. Returns whether more can be taken at once. */
  #takeBuffered(): boolean {
    const state = this.#state;
    const action = state.schedule.action?.action;
    if (action?.case !== "startWorkflow") state.buffer = [];
    if (action?.case !== "startWorkflow" || state.buffer.length === 0) return false;
    this.#retried = [];
    const running = state.info.runningWorkflows;
    const decision = decideOverlap(
      state.buffer,
      running.length > 0,
      (start) => this.#policy(start),
    );
    this.#changed = true;
    state.buffer = [...decision.kept];
    state.info.overlapSkipped += BigInt(decision.skipped);
    const { observed } = decision;
    let again = false;
    for (const start of [...decision.overlapping, ...(observed === undefined ? [] : [observed])]) {
      if (!this.#start(start, action.value, start === observed)) again = true;
    }
    // Before those that arrived later.
    state.buffer.unshift(...this.#retried);
    if (decision.stop !== undefined) {
      for (const { workflowId, runId } of running) {
        this.#host.stop(decision.stop, workflowId, runId, this.#identity());
      }
    }
    return again && this.#retried.length === 0;
  }

  #policy({ overlap }: BufferedStart): Overlap {
    return overlap === Overlap.UNSPECIFIED ? this.#state.schedule.policies!.overlapPolicy : overlap;
  }

  /** Starts a workflow. Returns false if the action was not taken. */
  #start(start: BufferedStart, action: NewWorkflowExecutionInfo, observed: boolean): boolean {
    const state = this.#state;
    if (!start.manual && !this.#isActive()) return false;
    const request = this.#request(start, action);
    const runId = this.#host.start(request);
    if (typeof runId !== "string") {
      if (runId.code === Code.RESOURCE_EXHAUSTED || runId.code === Code.UNAVAILABLE) {
        this.#retried.push(start);
      } else if (runId.code !== Code.ALREADY_EXISTS) {
        this.#host.report(
          new Error(
            `schedule "${state.id}" cannot start workflow "${request.workflowId}": ${runId.message}`,
            { cause: runId },
          ),
        );
      }
      return false;
    }
    if (!start.manual && state.schedule.state!.limitedActions) {
      state.schedule.state!.remainingActions--;
      state.conflictToken++;
    }
    const { info } = state;
    info.actionCount++;
    const result = create(ScheduleActionResultSchema, {
      scheduleTime: timestampOfMs(start.actualMs),
      actualTime: timestampOfMs(this.#nowMs),
      startWorkflowResult: { workflowId: request.workflowId, runId },
      startWorkflowStatus: Status.RUNNING,
    });
    info.recentActions = [...info.recentActions, result].slice(-RECENT_ACTIONS);
    if (observed) info.runningWorkflows.push(result.startWorkflowResult!);
    return true;
  }

  #request(start: BufferedStart, action: NewWorkflowExecutionInfo): StartWorkflowExecutionRequest {
    const state = this.#state;
    const seconds = new Date(Math.floor(start.nominalMs / 1000) * 1000).toISOString()
      .replace(".000Z", "Z");
    const keepsId = state.schedule.policies!.keepOriginalWorkflowId;
    // Runs that the schedule does not observe neither get nor leave a result.
    const carries = this.#policy(start) !== Overlap.ALLOW_ALL;
    return create(StartWorkflowExecutionRequestSchema, {
      ...startOfAction(action),
      namespace: this.#host.namespace,
      workflowId: keepsId ? action.workflowId : `${action.workflowId}-${seconds}`,
      identity: this.#identity(),
      requestId: randomId(),
      workflowIdReusePolicy: start.manual || keepsId
        ? Reuse.ALLOW_DUPLICATE
        : Reuse.REJECT_DUPLICATE,
      searchAttributes: create(SearchAttributesSchema, {
        indexedFields: {
          ...action.searchAttributes?.indexedFields,
          TemporalScheduledStartTime: attribute("Datetime", seconds),
          TemporalScheduledById: attribute("Keyword", state.id),
        },
      }),
      ...(carries && state.lastResult !== undefined && { lastCompletionResult: state.lastResult }),
      ...(carries && state.lastFailure !== undefined && { continuedFailure: state.lastFailure }),
    });
  }

  #identity(): string {
    return `temporal-scheduler-${this.#host.namespace}-${this.#state.id}`;
  }

  // ------------------------------------------------------------------------------------- observing

  /** Notices observed workflows that have closed. */
  #observe(): void {
    const state = this.#state;
    const { info } = state;
    for (const running of [...info.runningWorkflows]) {
      const { workflowId, runId } = running;
      const closed = this.#host.closed(workflowId, runId);
      if (closed === undefined) continue;
      this.#changed = true;
      info.runningWorkflows = info.runningWorkflows.filter((each) => each !== running);
      const recent = info.recentActions.find(({ startWorkflowResult: result }) =>
        result?.workflowId === workflowId && result.runId === runId
      );
      if (recent !== undefined) recent.startWorkflowStatus = closed.status;
      this.#pauseAfter(workflowId, closed);
      if (closed.result !== undefined) {
        state.lastResult = closed.result;
        state.lastFailure = undefined;
      } else if (closed.failure !== undefined) state.lastFailure = closed.failure;
    }
  }

  #pauseAfter(workflowId: string, { status, failure }: ClosedChain): void {
    const { policies, state } = this.#state.schedule;
    if (!policies!.pauseOnFailure || state!.paused) return;
    if (status === Status.FAILED) {
      const message = failure?.message ?? "";
      this.#pause(true, `paused due to workflow failure: ${workflowId}: ${message}`);
    } else if (status === Status.TIMED_OUT) {
      this.#pause(true, `paused due to workflow timeout: ${workflowId}`);
    }
  }
}

/** The fields of an action that its start has unchanged. */
export function startOfAction(action: NewWorkflowExecutionInfo) {
  const {
    workflowType,
    taskQueue,
    input,
    workflowExecutionTimeout,
    workflowRunTimeout,
    workflowTaskTimeout,
    retryPolicy,
    memo,
    header,
    userMetadata,
    versioningOverride,
    priority,
  } = action;
  return {
    ...(workflowType !== undefined && { workflowType }),
    ...(taskQueue !== undefined && { taskQueue }),
    ...(input !== undefined && { input }),
    ...(workflowExecutionTimeout !== undefined && { workflowExecutionTimeout }),
    ...(workflowRunTimeout !== undefined && { workflowRunTimeout }),
    ...(workflowTaskTimeout !== undefined && { workflowTaskTimeout }),
    ...(retryPolicy !== undefined && { retryPolicy }),
    ...(memo !== undefined && { memo }),
    ...(header !== undefined && { header }),
    ...(userMetadata !== undefined && { userMetadata }),
    ...(versioningOverride !== undefined && { versioningOverride }),
    ...(priority !== undefined && { priority }),
  };
}

/** Selects the jitter of a schedule's times. */
export function jitterSeed(namespace: string, scheduleId: string): string {
  return `${namespace}-${scheduleId}`;
}

function attribute(type: string, value: string): Pick<Payload, "metadata" | "data"> {
  const utf8 = new TextEncoder();
  return {
    metadata: { encoding: utf8.encode("json/plain"), type: utf8.encode(type) },
    data: utf8.encode(JSON.stringify(value)),
  };
}
