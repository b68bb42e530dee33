// The interface between a realm's task loop and its programs. A Program creates one Activator per
// workflow run; the task loop passes activations one at a time, and the run is idle between them.
// Native programs (native_program.ts) get jobs in order of events, those of the compat layer in
// Core's order. Both issue commands through `RunContext.run`.
import type { MessageKind } from "./definition_sites.ts";
import type {
  Activation,
  CommandKind,
  JobOrder,
} from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { PayloadConverter } from "../../converter/payload.ts";
import type { VersioningBehavior } from "./definition.ts";
import type { SinkPort } from "./sinks.ts";
import type { RunWatch } from "./line_probe.ts";
import type { RunShown } from "./run_shown.ts";
import type { RunSnapshot } from "./snapshot.ts";

/** Workflow code of one type, as the task loop uses it. */
export interface Program {
  /** Order of the jobs in an activation. */
  readonly jobOrder: JobOrder;
  /** Written into the completion's sdk_metadata. */
  readonly sdkName: string;
  /**
   * Supported language flags; a history with another one is rejected. Native programs have none.
   */
  readonly knownLangFlags?: readonly number[];
  /** Flags that are active in live tasks; completions record them. */
  readonly usedLangFlags?: readonly number[];
  /**
   * A call of a local activity that is not registered fails with {@link unregisteredLocalFailure}.
   * Default: the workflow task fails and is retried, so that a worker that has the activity can
   * continue the run.
   */
  readonly throwsUnregisteredLocal?: boolean;
  createActivator(context: RunContext): Activator;
}

/** The programs of an application, by workflow type. */
export interface ProgramTable {
  get(workflowType: string): Program | undefined;
  /** For messages about an unknown type. */
  names(): string[];
  /** `get` returns a program for every type, also for unnamed ones. */
  readonly takesAnyType: boolean;
  /** Of the types that declare one. */
  readonly versioningBehaviors: ReadonlyMap<string, VersioningBehavior>;
}

/** One workflow run in memory. */
export interface Activator {
  /**
   * Sets `current.run`, applies the jobs of an activation, and resolves when the run is idle and
   * its commands are issued. Rejects with the error that fails the workflow task.
   */
  activate(activation: Activation): Promise<void>;
  /** Whether an unhandled rejection is ignored. False or absent: it fails the workflow task. */
  ignoresRejection?(reason: unknown): boolean;
  /** The error message for an unhandled rejection. Absent: that of native programs. */
  rejectionMessage?(reason: unknown): string;
  /** Options of the task apart from its commands; read once, at the end of the task. */
  readonly wishes?: TaskWishes;
  /** What the completion shows of the run; unchanged parts are omitted. */
  shown?(): RunShown;
  /**
   * The run's snapshot for debug sessions; not called during an activation. Absent: only commands.
   */
  inspect?(): RunSnapshot | undefined;
  /**
   * Evicts the run. Nothing is rejected: parked functions are dropped
   * (docs/dev/semantics/execution.md#eviction-drops).
   */
  dispose(): void;
}

/** Options of a workflow task, apart from its commands. */
export interface TaskWishes {
  /** Overrides the behavior in the table of programs. */
  readonly versioningBehavior?: VersioningBehavior;
  /** Ids of activities that must not be returned with the report that schedules them. */
  readonly notEager?: readonly string[];
}

/** The part of CoreRun that programs may use; the rest belongs to the task loop. */
export interface CommandPort {
  /** Queues a command; returns its seq (0 for kinds without seq). `groups`: encoded EventGroups. */
  command(kind: CommandKind, attributes: Uint8Array, groups?: Uint8Array): number;
  cancel(kind: CommandKind, seq: number, groups?: Uint8Array): void;
  /**
   * Called when `patched` returned false because history lacks the patch; divergence reports use
   * its line.
   */
  patchMissed?(patchId: string): void;
  /** Called when code runs a side effect that history lacks; divergence reports use its line. */
  sideEffectMissed?(id: number): void;
  /**
   * Called when a branch of `parallel` ends with an error; divergence reports name programming
   * errors.
   */
  branchFailed?(branch: string, error: unknown): void;
  /**
   * Called when a handler ends with an error that does not fail the task: its update fails, or its
   * signal is logged. `updateId`: the protocol instance id; undefined for a signal.
   */
  handlerFailed?(handler: string, error: unknown, updateId: string | undefined): void;
  /** Called when code sets a handler, passes one to a receive or select, or waits for a signal. */
  handlerSet?(kind: MessageKind, name: string): void;
  /** Next number of the run's seeded generator, in [0, 1). */
  random(): number;
  randomBytes(length: number): Uint8Array;
}

