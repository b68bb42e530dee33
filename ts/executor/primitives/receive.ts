// receive: a message loop as a structured scope. It owns the reducer state and dispatches one
// message at a time to handlers that may block; async handlers run concurrently. It ends by stop or
// timeout, after all handlers have finished. An update is in flight from its acceptance on. Rules:
// docs/dev/semantics/messages.md.
import {
  type CancelledFailure,
  isCancellation,
  TemporalFailure,
} from "../../converter/failures.ts";
import { namingWhat } from "../../converter/lossy_value.ts";
import { decodeArgs, InvalidArguments } from "./arguments.ts";
import {
  type HandlerErrors,
  type HandlerResult,
  type HandlerShape,
  isHandlerResult,
  type MessageShape,
} from "../program/definition.ts";
import { wire, type WirePayload } from "../program/encode.ts";
import { Caller } from "../program/local_calls.ts";
import { isTaskError, MisuseError, NestingError, taskErrorOf } from "../program/errors.ts";
import { Queue, type SignalItem, type UpdateItem } from "../scheduler/inbox.ts";
import type { RunState } from "../scheduler/run_state.ts";
import { LazySet } from "../scheduler/lazy_map.ts";
import { stackText } from "../../converter/stack.ts";
import { throwsHiddenText } from "../../converter/failure_converter.ts";
import { isA, messageOf, nameOf } from "../../converter/thrown.ts";
import { current, inClosure } from "../program/current.ts";
import type { ReceiveState } from "../program/snapshot.ts";
import { ReceiveAwaiter, StateAwaiter } from "./receive_awaiters.ts";
import type { OpenReceive, StateChange } from "../scheduler/job_targets.ts";
import { Fiber, rejected } from "../scheduler/fiber.ts";
import { InnerTimer } from "./timers.ts";
import { type Outcome, startFiber } from "../scheduler/turns.ts";
import { addPartial } from "./partial_results.ts";
import { acceptUpdate, completeUpdate, failUpdate, rejectWith } from "./updates.ts";
import type { Until } from "./receive_until.ts";
import { updateStateInFiber } from "./update_state.ts";
import { judge } from "./validators.ts";

type Item = SignalItem | UpdateItem;

const nothing = () => {};

/** An accepted update with the arguments of its handler. */
interface Accepted {
  readonly update: UpdateItem;
  readonly handler: HandlerShape;
  readonly args: unknown[];
}

export class ReceiveScope implements OpenReceive {
  readonly run: RunState;
  readonly fiber: Fiber;
  readonly awaiter: ReceiveAwaiter;
  #state: unknown;
  readonly #signals: Map<string, HandlerShape> = new Map();
  readonly #updates: Map<string, HandlerShape> = new Map();
  readonly #errors: HandlerErrors;
  /**
   * The running sync handler, which owns the reducer
   * (docs/dev/semantics/messages.md#one-sync-handler-at-a-time).
   */
  #handling: Fiber | undefined;
  #asyncs = 0;
  /**
   * Accepted while a handler was running, in order
   * (docs/dev/semantics/messages.md#every-update-is-decided-in-its-own-task).
   */
  readonly #accepted: Queue<Accepted> = new Queue();
  /** Accepted and not completed yet, in order of acceptance. */
  readonly #unanswered: LazySet<UpdateItem> = new LazySet();
  /** updateState calls that wait for the running handler, in order. */
  readonly #changes: StateAwaiter<unknown>[] = [];
  #stopping: "stop" | "timeout" | "until" | "cancel" | undefined;
  #cancelReason: CancelledFailure | undefined;
  /** Caller of the handler that stopped it: code after the receive follows this message. */
  #stoppedBy: Caller | undefined;
  #timer: InnerTimer | undefined;
  readonly #until: Until | undefined;
  /** The receive has a timeout, so its result includes how it ended. */
  readonly #timed: boolean;
  /** A cancellation of the workflow is returned with the state, not thrown. */
  readonly #returnsOnCancel: boolean;
  /**
   * With timeout 0: only messages that arrived before this number are dispatched
   * (docs/dev/semantics/messages.md#timeouts).
   */
  readonly #limit: number;

