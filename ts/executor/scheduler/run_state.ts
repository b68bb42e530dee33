// A native run as its fibers, primitives and jobs use it. `run/native_run.ts` implements it. The
// interface is in this folder so that primitives import only lower layers.
import type { CommandKind } from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { CancelledFailure, TemporalFailure } from "../../converter/failures.ts";
import type { PayloadConverter } from "../../converter/payload.ts";
import type { RunClock } from "../program/current.ts";
import type { ContinueAsNewShape, DefinitionShape } from "../program/definition.ts";
import type { WorkflowTaskError } from "../program/errors.ts";
import type { Caller } from "../program/local_calls.ts";
import type { CommandPort, RunContext } from "../program/program.ts";
import type { Cancellation } from "./cancellation.ts";
import type { Awaiter, Fiber, Work } from "./fiber.ts";
import type { StartHeaders } from "./headers.ts";
import type { Inbox, Queue } from "./inbox.ts";
import type { RunInfo } from "./info.ts";
import type {
  ActivityTarget,
  ChildTarget,
  MessageTarget,
  NexusTarget,
  OpenReceive,
  SignalWaiter,
  TimerTarget,
  TransactTarget,
} from "./job_targets.ts";
import type { LazyMap } from "./lazy_map.ts";
import type { RunLog } from "./log.ts";
import type { MarkerTable } from "./marker_table.ts";
import type { PublishedState } from "./published_state.ts";
import type { AnsweredUpdates } from "./update_dedup.ts";

/** How the run function ended. */
export type RunEnd =
  | { readonly kind: "completed"; readonly value: unknown }
  | { readonly kind: "continued"; readonly next: ContinueAsNewShape }
  | { readonly kind: "failed"; readonly error: unknown }
  | { readonly kind: "cancelled"; readonly error: unknown };

export interface RunState extends RunClock {
  readonly definition: DefinitionShape;
  readonly context: RunContext;
  readonly port: CommandPort;
  /** Converter for values of commands. Failures and query results use that of the context. */
  readonly converter: PayloadConverter;
  readonly log: RunLog;

  // The scheduler's.

  /** Due work, in order. */
  readonly ready: Queue<Work>;
  /** Pending awaiters, in order of creation. */
  readonly pending: Set<Awaiter<unknown>>;
  /** Running fibers, in order of creation. */
  readonly fibers: Set<Fiber>;
  /** Reasons of rejections caused by the end of a scope: they need no handler. */
  readonly scopeReasons: WeakSet<object>;

  /** Caller of calls outside handlers. */
  readonly caller: Caller;

  // Targets of jobs, by the seq of the command.

  readonly timers: LazyMap<number, TimerTarget>;
  readonly activities: LazyMap<number, ActivityTarget>;
  readonly localActivities: LazyMap<number, ActivityTarget>;
  /** Running children, in order of their starts. */
  readonly children: LazyMap<number, ChildTarget>;
  /** Running Nexus operations, in order of their calls. */
  readonly nexusOperations: LazyMap<number, NexusTarget>;
  readonly externalSignals: LazyMap<number, MessageTarget>;
  readonly externalCancels: LazyMap<number, MessageTarget>;
  readonly transacts: LazyMap<number, TransactTarget>;

  // Messages.

  readonly inbox: Inbox;
  /** The latest completed updates of this run and earlier ones. */
  readonly answered: AnsweredUpdates;
  /** Waiters for a signal (waitForSignal, arms of select), by name, oldest first. */
  readonly waiters: LazyMap<string, SignalWaiter[]>;
  /** At most one receive is active. */
  receive: OpenReceive | undefined;
  /** While a validator runs: errors that reject its update, whatever it returns. */
  refusals: Error[] | undefined;

  // State of the run.

  readonly markers: MarkerTable;
  readonly published: PublishedState;
  /** Number of passed awaits of primitives. */
  passed: number;
  /** The last value of setCurrentDetails. */
  details: string;
  readonly info: RunInfo | undefined;
  /** The service suggests to continue as new, as of this task. */
  readonly continueAsNewSuggested: boolean;
  readonly headers: StartHeaders;
  cancellation: Cancellation | undefined;
  /** The user's line that called continueAsNew ("" if unknown); undefined: not called. */
  continuedAt: string | undefined;
  /** How the run function ended; nothing is resumed afterwards. */
  end: RunEnd | undefined;

  /** Issues a command and returns its seq. An error of the core fails the task. */
  issue(kind: CommandKind, attributes: Uint8Array): number;
  /** Ends the run as failed with this error; its code is not resumed. No-op if it has ended. */
  endWith(error: TemporalFailure): void;
  /** Fails the open workflow task with the first error; workflow code cannot undo it. */
  fail(error: Error): void;
  /** Like `fail`, and throws the error to the calling workflow code. */
  misuse(error: WorkflowTaskError): never;
  /** The failure of a primitive called in an ended scope; it ends the calling code silently. */
  scopeEnded(fiber: Fiber, api: string): CancelledFailure;
  /** A fiber of this run was resumed outside its turns, by a host callback. */
  wokenOutside(fiber: Fiber, error: unknown): void;
  /** A wait of workflow code rejects with this reason. */
  rejectionDelivered(reason: unknown): void;
}
