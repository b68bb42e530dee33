// Targets of the jobs in an activation. A run finds the target of a job by the command's seq or the
// message's name, and primitives implement the targets. So the run does not depend on primitives; a
// new primitive needs an interface here only for a new kind of job.
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
  /** Handles FireTimer. */
  fired(): void;
}

export interface ActivityTarget {
  resolved(job: ResolveActivity): void;
}

/** A child that has not ended. */
export interface ChildTarget {
  /** Started in a shield: a cancellation of the workflow does not reach it. */
  readonly shielded: boolean;
  /** Its parent close policy terminates or cancels it when this run closes. */
  readonly endsWithParent: boolean;
  startResolved(job: ResolveChildWorkflowStart): void;
  resolved(job: ResolveChildWorkflow): void;
  /** Requests cancellation once; `cause` is in its failure. */
  cancel(reason: string, cause: unknown): void;
}

/** A Nexus operation that has not ended. */
export interface NexusTarget {
  /** Started in a shield: a cancellation of the workflow does not reach it. */
  readonly shielded: boolean;
  startResolved(job: ResolveNexusOperationStart): void;
  resolved(job: ResolveNexusOperation): void;
  /** Requests cancellation once; `cause` is in its failure. */
  cancel(cause: unknown): void;
}

/** A signal or cancel request to another workflow. */
export interface MessageTarget {
  /** `failure`: an encoded Failure, or empty. */
  resolved(failure: Uint8Array): void;
}

/** A reducer that the engine runs. */
export interface TransactTarget {
  resolved(job: ResolveTransact): void;
}

/** Waits for a signal by name. Registered until it has taken one or is canceled. */
export interface SignalWaiter {
  readonly message: MessageShape;
  /** Takes a signal. If the message's schema rejects it, it is logged and the wait continues. */
  deliver(signal: SignalItem): void;
}

/** The function of updateState: from the state to [result, new state]. */
export type StateChange<R> = (state: unknown) => readonly [R, unknown];

/** The active receive, as used by the run and its async handlers. */
export interface OpenReceive {
  /** It accepts no messages: stopped, timed out or canceled. */
  readonly isStopping: boolean;
  /** No handler runs, so the next message may be taken. */
  readonly isIdle: boolean;
  /** A message from outside can still wake it. */
  readonly canBeWoken: boolean;
  inspect(): ReceiveState;
  /** Its declared messages. */
  messages(): MessageShape[];
  handles(update: UpdateItem): boolean;
  updateNames(): string[];
  /** The oldest message that it can take now. */
  nextItem(): SignalItem | UpdateItem | undefined;
  /** It ends by `until`: rejected messages may go to what follows it. */
  readonly isMakingWay: boolean;
  /** Called when no message is left. Returns whether that changed the receive. */
  inboxDrained(): boolean;
  /** Called at the end of an activation, to evaluate `until`. Returns whether it ends. */
  activationDone(): boolean;
  /** Dispatches a message. Returns a promise if a validator has to be awaited. */
  dispatch(item: SignalItem | UpdateItem): void | Promise<void>;
  /**
   * Decides an update, and queues an accepted one. Returns a promise if a validator has to be
   * awaited.
   */
  accept(update: UpdateItem): void | Promise<void>;
  /** Called when the run ends while it is open. */
  abort(error: unknown): void;
  updateState<R>(fiber: Fiber, change: StateChange<R>): Promise<R>;
}
