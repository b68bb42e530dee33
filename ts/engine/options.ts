// What an embedded engine can be told at its opening, and what it tells about itself.
import type { EngineCore } from "../core/engine_half.ts";
import type { EngineOptions } from "../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { Clock } from "./clock.ts";
import type { DriverName } from "./sqlite/driver.ts";
import type { Synchronous } from "./sqlite/open.ts";
import type { CodecOptions } from "../codec/codec.ts";
import type { PayloadConverter } from "../converter/payload.ts";
import type { Store } from "./store.ts";
import type { TableMigration } from "./tables/migrations.ts";
import type { ReducerRunner } from "./reducing.ts";
import type { ReducerTable } from "./tables/reducers.ts";
import type { ActivityTimeout } from "./timed_out.ts";

/** Bounds of what one engine takes on. Beyond them calls are refused with RESOURCE_EXHAUSTED and a reason. */
export interface EngineLimits {
  /** Runs that are open at the same time. Default: no limit. */
  openRuns?: number;
  /** Signals and updates that one run has not processed yet. Default: no limit. */
  inbox?: number;
  /** Updates of one run that are not answered yet. Callers wait for room, and then get a WorkflowUpdateLimitError. Default 10. */
  updatesInFlight?: number;
  /** Updates of one run in all. Default 2,000. */
  updates?: number;
  /** Idle runs kept in memory; others are loaded when needed. Default 10,000. */
  cachedRuns?: number;
  /** Bytes of one set of payloads. Default 2 MiB. */
  payloadBytes?: number;
  /** Events of a history at which continue-as-new is suggested. Default 4,096. */
  suggestContinueAsNewEvents?: number;
  /** Bytes of a history at which continue-as-new is suggested. Default 4 MiB. */
  suggestContinueAsNewBytes?: number;
  /** Updates of one run at which continue-as-new is suggested. Default: nine tenths of `updates`. */
  suggestContinueAsNewUpdates?: number;
  /** Events of a history at which the run is terminated. Default 51,200. */
  historyEvents?: number;
}

/** Options of `EmbeddedEngine.open`. */
export interface EmbeddedEngineOptions {
  /** SQLite file, created when missing. Or give a `store`. */
  path?: string;
  /** A store of the caller's own; the engine does not close it. */
  store?: Store;
  /** For `path`. Default FULL: what was acknowledged survives power loss. NORMAL: it survives the death of the process. */
  synchronous?: Synchronous;
  /** For `path`. Default: the first SQLite library that is present. */
  driver?: DriverName;
  /** For `path`: the engine is closed again in a moment; others who want to open the store meanwhile wait for that. */
  visit?: boolean;
  /** Default "default". */
  namespace?: string;
  /** Where it has its time from. Default: the wall clock, which never goes back while the engine lives. */
  clock?: Clock;
  /** Bounds of what it takes on. */
  limits?: EngineLimits;
  /**
   * For tests. "manual": timers of workflows do not fire when they are due, but when `fireTimer` says so. Timeouts and retries are as
   * ever. Default: "due".
   */
  timers?: "due" | "manual";
  /**
   * Workers run outside of this process and outlive it, so tasks that were handed out before a restart may still be answered. Default
   * false: their holders died with the process, and their tasks are given again at once.
   */
  remoteWorkers?: boolean;
  /** Functions that workflows run by `transact`, in the transaction that commits their task: an object or a module. For a SQLite store. */
  reducers?: ReducerTable;
  /** @internal Runs the reducers in the place of functions. */
  reducing?: ReducerRunner;
  /** The application's own tables in the store's file, step by step; each is applied once. */
  migrations?: readonly TableMigration[];
  /** How arguments and results of reducers become payloads. Default: JSON. */
  converter?: PayloadConverter;
  /** What encodes the payloads of the workers, for arguments and results of reducers. It needs `encodeSync` and `decodeSync`. Default: none. */
  codec?: CodecOptions["codec"];
  /** As the workers have it, for what reducers throw. Default: false. */
  encodeCommonAttributes?: CodecOptions["encodeCommonAttributes"];
  /** The engine's half of the core, instead of the one that comes with the package or that `useCore` gives. */
  core?: EngineCore;
  /** Told of failures that were survived (a commit that failed, a core that was replaced). Default: console.error. */
  onError?: (error: Error) => void;
  /**
   * Told of attempts of activities that timed out and that no worker of this process has logged: with `remoteWorkers` of all, else of
   * those that no worker had. Default: not told.
   */
  onActivityTimeout?: (timeout: ActivityTimeout) => void;
}

/** What waits for workers on one side of a task queue. */
export interface Backlog {
  /** How many tasks. */
  readonly tasks: number;
  /** For how many milliseconds the oldest has waited. */
  readonly oldestMs: number;
}

/** What the core answers of a queue, as what waits there; nothing: of a closed engine. */
export function backlogOf([workflow = 0, workflowMs = 0, activity = 0, activityMs = 0]: Iterable<number>): {
  readonly workflow: Backlog;
  readonly activity: Backlog;
} {
  return { workflow: { tasks: workflow, oldestMs: workflowMs }, activity: { tasks: activity, oldestMs: activityMs } };
}

/** What an engine holds at this moment. */
export interface EngineStats {
  /** Runs that have not ended. */
  readonly openRuns: number;
  /** Runs in memory. */
  readonly cachedRuns: number;
  /** Calls that wait for an answer, polls included. */
  readonly waitingCalls: number;
  /** Workflow and activity tasks that wait for a worker. */
  readonly queuedTasks: number;
  /** Transactions so far. */
  readonly commits: number;
  /** When the engine itself acts next, in milliseconds since the epoch; 0: never. */
  readonly nextWakeMs: number;
}

/** The core's options; limits that are not given are the core's own. */
export function coreOptions(
  namespace: string,
  { limits = {}, timers }: Pick<EmbeddedEngineOptions, "limits" | "timers">,
): Partial<EngineOptions> {
  return {
    namespace,
    seed: crypto.getRandomValues(new Uint8Array(32)),
    maxOpenRuns: limits.openRuns ?? 0,
    maxInbox: limits.inbox ?? 0,
    maxUpdatesInFlight: limits.updatesInFlight ?? 0,
    maxUpdates: limits.updates ?? 0,
    maxCachedRuns: limits.cachedRuns ?? 0,
    maxPayloadBytes: limits.payloadBytes ?? 0,
    suggestContinueAsNewEvents: limits.suggestContinueAsNewEvents ?? 0,
    suggestContinueAsNewBytes: limits.suggestContinueAsNewBytes ?? 0,
    suggestContinueAsNewUpdates: limits.suggestContinueAsNewUpdates ?? 0,
    maxHistoryEvents: limits.historyEvents ?? 0,
    manualTimers: timers === "manual",
  };
}
