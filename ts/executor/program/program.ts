// The seam between a realm's task loop and the programs that it runs. A Program makes one Activator per workflow run; the task loop
// feeds it activations one at a time, and between two of them nothing of the run moves. Native programs (native_program.ts) take jobs
// in the order of events; programs of the compat layer take Core's order. Both issue commands through `RunContext.run`.
import type { Activation, CommandKind, JobOrder } from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { PayloadConverter } from "../../converter/payload.ts";
import type { VersioningBehavior } from "./definition.ts";
import type { SinkPort } from "./sinks.ts";
import type { RunWatch } from "./line_probe.ts";
import type { RunShown } from "./run_shown.ts";
import type { RunSnapshot } from "./snapshot.ts";

/** What workflow code that runs under one name looks like to the task loop. */
export interface Program {
  /** How the core orders the jobs of an activation. */
  readonly jobOrder: JobOrder;
  /** Written into the completion's sdk_metadata. */
  readonly sdkName: string;
  /** Language flags that the program understands; a history with another one is refused. Native programs have none. */
  readonly knownLangFlags?: readonly number[];
  /** Those whose behaviour is on in live tasks, and which completions therefore record. */
  readonly usedLangFlags?: readonly number[];
  createActivator(context: RunContext): Activator;
}

/** The programs of an application, by workflow type. */
export interface ProgramTable {
  get(workflowType: string): Program | undefined;
  /** For the message about an unknown type. */
  names(): string[];
  /** `get` has a program for every type, also for those that have no name here. */
  readonly takesAnyType: boolean;
  /** Of the types that name one. */
  readonly versioningBehaviors: ReadonlyMap<string, VersioningBehavior>;
}

/** One workflow run in memory. */
export interface Activator {
  /**
   * Sets `current.run` for as long as it takes, applies the jobs of an activation, and resolves when the run is quiet; the commands it
   * caused have been issued by then. Rejects with the error that fails the workflow task.
   */
  activate(activation: Activation): Promise<void>;
  /** False or absent: a promise that was rejected with this and that nobody handled fails the workflow task. */
  ignoresRejection?(reason: unknown): boolean;
  /** The message for a promise that was rejected with this and that nothing handled. Absent: that of native programs. */
  rejectionMessage?(reason: unknown): string;
  /** What the run wants for its task that is no command; read once, when the task is done. */
  readonly wishes?: TaskWishes;
  /** What the completion of a task shows of the run. What was told once is not told again. */
  shown?(): RunShown;
  /** What the run shows to a debug session; never called inside an activation. Absent: nothing but its commands. */
  inspect?(): RunSnapshot | undefined;
  /**
   * The run leaves memory. Nothing is rejected: parked functions are dropped
   * (docs/dev/semantics/execution.md#eviction-drops).
   */
  dispose(): void;
}

/** What a run wants for its task beside its commands. */
export interface TaskWishes {
  /** In place of what the table of programs says of the type. */
  readonly versioningBehavior?: VersioningBehavior;
  /** Ids of activities that must not come back with the report that schedules them. */
  readonly notEager?: readonly string[];
}

/** The part of CoreRun that programs may use; everything else belongs to the task loop. */
export interface CommandPort {
  /** Queues a command; answers its seq (0 for kinds that have none). `groups`: bytes of EventGroups. */
  command(kind: CommandKind, attributes: Uint8Array, groups?: Uint8Array): number;
  cancel(kind: CommandKind, seq: number, groups?: Uint8Array): void;
  /** Code asked for a patch that the history does not have, and was told so: explanations want its line. */
  patchMissed?(patchId: string): void;
  /** Code has set a handler of an update, or handed one to a receive. */
  handlerSet?(name: string): void;
  /** Next number of the run's seeded generator, in [0, 1). */
  random(): number;
  randomBytes(length: number): Uint8Array;
}

/** What is recorded of the places that workflow code calls from: nothing, the user's line, or all lines of the user's. */
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
  /** Absent: the host has none, or the run is gone through once more and has called them already. */
  readonly sinks?: SinkPort | undefined;
  /** The run is replayed for a verdict and does nothing new, not even in its last task. */
  readonly onlyReplays?: boolean;
  /** The service runs reducers in the transaction that commits a task: transact may be used. */
  readonly runsReducers?: boolean;
  readonly namespace: string;
  readonly workflowType: string;
  readonly workflowId: string;
  readonly runId: string;
  /**
   * Primitives record where they were called (6 us each): debug sessions, and the second pass after a divergence. "stacks": all frames
   * of the user's, a line for each, for queries that ask where the code waits.
   */
  readonly callSites: CallSites;
  /** Version of this package, where the worker tells it. */
  readonly sdkVersion: string;
  /** The version of a deployment that the worker is, where it is one. */
  readonly workerVersion?: WorkerVersion | undefined;
  /** Debug sessions that know of lines: told of fibers, and of what wakes them. */
  readonly watch?: RunWatch | undefined;
  /** Log lines are wanted while the run replays, too: debug sessions. */
  readonly logsReplay?: boolean;
  /** Verdicts on updates of the open task, by protocol instance id, that validators gave already. */
  readonly verdicts?: ReadonlyMap<string, Verdict> | undefined;
}

/** What a validator said of an update: the encoded failure that rejects it, or nothing. */
export interface Verdict {
  readonly failure: Uint8Array | undefined;
}

/** The validator has had objects of the run in its hands: the task is gone through again, in a run made from history. */
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
  /** How serious it is. */
  readonly level: LogLevel;
  /** For people. */
  readonly message: string;
  /** For programs: plain data. */
  readonly fields: { readonly [key: string]: unknown };
  /** Workflow time, milliseconds since the epoch. */
  readonly timeMs: number;
  /** Type of the workflow that speaks, or that is spoken of. */
  readonly workflowType: string;
  /** Its id. */
  readonly workflowId: string;
  /** Its run. */
  readonly runId: string;
  /** Who speaks: workflow code, or the executor (warnings about it). */
  readonly source: "workflow" | "executor";
}

/** Where log lines go. Never called while a run replays, but for debug sessions. */
export interface LogSink {
  /** Takes one line. Must not throw. */
  write(entry: LogEntry): void;
}

/** Drops everything. */
export const silentLog: LogSink = { write: () => {} };
