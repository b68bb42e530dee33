// The messages between a worker realm and its host. Plain data for structured clone. Per workflow task: one message in, one out (and a note
// from the realm of what it turns to, which the watchdog needs); pages of history, local
// activities and log lines come as extra messages.
import type { RunSettings } from "../executor/tasks/cached_run.ts";
import type { VersioningBehavior } from "../executor/program/definition.ts";
import type { LineAt } from "../executor/tasks/line_follower.ts";
import type { LocalAnswer, LocalWork } from "../executor/tasks/local_work.ts";
import type { LogEntry } from "../executor/program/program.ts";
import type { SinkCall, SinkTable } from "../executor/program/sinks.ts";
import type { ReplayOptions, ReplayVerdict } from "../executor/tasks/replay.ts";
import type { WorkflowTask } from "../api/workflow_task.ts";
import type { RealmOutcome } from "../executor/tasks/realm_outcome.ts";
import type { Problem } from "../modules/loader/errors.ts";
import type { ModuleGraph } from "../modules/loader/graph.ts";

export interface InitMessage {
  readonly t: "init";
  /** Absent: the entry file has one of its own (serveRealm). */
  readonly core?: WebAssembly.Module;
  /** Absent: the entry file brings its workflows (serveRealm). */
  readonly graph?: ModuleGraph;
  /** The graph's last entry exports the payload converter. */
  readonly hasConverter: boolean;
  readonly cacheSize: number;
  readonly runOptions: RunSettings;
  /** Functions of the host's sinks. */
  readonly sinks: SinkTable;
  /** How often a sign of life is due while work is open. */
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
  | { readonly t: "page"; readonly id: number; readonly history: Uint8Array; readonly nextPageToken: Uint8Array }
  | { readonly t: "noPage"; readonly id: number; readonly message: string }
  /** Of the task's local activities. */
  | { readonly t: "local"; readonly id: number; readonly answer: LocalAnswer }
  | { readonly t: "reported"; readonly runId: string; readonly response: Uint8Array }
  | { readonly t: "evict"; readonly runId: string }
  /** Several at once, in order: a message of its own costs more than what most of them carry. */
  | { readonly t: "batch"; readonly messages: readonly BatchedMessage[] };

/** Messages of bytes and strings alone: they can always be cloned. */
export type BatchedMessage = Extract<ToRealm, { readonly t: "task" | "page" | "noPage" | "local" | "reported" | "evict" }>;

export type FromRealm =
  | {
    readonly t: "ready";
    readonly workflowTypes: readonly string[];
    readonly takesAnyType: boolean;
    readonly versioningBehaviors: ReadonlyMap<string, VersioningBehavior>;
  }
  | { readonly t: "refused"; readonly message: string; readonly problems?: readonly Problem[] }
  /** It turns to this task or replay now. */
  | { readonly t: "busy"; readonly id: number }
  | { readonly t: "alive" }
  /** A replay with `trace` turns to the workflow task that began with this event. */
  | { readonly t: "at"; readonly id: number; readonly eventId: number }
  /** A replay with `follow` is at this line. Not a sign of life. */
  | { readonly t: "line"; readonly id: number; readonly at: LineAt }
  | { readonly t: "outcome"; readonly id: number; readonly outcome: RealmOutcome; readonly cachedRuns: number }
  /** `next`: the replay that it turns to now; a message of its own would cost both threads more than most of the replay. */
  | { readonly t: "verdict"; readonly id: number; readonly verdict: ReplayVerdict; readonly next?: number }
  | { readonly t: "error"; readonly id: number; readonly message: string }
  /** So many runs are in memory now, though no task has ended. */
  | { readonly t: "cached"; readonly runs: number }
  /** The core's instance is broken (a trap): the realm is of no more use. */
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
  /** A function of the host's that workflow code calls. Before the outcome of its task. */
  | { readonly t: "sink"; readonly call: SinkCall };

/** Bytes for a message. It would take the whole buffer that a view lies in, perhaps all that a batch answered: such bytes go as a copy. */
export function detachedCopy(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : bytes.slice();
}
