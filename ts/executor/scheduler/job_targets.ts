// What the jobs of an activation reach: a run finds the target of a job by the command's seq or by
// the message's name, and the primitives implement the targets. So the run does not know the
// primitives, and a new one needs no line here unless the core sends it a job of a new kind.
import type {
  ResolveActivity,
  ResolveChildWorkflow,
  ResolveChildWorkflowStart,
  ResolveNexusOperation,
  ResolveNexusOperationStart,
  ResolveTransact,
} from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { MessageShape } from "../program/definition.ts";
import type { ReceiveState } from "../program/snapshot.ts";
import type { Fiber } from "./fiber.ts";
import type { SignalItem, UpdateItem } from "./inbox.ts";

export interface TimerTarget {
  /** FireTimer. */
  fired(): void;
}

export interface ActivityTarget {
  resolved(job: ResolveActivity): void;
}

/** A child that has not ended. */
export interface ChildTarget {
  /** It was started in a shield: a cancellation of the workflow does not reach it. */
  readonly shielded: boolean;
  /** Its parent close policy ends it, or asks it to, when this run closes. */
  readonly endsWithParent: boolean;
  startResolved(job: ResolveChildWorkflowStart): void;
  resolved(job: ResolveChildWorkflow): void;
  /** Asks it to cancel, once. `cause`: what its failure then says. */
  cancel(reason: string, cause: unknown): void;
}

/** A Nexus operation that has not ended. */
export interface NexusTarget {
  /** It was started in a shield: a cancellation of the workflow does not reach it. */
  readonly shielded: boolean;
  startResolved(job: ResolveNexusOperationStart): void;
  resolved(job: ResolveNexusOperation): void;
  /** Asks it to cancel, once. `cause`: what its failure then says. */
  cancel(cause: unknown): void;
}

/** A signal or a cancel request to another workflow. */
export interface MessageTarget {
  /** `failure`: bytes of a Failure, empty for none. */
  resolved(failure: Uint8Array): void;
}

/** A reducer that the engine runs. */
export interface TransactTarget {
  resolved(job: ResolveTransact): void;
}

/** Waits for a signal of one name. It is registered until it has taken one, or has given up. */
export interface SignalWaiter {
  readonly message: MessageShape;
  /** Takes a signal. One whose arguments the message's schema refuses is logged, and the wait goes on. */
  deliver(signal: SignalItem): void;
}

/** What updateState runs: from the state to [result, new state]. */
export type StateChange<R> = (state: unknown) => readonly [R, unknown];

/** The active receive, as the run and its async handlers see it. */
export interface OpenReceive {
  /** It takes no new messages: it was stopped, timed out or cancelled. */
  readonly isStopping: boolean;
  /** No handler runs, so the next message may be taken. */
  readonly isIdle: boolean;
  /** A message from outside could still wake it. */
  readonly canBeWoken: boolean;
  inspect(): ReceiveState;
  /** What it takes, as declared. */
  messages(): MessageShape[];
  handles(update: UpdateItem): boolean;
  updateNames(): string[];
  /** The oldest message that it would take now. */
  nextItem(): SignalItem | UpdateItem | undefined;
  /** It takes nothing more because its `until` holds: what comes after it may take what it rejects. */
  readonly isMakingWay: boolean;
  /** Nothing is left to dispatch. Returns whether that changed something. */
  inboxDrained(): boolean;
  /** All that an activation brought has been taken: the moment of `until` may have come. Returns whether it ends here. */
  activationDone(): boolean;
  /** Takes a message. Returns a promise when a validator has to be waited for. */
  dispatch(item: SignalItem | UpdateItem): void | Promise<void>;
  /** Decides an update, and queues an accepted one. Returns a promise when a validator has to be waited for. */
  accept(update: UpdateItem): void | Promise<void>;
  /** The run ends while it is open. */
  abort(error: unknown): void;
  updateState<R>(fiber: Fiber, change: StateChange<R>): Promise<R>;
}
