// Options of an embedded engine, and the figures that it reports.
import type { EngineCore } from "../core/engine_half.ts";
import type { EngineOptions } from "../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { Clock } from "./clock.ts";
import type { DriverName } from "./sqlite/driver.ts";
import type { Synchronous } from "./sqlite/open.ts";
import type { CodecOptions } from "../codec/codec.ts";
import type { PayloadConverter } from "../converter/payload.ts";
import type { NexusHost } from "./nexus_calls.ts";
import type { Store } from "./store.ts";
import type { TableMigration } from "./tables/migrations.ts";
import type { ReducerRunner } from "./reducing.ts";
import type { WorkflowsFactory } from "./transactions.ts";
import type { FunctionTable } from "./functions.ts";
import type { ReducerTable } from "./tables/reducers.ts";
import type { ActivityTimeout } from "./timed_out.ts";

/** Limits of one engine. Calls beyond them fail with RESOURCE_EXHAUSTED and a reason. */
export interface EngineLimits {
  /** Open runs. Default: no limit. */
  openRuns?: number;
  /** Unprocessed signals and updates of one run. Default: no limit. */
  inbox?: number;
  /**
   * Incomplete updates of one run. Callers wait for a free place, then get a
   * WorkflowUpdateLimitError. Default: 10.
   */
  updatesInFlight?: number;
  /** Total updates of one run. Default: 2,000. */
  updates?: number;
  /** Idle runs kept in memory; others are loaded when needed. Default: 10,000. */
  cachedRuns?: number;
  /** Bytes of one set of payloads. Default: 2 MiB. */
  payloadBytes?: number;
  /** Events of a history at which continue-as-new is suggested. Default: 4,096. */
  suggestContinueAsNewEvents?: number;
  /** Bytes of a history at which continue-as-new is suggested. Default: 4 MiB. */
  suggestContinueAsNewBytes?: number;
  /**
   * Updates of one run at which continue-as-new is suggested. Default: nine tenths of `updates`.
   */
  suggestContinueAsNewUpdates?: number;
  /** Events of a history at which the run is terminated. Default: 51,200. */
  historyEvents?: number;
}

/** Options of `EmbeddedEngine.open`. */
export interface EmbeddedEngineOptions {
  /** The SQLite file, created if missing. Required without `store`. */
  path?: string;
  /** The caller's store; the engine does not close it. Required without `path`. */
  store?: Store;
  /**
   * For `path`. FULL: acknowledged writes survive power loss. NORMAL: they survive a crash of the
   * process. Default: FULL.
   */
  synchronous?: Synchronous;
  /** For `path`. Default: the first SQLite library that is installed. */
  driver?: DriverName;
  /**
   * For `path`: the engine closes again soon, so other processes that open the store wait for it.
   */
  visit?: boolean;
  /** Default: "default". */
  namespace?: string;
  /** The source of time. Default: the wall clock, which never goes back while the engine lives. */
  clock?: Clock;
  limits?: EngineLimits;
  /**
   * For tests. "manual": timers of workflows fire only by `fireTimer`; timeouts and retries are
   * unaffected. Default: "due".
   */
  timers?: "due" | "manual";
  /**
   * Workers run outside this process and outlive it, so tasks dispatched before a restart may still
   * complete. Default: false: the workers died with the process, and their tasks are dispatched
   * again at once.
   */
  remoteWorkers?: boolean;
  /**
   * Functions that workflows run by `transact`, in the transaction that commits their task: an
   * object or a module. Requires a SQLite store.
   */
  reducers?: ReducerTable;
  /**
   * Functions that clients run by name (`client.call`), also from other processes, each in a
   * transaction: an object or a module.
   */
  functions?: FunctionTable;
  /** @internal Makes the calls of Nexus operations. Default: operations are rejected. */
  nexus?: NexusHost;
  /** @internal Schedules take no actions. */
  isReadOnly?: boolean;
  /** @internal Runs the reducers instead of `reducers`. */
  reducing?: ReducerRunner;
  /** @internal Creates the `workflows` of a transaction, for reducers and transactions. */
  workflows?: WorkflowsFactory;
  /** Migrations of the application's tables in the store's file; each is applied once, in order. */
  migrations?: readonly TableMigration[];
  /** Converts arguments and results of reducers and functions to payloads. Default: JSON. */
  converter?: PayloadConverter;
  /**
   * The codec of the workers, for arguments and results of reducers and functions. Requires `encodeSync` and
   * `decodeSync`. Default: none.
   */
  codec?: CodecOptions["codec"];
  /** As in the workers' options, for errors of reducers. Default: false. */
  encodeCommonAttributes?: CodecOptions["encodeCommonAttributes"];
  /** The core of the engine. Default: the one in the package, or the one set by `useCore`. */
  core?: EngineCore;
  /**
   * Called with failures that the engine survived (a failed commit, a replaced core). Default:
   * console.error.
   */
  onError?: (error: Error) => void;
  /**
   * Called with activity attempts that timed out and that no worker of this process has logged:
   * with `remoteWorkers` all, otherwise those that no worker had. Default: not called.
   */
  onActivityTimeout?: (timeout: ActivityTimeout) => void;
}

/** The current figures of an engine. */
export interface EngineStats {
  /** Runs that are not closed. */
  readonly openRuns: number;
  /** Runs kept in memory. */
  readonly cachedRuns: number;
  /** Calls without a response yet, including polls. */
  readonly waitingCalls: number;
  /** Workflow and activity tasks that wait for a worker. */
  readonly queuedTasks: number;
  /** Committed transactions since the opening. */
  readonly commits: number;
  /** When the engine acts next by itself, in ms since the epoch; 0: never. */
  readonly nextWakeMs: number;
}

/**
 * Returns a function that reports errors to a listener (default: console.error). A listener that
 * throws must not count as a failure of the core.
 */
export function containedReport(
  listener: (error: Error) => void = (error) => console.error(error),
): (error: Error) => void {
  return (error) => {
    try {
      listener(error);
    } catch {
      // The listener's own error.
    }
  };
}

/** Returns the figures of the core. */
export function figuresOf(
  { openRuns, cachedRuns, queuedTasks }: Pick<
    EngineStats,
    "openRuns" | "cachedRuns" | "queuedTasks"
  >,
): Pick<EngineStats, "openRuns" | "cachedRuns" | "queuedTasks"> {
  return { openRuns, cachedRuns, queuedTasks };
}

/** Returns the core's options; 0 selects the core's default limit. */
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
