// One workflow run in the core, worker's side. The protocol is documented in core-rs/src/replay/mod.rs: start a task, call `next`
// until it answers an outcome, issue commands between an activation and its `finishActivation`.
import type { Glue, Run as RawRun } from "./generated/worker.js";
import { type CommandKind, Step } from "./generated/boundary/temporalex/boundary/v1/boundary.ts";
import { CoreHandle } from "./handle.ts";

/** One workflow run in the core, worker's side: history in, jobs out, commands in, completions out. */
export class CoreRun extends CoreHandle<RawRun, Glue> {
  /** A workflow task: bytes of PollWorkflowTaskQueueResponse. */
  startTask(pollResponse: Uint8Array): void {
    this.guard((raw) => raw.start_task(pollResponse));
  }

  /** A whole or cut history (bytes of History) to replay with no reporter. */
  startReplay(workflowId: string, history: Uint8Array): void {
    this.guard((raw) => raw.start_replay(workflowId, history));
  }

  /** The page that `NeedHistory` asked for, and the token of the next one (empty: it was the last). */
  feedHistory(history: Uint8Array, nextPageToken: Uint8Array): void {
    this.guard((raw) => raw.feed_history(history, nextPageToken));
  }

  /** What to do next: an activation, more history, local activities, or the outcome of the task. */
  next(): Step {
    return Step.decode(this.guard((raw) => raw.next()));
  }

  /**
   * Queues a command with the encoded attributes of its kind; answers its seq (0 for kinds without one). `groups`: bytes of
   * EventGroups.
   */
  command(kind: CommandKind, attributes: Uint8Array, groups?: Uint8Array): number {
    if (groups !== undefined) this.guard((raw) => raw.event_groups(groups));
    return this.guard((raw) => raw.command(kind, attributes));
  }

  /** Cancels what an earlier command began: its kind and its seq. */
  cancel(kind: CommandKind, seq: number, groups?: Uint8Array): void {
    if (groups !== undefined) this.guard((raw) => raw.event_groups(groups));
    this.guard((raw) => raw.cancel(kind, seq));
  }

  /** User code has yielded: commands are matched against history, or queued as new. */
  finishActivation(): void {
    this.guard((raw) => raw.finish_activation());
  }

  /** What a local activity came to: bytes of LocalActivityResolution. One that is not waited for changes nothing. */
  resolveLocalActivity(resolution: Uint8Array): void {
    this.guard((raw) => raw.resolve_local_activity(resolution));
  }

  /** The task is answered as far as it has come; its local activities go on in the next one. */
  heartbeat(): void {
    this.guard((raw) => raw.heartbeat());
  }

  /** Fails the workflow task: bytes of Failure, and a WorkflowTaskFailedCause (0: by kind). */
  failActivation(failure: Uint8Array, cause = 0): void {
    this.guard((raw) => raw.fail_activation(failure, cause));
  }

  /** Bytes of RespondWorkflowTaskCompletedResponse. */
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