/** Recorded call sites: none, the user's line, or all user frames ("stacks"). */
export type CallSites = boolean | "stacks";

/** A version of a deployment. */
export interface WorkerVersion {
  readonly deploymentName: string;
  readonly buildId: string;
}

export interface RunContext {
  readonly run: CommandPort;
  readonly converter: PayloadConverter;
  readonly log: LogSink;
  /**
   * Absent: the host has none, or the run is replayed a second time and has called them already.
   */
  readonly sinks?: SinkPort | undefined;
  /** The run is replayed for a verdict and issues nothing new, not even in its last task. */
  readonly onlyReplays?: boolean;
  /** The service runs reducers in the transaction that commits a task: transact may be used. */
  readonly runsReducers?: boolean;
  /** Names of error classes that fail a run of `@temporalio/workflow` instead of its task. */
  readonly failureErrorTypes?: readonly string[];
  readonly namespace: string;
  readonly workflowType: string;
  readonly workflowId: string;
  readonly runId: string;
  /**
   * Primitives record their call sites (6 us each): debug sessions, and the second pass after a
   * divergence. "stacks": all user frames, one per line, for queries of the wait positions.
   */
  readonly callSites: CallSites;
  /** Version of this package; "" if unknown. */
  readonly sdkVersion: string;
  /** The worker's deployment version, if it has one. */
  readonly workerVersion?: WorkerVersion | undefined;
  /** Debug sessions with lines: notified of fibers, and what wakes them. */
  readonly watch?: RunWatch | undefined;
  /** Debug sessions: log lines are written during replay, too. */
  readonly logsReplay?: boolean;
  /** Existing verdicts on updates of the open task, by protocol instance id. */
  readonly verdicts?: ReadonlyMap<string, Verdict> | undefined;
}

/** A validator's result: the encoded failure that rejects the update, or undefined. */
export interface Verdict {
  readonly failure: Uint8Array | undefined;
}

/**
 * The validator had access to objects of the run: the task runs again in a run rebuilt from
 * history.
 */
export class ValidatedApart extends Error {
  override name = "ValidatedApart";
  readonly protocolInstanceId: string;
  readonly verdict: Verdict;

  constructor(protocolInstanceId: string, verdict: Verdict) {
    super("the validator had objects of the run in its hands");
    this.protocolInstanceId = protocolInstanceId;
    this.verdict = verdict;
  }
}

export type LogLevel = "debug" | "info" | "warn" | "error";

/** One line of a workflow's log. `fields` is plain data. */
export interface LogEntry {
  /** Level of the line. */
  readonly level: LogLevel;
  /** Text of the line. */
  readonly message: string;
  /** Structured data, as plain values. */
  readonly fields: { readonly [key: string]: unknown };
  /** Workflow time, milliseconds since the epoch. */
  readonly timeMs: number;
  /** Type of the workflow that wrote the line, or that it is about. */
  readonly workflowType: string;
  readonly workflowId: string;
  readonly runId: string;
  /** Workflow code, or the executor (warnings about workflow code). */
  readonly source: "workflow" | "executor";
}

/** Receives log lines. Not called during replay, except in debug sessions. */
export interface LogSink {
  /** Writes one line. Must not throw. */
  write(entry: LogEntry): void;
}

/** Drops all lines. */
export const silentLog: LogSink = { write: () => {} };
