// Messages between a worker realm and its host, as plain data for structured clone. Per workflow
// task one message in and one out, and a "busy" message that the watchdog needs. Pages of history,
// local activities and log lines are separate messages.
import type { RunSettings } from "../executor/tasks/cached_run.ts";
import type { VersioningBehavior } from "../executor/program/definition.ts";
import type { LineAt } from "../executor/tasks/line_follower.ts";
import type { LocalAnswer, LocalWork } from "../executor/tasks/local_work.ts";
import type { LogEntry } from "../executor/program/program.ts";
import type { SinkCall, SinkTable } from "../executor/program/sinks.ts";
import type { ReplayOptions, ReplayVerdict } from "../executor/tasks/replay.ts";
import type { WorkflowTask } from "../messages/workflow_task.ts";
import type { RealmOutcome } from "../executor/tasks/realm_outcome.ts";
import type { Problem } from "../modules/loader/errors.ts";
import type { ModuleGraph } from "../modules/loader/module_graph.ts";

export interface InitMessage {
  readonly t: "init";
  /** Absent if the entry file has its own (serveRealm). */
  readonly core?: WebAssembly.Module;
  /** Absent if the entry file has its own workflows (serveRealm). */
  readonly graph?: ModuleGraph;
  /** The graph's last entry exports the payload converter. */
  readonly hasConverter: boolean;
  readonly cacheSize: number;
  readonly runOptions: RunSettings;
  /** Functions of the host's sinks. */
  readonly sinks: SinkTable;
  /** Interval of signs of life while work is open, in milliseconds. */
  readonly aliveMs: number;
}

export type ToRealm =
  | InitMessage
  | { readonly t: "task"; readonly id: number; readonly task: WorkflowTask }
  | {
    readonly t: "replay";
    readonly id: number;
    readonly workflowId: string;
    readonly history: Uint8Array;
    readonly options: ReplayOptions;
  }
  | {
    readonly t: "page";
    readonly id: number;
    readonly history: Uint8Array;
    readonly nextPageToken: Uint8Array;
  }
  | { readonly t: "noPage"; readonly id: number; readonly message: string }
  /** The result of a local activity of a task. */
  | { readonly t: "local"; readonly id: number; readonly answer: LocalAnswer }
  | { readonly t: "reported"; readonly runId: string; readonly response: Uint8Array }
  | { readonly t: "evict"; readonly runId: string }
  /** Several messages in order: a separate message costs more than most of them carry. */
  | { readonly t: "batch"; readonly messages: readonly BatchedMessage[] };

/** Messages of bytes and strings only, which can always be cloned. */
export type BatchedMessage = Extract<
  ToRealm,
  { readonly t: "task" | "page" | "noPage" | "local" | "reported" | "evict" }
>;

export type FromRealm =
  | {
    readonly t: "ready";
    readonly workflowTypes: readonly string[];
    readonly takesAnyType: boolean;
    readonly versioningBehaviors: ReadonlyMap<string, VersioningBehavior>;
  }
  | { readonly t: "refused"; readonly message: string; readonly problems?: readonly Problem[] }
  /** The realm begins this task or replay. */
  | { readonly t: "busy"; readonly id: number }
  | { readonly t: "alive" }
  /** A replay with `trace` begins the workflow task that started with this event. */
  | { readonly t: "at"; readonly id: number; readonly eventId: number }
  /** A replay with `follow` is at this line. Does not count as a sign of life. */
  | { readonly t: "line"; readonly id: number; readonly at: LineAt }
  | {
    readonly t: "outcome";
    readonly id: number;
    readonly outcome: RealmOutcome;
    readonly cachedRuns: number;
  }
  /**
   * `next`: the replay that begins now; a separate message would cost both threads more than most
   * of the replay.
   */
  | {
    readonly t: "verdict";
    readonly id: number;
    readonly verdict: ReplayVerdict;
    readonly next?: number;
  }
  | { readonly t: "error"; readonly id: number; readonly message: string }
  /** Number of runs in memory, sent when it changes without a task. */
  | { readonly t: "cached"; readonly runs: number }
  /** The core's instance trapped: the realm must be replaced. */
  | { readonly t: "trapped"; readonly message: string }
  | {
    readonly t: "fetch";
    readonly id: number;
    readonly workflowId: string;
    readonly runId: string;
    readonly nextPageToken: Uint8Array;
  }
  /** Local activities of the task. */
  | { readonly t: "local"; readonly id: number; readonly work: LocalWork }
  | { readonly t: "log"; readonly entry: LogEntry }
  /** A call of a host function by workflow code. Sent before the outcome of its task. */
  | { readonly t: "sink"; readonly call: SinkCall };

/**
 * Copies bytes for a message. Transferring a view would transfer its whole buffer, possibly the
 * results of a batch.
 */
export function detachedCopy(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : bytes.slice();
}
