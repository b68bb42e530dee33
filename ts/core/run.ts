// One workflow run in the core, worker's side. For the protocol see core-rs/src/replay/mod.rs:
// start a task, call `next` until it returns an outcome, issue commands between an activation and
// `finishActivation`.
import type { Glue, Run as RawRun } from "./generated/worker.js";
import { type CommandKind, Step } from "./generated/boundary/temporalex/boundary/v1/boundary.ts";
import { CoreHandle } from "./handle.ts";

/**
 * One workflow run in the core, worker's side: history in, jobs out, commands in, completions out.
 */
export class CoreRun extends CoreHandle<RawRun, Glue> {
  /** Starts a workflow task: an encoded PollWorkflowTaskQueueResponse. */
  startTask(pollResponse: Uint8Array): void {
    this.guard((raw) => raw.start_task(pollResponse));
  }

  /** Starts a replay of a complete or truncated history (encoded History), without reports. */
  startReplay(workflowId: string, history: Uint8Array): void {
    this.guard((raw) => raw.start_replay(workflowId, history));
  }

  /** Adds the page that `NeedHistory` requested, with the next token (empty: last page). */
  feedHistory(history: Uint8Array, nextPageToken: Uint8Array): void {
    this.guard((raw) => raw.feed_history(history, nextPageToken));
  }

  /** Returns the next step: an activation, more history, local activities, or the outcome. */
  next(): Step {
    return Step.decode(this.guard((raw) => raw.next()));
  }

  /**
   * Queues a command with encoded attributes; returns its seq (0 for kinds without one). `groups`:
   * encoded EventGroups.
   */
  command(kind: CommandKind, attributes: Uint8Array, groups?: Uint8Array): number {
    if (groups !== undefined) this.guard((raw) => raw.event_groups(groups));
    return this.guard((raw) => raw.command(kind, attributes));
  }

  /** Cancels an earlier command by its kind and seq. */
  cancel(kind: CommandKind, seq: number, groups?: Uint8Array): void {
    if (groups !== undefined) this.guard((raw) => raw.event_groups(groups));
    this.guard((raw) => raw.cancel(kind, seq));
  }

  /** Ends the activation: commands are matched with history, or queued as new. */
  finishActivation(): void {
    this.guard((raw) => raw.finish_activation());
  }

  /** Adds an encoded LocalActivityResolution. No-op if it is not awaited. */
  resolveLocalActivity(resolution: Uint8Array): void {
    this.guard((raw) => raw.resolve_local_activity(resolution));
  }

  /** Completes the task as a heartbeat; its local activities continue in the next one. */
  heartbeat(): void {
    this.guard((raw) => raw.heartbeat());
  }

  /** Fails the workflow task with an encoded Failure and a WorkflowTaskFailedCause (0: by kind). */
  failActivation(failure: Uint8Array, cause = 0): void {
    this.guard((raw) => raw.fail_activation(failure, cause));
  }

  /** Adds an encoded RespondWorkflowTaskCompletedResponse. */
  taskReported(response: Uint8Array): void {
    this.guard((raw) => raw.task_reported(response));
  }

  /** Next number of the run's seeded generator, in [0, 1). */
  random(): number {
    return this.guard((raw) => raw.random());
  }

  /** Bytes of the run's seeded generator. */
  randomBytes(length: number): Uint8Array {
    return this.guard((raw) => raw.random_bytes(length));
  }
}
