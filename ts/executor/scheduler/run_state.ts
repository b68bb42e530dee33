// A native run as its fibers, primitives and jobs see it: what is queued, what waits, what has arrived,
// and the few things that all of them do to it. `run/native_run.ts` implements it. It stands here, on
// the floor of the fibers, so that primitives import what is below them alone.
import type { CommandKind } from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { CancelledFailure } from "../../converter/failures.ts";
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
  /** For values of commands. Failures and results of queries are encoded with the context's. */
  readonly converter: PayloadConverter;
  readonly log: RunLog;

  // The scheduler's.

  /** Work that is due, in order. */
  readonly ready: Queue<Work>;
  /** Awaiters that nothing has settled yet, in order of creation. */
  readonly pending: Set<Awaiter<unknown>>;
  /** Fibers that have not ended, in order of creation. */
  readonly fibers: Set<Fiber>;
  /** Reasons of rejections that the end of a scope caused: they need no handler. */
  readonly scopeReasons: WeakSet<object>;

  /** Of calls that no handler makes. */
  readonly caller: Caller;

  // What jobs reach, by the seq of the command.

  readonly timers: LazyMap<number, TimerTarget>;
  readonly activities: LazyMap<number, ActivityTarget>;
  readonly localActivities: LazyMap<number, ActivityTarget>;
  /** Children that have not ended, in order of their starts. */
  readonly children: LazyMap<number, ChildTarget>;
  /** Nexus operations that have not ended, in order of their calls. */
  readonly nexusOperations: LazyMap<number, NexusTarget>;
  readonly externalSignals: LazyMap<number, MessageTarget>;
  readonly externalCancels: LazyMap<number, MessageTarget>;
  readonly transacts: LazyMap<number, TransactTarget>;

  // Messages.

  readonly inbox: Inbox;
  /** The newest updates that this run and those before it have answered. */
  readonly answered: AnsweredUpdates;
  /** Waiters for a signal (waitForSignal, arms of select), by name, oldest first. */
  readonly waiters: LazyMap<string, SignalWaiter[]>;
  /** At most one receive is active. */
  receive: OpenReceive | undefined;
  /** While a validator runs: what its update is rejected with, whatever it returns. */
  refusals: Error[] | undefined;

  // What the run remembers.

  readonly markers: MarkerTable;
  readonly published: PublishedState;
  /** How many awaits of primitives have been passed. */
  passed: number;
  /** What setCurrentDetails was given last. */
  details: string;
  readonly info: RunInfo | undefined;
  /** The service finds the history long enough, as of this task. */
  readonly continueAsNewSuggested: boolean;
  readonly headers: StartHeaders;
  cancellation: Cancellation | undefined;
  /** The user's line that called continueAsNew ("" where it is not known); undefined: none did. */
  continuedAt: string | undefined;
  /** How the run function ended; then nothing more is resumed. */
  end: RunEnd | undefined;

  /** Issues a command and returns its seq. What the core refuses fails the task. */
  issue(kind: CommandKind, attributes: Uint8Array): number;
  /** Fails the open workflow task with the first error given; nothing that workflow code catches can undo it. */
  fail(error: Error): void;
  /** As `fail`, and throws the error to the caller in workflow code. */
  misuse(error: WorkflowTaskError): never;
  /** The failure for a primitive that code of an ended scope calls; it ends that code quietly. */
  scopeEnded(fiber: Fiber, api: string): CancelledFailure;
  /** A fiber of this run moved while none of its turns was active: a host callback woke it. */
  wokenOutside(fiber: Fiber, error: unknown): void;
  /** A wait of workflow code rejects with this reason. */
  rejectionDelivered(reason: unknown): void;
}