  constructor(
    fiber: Fiber,
    state: unknown,
    handlers: readonly HandlerShape[],
    options: {
      timeoutMs: number | undefined;
      handlerErrors: HandlerErrors;
      until: Until | undefined;
      returnsOnCancel: boolean;
    },
  ) {
    this.run = fiber.run;
    this.fiber = fiber;
    this.state = state;
    this.#errors = options.handlerErrors;
    this.#until = options.until;
    this.#timed = options.timeoutMs !== undefined;
    this.#returnsOnCancel = options.returnsOnCancel;
    for (const handler of handlers) {
      if (handler?.source !== "signal" && handler?.source !== "update") {
        this.run.misuse(
          new MisuseError(
            "receive accepts on(signal, ...) and on(update, ...); use select for timers, functions and promises, and { timeout } for a time limit",
          ),
        );
      }
      const { kind, name } = handler.message;
      const table = kind === "signal" ? this.#signals : this.#updates;
      if (table.has(name)) {
        this.run.misuse(new MisuseError(`receive has two handlers for ${kind} "${name}"`));
      }
      table.set(name, handler);
    }
    this.#limit = options.timeoutMs === 0 ? this.run.inbox.next : Infinity;
    if (options.timeoutMs !== undefined && options.timeoutMs > 0) {
      this.#timer = new InnerTimer(fiber, options.timeoutMs, undefined, {
        waitsFor: "receiveTimeout",
        describe: () => "timeout of receive",
        fired: () => this.#timeUp(),
      });
    }
    this.awaiter = new ReceiveAwaiter(fiber, this);
    this.run.receive = this;
  }

  get state(): unknown {
    return this.#state;
  }

  set state(state: unknown) {
    this.#state = state;
    this.run.context.watch?.stateSet(state);
  }

  get isStopping(): boolean {
    return this.#stopping !== undefined;
  }

  get isMakingWay(): boolean {
    return this.#stopping === "until";
  }

  /** No handler runs, so the next message may be taken. */
  get isIdle(): boolean {
    return this.#handling === undefined;
  }

  /** A message from outside can still wake it. */
  get canBeWoken(): boolean {
    return this.isIdle && !this.isStopping;
  }

  /** For debug sessions. */
  inspect(): ReceiveState {
    const { isStopping: stopping, run } = this;
    const handling = [...run.fibers].filter(({ kind, parent, receive }) =>
      (kind === "handler" && parent === this.fiber) || (kind === "async" && receive === this)
    );
    return {
      signals: stopping ? [] : [...this.#signals.keys()],
      updates: stopping ? [] : this.updateNames(),
      stopping,
      handling: handling.map((fiber) => fiber.label),
    };
  }

  /** Its messages as declared; empty while it is stopping. */
  messages(): MessageShape[] {
    return this.isStopping
      ? []
      : [...this.#signals.values(), ...this.#updates.values()].map(({ message }) => message);
  }

  handles(update: UpdateItem): boolean {
    return this.#updates.has(update.name) && update.order < this.#limit;
  }

  updateNames(): string[] {
    return [...this.#updates.keys()];
  }

  /**
   * The oldest message that it can take now; while stopping only updates that were accepted before
   * (docs/dev/semantics/messages.md#accepted-updates-are-finished).
   */
  nextItem(): Item | undefined {
    let oldest: Item | undefined = this.#accepted.peek()?.update;
    const { inbox } = this.run;
    if (this.isStopping || inbox.isEmpty) return oldest;
    for (const name of this.#signals.keys()) {
      const signal = inbox.peekSignal(name);
      if (
        signal !== undefined && signal.order < this.#limit &&
        (oldest === undefined || signal.order < oldest.order)
      ) {
        oldest = signal;
      }
    }
    for (const update of inbox.undecided) {
      if (oldest !== undefined && oldest.order < update.order) break;
      if (this.handles(update)) return update;
    }
    return oldest;
  }

  /** Called when no message is left: with timeout 0 the time is up. */
  inboxDrained(): boolean {
    if (this.#limit === Infinity || this.isStopping) return false;
    this.#timeUp();
    return true;
  }

  activationDone(): boolean {
    if (
      this.isStopping || this.#handling !== undefined || this.#asyncs > 0 ||
      this.#accepted.length > 0
    ) return false;
    if (this.#until?.isOver(this.state) !== true) return false;
    this.#makeWay();
    return true;
  }

  /** Dispatches the next message. Returns a promise if it has to wait for a validator. */
  dispatch(item: Item): void | Promise<void> {
    if (item.kind === "signal") return this.#dispatchSignal(item);
    if (this.#accepted.peek()?.update === item) return this.#handleNext();
    return this.accept(item);
  }

  #handleNext(): void {
    const { handler, args, update } = this.#accepted.shift()!;
    this.run.context.watch?.about(update.input);
    this.#handle(handler, args, Caller.ofUpdate(update.id), update);
  }

  #dispatchSignal(signal: SignalItem): void {
    this.run.inbox.takeSignal(signal.name);
    const handler = this.#signals.get(signal.name)!;
    let args: unknown[];
    try {
      args = decodeArgs(this.run, handler.message, signal.input);
    } catch (e) {
      if (!(e instanceof InvalidArguments)) throw e;
      this.#signalFailed(signal.name, e);
      return;
    }
    this.run.context.watch?.about(signal.input);
    this.#handle(handler, args, Caller.ofSignal(signal), undefined, signal.name);
  }

  /**
   * Validates an update (not on replay), then rejects it, or accepts and queues it. A promise for a
   * validator.
   */
  accept(update: UpdateItem): void | Promise<void> {
    const handler = this.#updates.get(update.name)!;
    const { run } = this;
    run.inbox.undecided.delete(update);
    let args: unknown[];
    try {
      args = this.#argsOf(handler, update);
    } catch (e) {
      // A replayed update was accepted: its handler must run.
      if (!update.runValidator && isTaskError(e)) throw e;
      return this.#rejectApart(update, e);
    }
    // No user code ran, so nothing has to be awaited.
    if (
      !update.runValidator || (handler.validate === undefined && handler.message.args === undefined)
    ) {
      return this.#accept(update, handler, args);
    }
    return judge(run, update, handler.validate ?? nothing, args, this.state).then(({ failure }) => {
      if (failure === undefined) this.#accept(update, handler, args);
      else rejectWith(run, update, failure);
    });
  }

  /** The error may come from user code in a schema, so it is encoded like a validator's error. */
  async #rejectApart(update: UpdateItem, error: unknown): Promise<void> {
    const refuse = () => {
      throw error;
    };
    const { failure } = await judge(this.run, update, refuse, [], undefined);
    rejectWith(this.run, update, failure!);
  }

  #accept(update: UpdateItem, handler: HandlerShape, args: unknown[]): void {
    acceptUpdate(this.run, update);
    this.#accepted.push({ update, handler, args });
    this.#unanswered.add(update);
  }

  #argsOf(handler: HandlerShape, update: UpdateItem): unknown[] {
    const { run } = this;
    // A rejected update is absent on replay, so decoding it must not change the run.
    if (update.runValidator) {
      return inClosure("schema", () => decodeArgs(run, handler.message, update.input));
    }
    try {
      return decodeArgs(run, handler.message, update.input);
    } catch (e) {
      // Accepted with another schema: the handler gets the arguments as sent.
      if (!(e instanceof InvalidArguments)) throw e;
      return decodeArgs(run, { ...handler.message, args: undefined }, update.input);
    }
  }

  /**
   * Whether other messages are in flight or waiting. Undecided updates do not count: replay lacks
   * some.
   */
  get #overlaps(): boolean {
    return this.#asyncs > 0 || this.#accepted.length > 0 || this.run.inbox.hasSignals;
  }

  #handle(
    handler: HandlerShape,
    args: unknown[],
    caller: Caller,
    update: UpdateItem | undefined,
    signal?: string,
  ): void {
    const { kind, name } = handler.message;
    const fiber = new Fiber(this.run, "handler", `handler of ${kind} "${name}"`, this.fiber, {
      caller,
    });
    this.#handling = fiber;
    if (!this.isStopping && this.#until?.isLast(this.state, this.#overlaps) === true) {
      this.#makeWay();
    }
    startFiber(fiber, () => handler.handle(args, this.state), (outcome) => {
      if (this.run.end !== undefined) return;
      this.#handling = undefined;
      this.#handled(fiber, outcome, update, signal ?? name);
      this.#applyChanges();
      this.#until?.changed();
      this.#finishIfDone();
    });
  }

  #handled(
    fiber: Fiber,
    outcome: Outcome<unknown>,
    update: UpdateItem | undefined,
    name: string,
  ): void {
    if (!outcome.ok) return this.#failed(fiber, outcome.error, update, name);
    const result = outcome.value;
    const wanted = update === undefined
      ? ["noreply", "stop", "async"]
      : ["reply", "stopReply", "async"];
    if (!isHandlerResult(result) || !wanted.includes(result.kind)) {
      return this.run.fail(
        new MisuseError(
          `${fiber.label} returned ${
            isHandlerResult(result) ? `a ${result.kind}` : "a value that is not a handler result"
          }; ` +
            (update === undefined
              ? "return noreply(state), stop(state) or spawnAsync(fn, state)"
              : "return reply(response, state), stop(state, response) or spawnAsync(fn, state)"),
        ),
      );
    }
    if (result.kind === "async") return this.#spawn(fiber, result, update, name);
    if (update !== undefined && !this.#complete(fiber, update, result.response)) return;
    this.state = result.state;
    if (result.kind === "stop" || result.kind === "stopReply") this.#stop(fiber.caller);
  }

  /**
   * Stores the state first, then starts the async handler
   * (docs/dev/semantics/messages.md#spawnasync-stores-the-state-first).
   */
  #spawn(
    handler: Fiber,
    result: HandlerResult,
    update: UpdateItem | undefined,
    name: string,
  ): void {
    this.state = result.state;
    this.run.context.watch?.about(handler);
    this.#asyncs++;
    const kind = update === undefined ? "signal" : "update";
    const { caller } = handler;
    const fiber = new Fiber(this.run, "async", `async handler of ${kind} "${name}"`, this.fiber, {
      receive: this,
      caller,
    });
    startFiber(fiber, () => result.fn!(updateStateInFiber), (outcome) => {
      if (this.run.end !== undefined) return;
      this.#asyncs--;
      if (outcome.ok && isHandlerResult(outcome.value)) {
        this.run.fail(
          new NestingError(
            `${fiber.label} returned a ${outcome.value.kind} result; only the handler itself can return it, ` +
              `return the update's response from an async handler and change the state with updateState`,
          ),
        );
      } else if (!outcome.ok) this.#failed(fiber, outcome.error, update, name);
      else if (update !== undefined) this.#complete(fiber, update, outcome.value);
      this.#until?.changed();
      this.#finishIfDone();
    });
  }

  /** Completes an update. A response that cannot be encoded is an error of its handler. */
  #complete(fiber: Fiber, update: UpdateItem, response: unknown): boolean {
    let payload: WirePayload;
    try {
      payload = wire(
        namingWhat(
          `the response to update "${update.name}"`,
          () => this.run.converter.toPayload(response),
        ),
      );
    } catch (e) {
      this.#failed(fiber, e, update, update.name);
      return false;
    }
    this.#unanswered.delete(update);
    completeUpdate(this.run, update, payload);
    return true;
  }

  /**
   * Fails an update or logs a signal; the state is unchanged and the loop continues. Task errors
   * are never caught (docs/dev/semantics/messages.md#a-handler-that-throws).
   */
  #failed(fiber: Fiber, error: unknown, update: UpdateItem | undefined, name: string): void {
    const { run } = this;
    if (isTaskError(error)) return run.fail(error);
    if (this.#errors === "failTask" && !(error instanceof TemporalFailure)) {
      return run.fail(taskErrorOf(error, fiber.label));
    }
    const isEnding = run.cancellation !== undefined && isCancellation(error);
    if (!isEnding) run.port.handlerFailed?.(fiber.label, error, update?.protocolInstanceId);
    if (update !== undefined) {
      this.#unanswered.delete(update);
      failUpdate(run, update, error);
    } else if (!isEnding) this.#signalFailed(name, error);
  }

  #signalFailed(name: string, error: unknown): void {
    this.run.log.error(`the handler of signal "${name}" failed`, {
      error: throwsHiddenText(error)
        ? nameOf(error as Error)
        : isA(error, Error)
        ? stackText(error)
        : messageOf(error),
    });
  }

  /**
   * Runs updateState now, or when the running sync handler has returned its state
   * (docs/dev/semantics/messages.md#one-sync-handler-at-a-time).
   */
  updateState<R>(fiber: Fiber, fn: StateChange<R>): Promise<R> {
    if (this.#handling !== undefined) {
      const awaiter = new StateAwaiter<R>(fiber, fn);
      this.#changes.push(awaiter as StateAwaiter<unknown>);
      return awaiter.promise;
    }
    try {
      return Promise.resolve(this.#change(fn));
    } catch (e) {
      return rejected(e);
    }
  }

  #change<R>(fn: StateChange<R>): R {
    const result: unknown = inClosure("updateState", () => fn(this.state));
    if (!Array.isArray(result) || result.length !== 2) {
      this.run.misuse(
        new MisuseError("the function of updateState must return [result, newState] synchronously"),
      );
    }
    this.state = result[1];
    return result[0] as R;
  }

  #applyChanges(): void {
    for (const awaiter of this.#changes.splice(0)) {
      if (!awaiter.isPending) continue;
      current.fiber = awaiter.fiber;
      try {
        awaiter.fulfil(this.#change(awaiter.fn));
      } catch (e) {
        awaiter.fail(e);
      } finally {
        current.fiber = undefined;
      }
    }
  }

  /**
   * A stop after the timeout, while handlers finish, gives the normal result
   * (docs/dev/semantics/messages.md#timeouts); a second stop has no effect
   * (docs/dev/semantics/messages.md#a-second-stop).
   */
  #stop(caller: Caller): void {
    if (this.#stopping !== "cancel") this.#stopping = "stop";
    this.#stoppedBy ??= caller;
    this.#timer?.cancel();
  }

  #timeUp(): void {
    this.#stopping ??= "timeout";
    this.#finishIfDone();
  }

  #makeWay(): void {
    this.#stopping = "until";
    this.#timer?.cancel();
    this.#finishIfDone();
  }

  /**
   * The workflow was canceled: takes no new messages; receive rejects after its handlers have
   * ended.
   */
  cancel(reason: CancelledFailure): void {
    if (this.#stopping === "cancel") return;
    this.#stopping = "cancel";
    this.#cancelReason = reason;
    this.#timer?.cancel();
    for (let next = this.#accepted.shift(); next !== undefined; next = this.#accepted.shift()) {
      this.#unanswered.delete(next.update);
      failUpdate(this.run, next.update, reason);
    }
    this.#finishIfDone();
  }

  /**
   * The run ends while the receive is open: accepted updates fail
   * (docs/dev/semantics/messages.md#the-run-ends-while-a-receive-is-open).
   */
  abort(error: unknown): void {
    for (const update of this.#unanswered) failUpdate(this.run, update, error);
    this.#unanswered.clear();
    this.#accepted.clear();
    this.run.receive = undefined;
  }

  #finishIfDone(): void {
    if (
      this.#stopping === undefined || this.#handling !== undefined || this.#asyncs > 0 ||
      this.#accepted.length > 0
    ) return;
    if (this.run.receive === this) this.run.receive = undefined;
    if (this.#stoppedBy !== undefined) this.fiber.caller = this.#stoppedBy;
    if (this.#stopping === "cancel") return this.#finishCanceled();
    const result = this.#result();
    this.awaiter.fulfil(this.#returnsOnCancel ? { canceled: false, result } : result);
  }

  #result(): unknown {
    const { state } = this;
    const timedOut = this.#stopping === "timeout";
    if (this.#until !== undefined) {
      return { timedOut, stopped: this.#stopping === "stop", state };
    }
    return this.#timed ? { timedOut, state } : state;
  }

  #finishCanceled(): void {
    if (this.#returnsOnCancel) {
      // The result reports the cancellation to the code, as a thrown failure does.
      if (this.run.cancellation !== undefined) this.run.cancellation.told = true;
      this.awaiter.fulfil({ canceled: true, state: this.state });
    } else this.awaiter.fail(addPartial(this.#cancelReason!, "state", this.state));
  }
}
