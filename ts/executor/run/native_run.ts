// One native workflow run in memory. Jobs are applied in order of their events; after each the
// queue of ready work is drained, one awaiter per turn and one macrotask hop per turn, and the
// inbox is dispatched until nothing changes (docs/dev/semantics/execution.md#fibers-and-turns).
// Then undecided updates are decided, and the terminal command is issued if the run function has
// ended.
import type { MessageKind } from "../program/definition_sites.ts";
import type {
  Activation,
  CommandKind,
  InitializeWorkflow,
  Job,
} from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import {
  CancelledFailure,
  isCancellation,
  type TemporalFailure,
} from "../../converter/failures.ts";
import type { Payload, PayloadConverter } from "../../converter/payload.ts";
import { findCause, isA } from "../../converter/thrown.ts";
import { hop } from "../../platform/hop.ts";
import { answerAgain } from "../primitives/updates.ts";
import { current } from "../program/current.ts";
import { callRun, type DefinitionShape } from "../program/definition.ts";
import { OutsideTurnError, type WorkflowTaskError } from "../program/errors.ts";
import type { Activator, CommandPort, RunContext } from "../program/program.ts";
import { unhandledRejection } from "../program/rejections.ts";
import { type RunShown, stateText } from "../program/run_shown.ts";
import type { RunSnapshot } from "../program/snapshot.ts";
import type { Cancellation } from "../scheduler/cancellation.ts";
import { type Awaiter, Fiber, type Work } from "../scheduler/fiber.ts";
import { StartHeaders } from "../scheduler/headers.ts";
import { Inbox, Queue } from "../scheduler/inbox.ts";
import { RunInfo } from "../scheduler/info.ts";
import type {
  ActivityTarget,
  ChildTarget,
  MessageTarget,
  NexusTarget,
  OpenReceive,
  SignalWaiter,
  TimerTarget,
  TransactTarget,
} from "../scheduler/job_targets.ts";
import { LazyMap } from "../scheduler/lazy_map.ts";
import { Caller } from "../program/local_calls.ts";
import { RunLog } from "../scheduler/log.ts";
import { MarkerTable } from "../scheduler/marker_table.ts";
import { PublishedState } from "../scheduler/published_state.ts";
import type { RunEnd, RunState } from "../scheduler/run_state.ts";
import { startFiber } from "../scheduler/turns.ts";
import { AnsweredUpdates } from "../scheduler/update_dedup.ts";
import { requestCancellation } from "./cancel_request.ts";
import { concludeRun, endRun } from "./completion.ts";
import { restoreFromPreviousRun } from "./continue_as_new_headers.ts";
import { checkDeadlock } from "./deadlock.ts";
import { decideUpdates, dispatchOne } from "./dispatch.ts";
import { answerQueries } from "./queries.ts";
import { startRounds } from "./rounds.ts";
import { runConverter } from "./run_converter.ts";

/** Jobs before the first turn of a run: data for replay, and messages that came with the start. */
const FACTS: ReadonlySet<string | undefined> = new Set([
  "notifyHasPatch",
  "sideEffectValue",
  "updateRandomSeed",
]);
const MESSAGES: ReadonlySet<string | undefined> = new Set(["signalWorkflow", "doUpdate"]);

export class NativeRun implements Activator, RunState {
  readonly isNative = true;
  readonly definition: DefinitionShape;
  readonly context: RunContext;
  readonly port: CommandPort;
  /** Converter for values of commands. Failures and query results use that of the context. */
  readonly converter: PayloadConverter;
  readonly log: RunLog;

  /** Due work, in order. */
  readonly ready: Queue<Work> = new Queue();
  /** Pending awaiters, in order of creation. */
  readonly pending: Set<Awaiter<unknown>> = new Set();
  /** Running fibers, in order of creation. */
  readonly fibers: Set<Fiber> = new Set();
  readonly timers: LazyMap<number, TimerTarget> = new LazyMap();
  readonly activities: LazyMap<number, ActivityTarget> = new LazyMap();
  readonly localActivities: LazyMap<number, ActivityTarget> = new LazyMap();
  /** Running children, in order of their starts. */
  readonly children: LazyMap<number, ChildTarget> = new LazyMap();
  readonly nexusOperations: LazyMap<number, NexusTarget> = new LazyMap();
  readonly externalSignals: LazyMap<number, MessageTarget> = new LazyMap();
  readonly externalCancels: LazyMap<number, MessageTarget> = new LazyMap();
  readonly transacts: LazyMap<number, TransactTarget> = new LazyMap();
  readonly inbox: Inbox = new Inbox();
  /** The latest completed updates of this run and earlier ones. */
  readonly answered: AnsweredUpdates;
  /** Waiters for a signal (waitForSignal, arms of select), by name, oldest first. */
  readonly waiters: LazyMap<string, SignalWaiter[]> = new LazyMap();
  readonly markers: MarkerTable = new MarkerTable();
  readonly published: PublishedState = new PublishedState();
  /** Number of passed awaits of primitives. */
  passed = 0;
  /** The last value of setCurrentDetails. */
  details = "";
  /** At most one receive is active. */
  receive: OpenReceive | undefined;
  info: RunInfo | undefined;
  headers: StartHeaders = StartHeaders.none;
  cancellation: Cancellation | undefined;
  /** The user's line that called continueAsNew ("" if unknown); undefined: not called. */
  continuedAt: string | undefined;
  /** How the run function ended; nothing is resumed afterwards. */
  end: RunEnd | undefined;
  /** Reasons of rejections caused by the end of a scope: they need no handler. */
  readonly scopeReasons: WeakSet<object> = new WeakSet();

  /** While a validator runs: errors that reject its update, whatever it returns. */
  refusals: Error[] | undefined;

  timeMs = 0;
  isReplaying = false;
  historyLength = 0;
  historySizeBytes = 0;
  continueAsNewSuggested = false;
  readonly caller = new Caller("");

  #failure: Error | undefined;
  /** The state that was last sent to the service. */
  #told: Payload | undefined;
  #disposed = false;

  constructor(definition: DefinitionShape, context: RunContext) {
    this.definition = definition;
    this.answered = new AnsweredUpdates(definition.rememberUpdates);
    this.context = context;
    this.port = context.run;
    this.converter = runConverter(this, context.converter);
    this.log = new RunLog(this);
  }

  random(): number {
    return this.port.random();
  }

  randomBytes(length: number): Uint8Array {
    return this.port.randomBytes(length);
  }

  /** Fails the open workflow task with the first error; workflow code cannot undo it. */
  fail(error: Error): void {
    this.#failure ??= error;
  }

  /** Like `fail`, and throws the error to the calling workflow code. */
  misuse(error: WorkflowTaskError): never {
    this.fail(error);
    throw error;
  }

  /** Issues a command. An error of the core fails the task. */
  issue(kind: CommandKind, attributes: Uint8Array): number {
    try {
      return this.port.command(kind, attributes);
    } catch (e) {
      this.fail(e as Error);
      throw e;
    }
  }

  /** The failure of a primitive called in an ended scope; it ends the calling code silently. */
  scopeEnded(fiber: Fiber, api: string): CancelledFailure {
    const reason = new CancelledFailure(
      `${api} was called after its scope (${fiber.label}) had ended`,
    );
    this.scopeReasons.add(reason);
    return reason;
  }

  async activate(activation: Activation): Promise<void> {
    this.timeMs = activation.timeMs;
    this.isReplaying = activation.isReplaying;
    this.historyLength = activation.historyLength;
    this.historySizeBytes = activation.historySizeBytes;
    this.continueAsNewSuggested = activation.continueAsNewSuggested;
    current.run = this;
    try {
      this.#check();
      if (activation.queryOnly) return await answerQueries(this, activation.jobs);
      let jobs = activation.jobs;
      for (let i = 0; i < jobs.length; i++) {
        const job = jobs[i]!;
        this.context.watch?.told(job.eventId);
        if (job.variant?.$case === "initializeWorkflow") {
          jobs = this.#initialize(job.variant.value, jobs.slice(i + 1));
          i = -1;
        } else this.#apply(job);
        this.#check();
        await this.#drain();
      }
      while (this.end === undefined && this.receive?.activationDone() === true) await this.#drain();
      if (this.inbox.undecided.size > 0) await decideUpdates(this);
      this.#check();
      if (this.end !== undefined) concludeRun(this, this.end);
      else checkDeadlock(this);
    } finally {
      current.run = undefined;
      current.fiber = undefined;
    }
  }

  #check(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Runs turns, one at a time, until nothing is ready and no message can be dispatched. */
  async #drain(): Promise<void> {
    for (;;) {
      const work = this.ready.shift();
      if (work === undefined) {
        const moved = dispatchOne(this);
        if (moved === false || (moved !== true && !(await moved))) break;
      } else if (work.perform()) {
        await hop();
        current.fiber = undefined;
      }
      this.#check();
    }
    this.#check();
  }

  /**
   * Starts the run, after patches and side-effect values are known. Messages that came with the
   * start are in the inbox before the first turn (signal-with-start); later ones are applied after
   * it. A carried cancel request precedes them, so then they follow it. Returns the remaining jobs
   * after the start.
   */
  #initialize(start: InitializeWorkflow, jobs: Job[]): Job[] {
    // Keeps only what workflowInfo needs, so that the activation's bytes can be freed.
    this.info = new RunInfo(this, {
      ...start,
      arguments: [],
      headers: {},
      startedAttributes: start.startedAttributes.slice(),
    });
    this.headers = StartHeaders.of(start.headers);
    const carried = restoreFromPreviousRun(this, start.headers);
    let taken = 0;
    for (; taken < jobs.length; taken++) {
      const kind = jobs[taken]!.variant?.$case;
      if (!FACTS.has(kind) && (carried.length > 0 || !MESSAGES.has(kind))) break;
      this.#apply(jobs[taken]!);
    }
    const args = start.arguments.map((payload) => this.converter.fromPayload(payload));
    if (this.definition.carry !== undefined) {
      startRounds(this, this.definition.carry, args, start.headers);
    } else {
      const fiber = new Fiber(this, "run", `run of workflow "${this.definition.name}"`, undefined);
      startFiber(fiber, () => callRun(this.definition, args), (outcome) => endRun(this, outcome));
    }
    return [...carried, ...jobs.slice(taken)];
  }

  /** A missing target has ended for this run: it was canceled, or the run function ended. */
  #apply(job: Job): void {
    const variant = job.variant;
    switch (variant?.$case) {
      case "fireTimer":
        return this.timers.take(variant.value.seq)?.fired();
      case "resolveActivity":
        return (variant.value.isLocal ? this.localActivities : this.activities).take(
          variant.value.seq,
        )?.resolved(variant.value);
      case "resolveChildWorkflowStart":
        return this.children.get(variant.value.seq)?.startResolved(variant.value);
      case "resolveChildWorkflow":
        return this.children.get(variant.value.seq)?.resolved(variant.value);
      case "resolveNexusOperationStart":
        return this.nexusOperations.get(variant.value.seq)?.startResolved(variant.value);
      case "resolveNexusOperation":
        return this.nexusOperations.get(variant.value.seq)?.resolved(variant.value);
      case "resolveSignalExternalWorkflow":
        return this.externalSignals.take(variant.value.seq)?.resolved(variant.value.failure);
      case "resolveCancelExternalWorkflow":
        return this.externalCancels.take(variant.value.seq)?.resolved(variant.value.failure);
      case "resolveTransact":
        return this.transacts.take(variant.value.seq)?.resolved(variant.value);
      case "signalWorkflow":
        return this.inbox.pushSignal(variant.value.signalName, variant.value.input, job.eventId);
      case "doUpdate": {
        const { id, name, input, protocolInstanceId, runValidator } = variant.value;
        const answer = this.answered.get(protocolInstanceId);
        if (answer !== undefined) return answerAgain(this, protocolInstanceId, answer);
        return this.inbox.pushUpdate({ id, name, input, protocolInstanceId, runValidator });
      }
      case "cancelWorkflow":
        return requestCancellation(this, variant.value.reason);
      case "notifyHasPatch":
        return this.markers.notifyPatch(variant.value.patchId);
      case "sideEffectValue":
        return this.markers.restoreSideEffect(variant.value.id, variant.value.payload);
      case "updateRandomSeed": // the core has the generator, and has set the new seed
      case "removeFromCache":
        return;
      case "initializeWorkflow":
      case "queryWorkflow":
      case undefined:
        throw new Error(`unexpected job from the core: ${variant?.$case ?? "an unknown one"}`);
    }
  }

  endWith(error: TemporalFailure): void {
    if (this.end === undefined) endRun(this, { ok: false, error });
  }

  /** A fiber of this run was resumed outside its turns, by a host callback. */
  wokenOutside(fiber: Fiber, error: unknown): void {
    if (this.#disposed || this.end !== undefined) return;
    const cause = error instanceof OutsideTurnError ? error : undefined;
    this.fail(
      cause ??
        new OutsideTurnError(
          `${fiber.label} was resumed by something that is not a workflow primitive (a host callback or promise); ` +
            `do this work in an activity`,
          { cause: error },
        ),
    );
  }

  /**
   * Whether an unhandled rejection is ignored: the workflow was canceled, or its scope has ended.
   */
  ignoresRejection(reason: unknown): boolean {
    if (this.refusals !== undefined) {
      // Caused by the validator: its update is rejected with it.
      this.refusals.push(unhandledRejection(reason));
      return true;
    }
    if (!isCancellation(reason)) return false;
    return this.cancellation !== undefined || this.#isOfScope(reason);
  }

  /** Whether the end of a scope caused it. */
  #isOfScope(reason: unknown): boolean {
    return findCause(reason, (part) => isA(part, Error) && this.scopeReasons.has(part)) !==
      undefined;
  }

  /** A wait of workflow code rejects with this reason. */
  rejectionDelivered(reason: unknown): void {
    if (this.cancellation !== undefined && !this.cancellation.told && isCancellation(reason)) {
      this.cancellation.told = !this.#isOfScope(reason);
    }
  }

  noteHandler(kind: MessageKind, name: string): void {
    if (this.context.callSites !== false) this.port.handlerSet?.(kind, name);
  }

  shown(): RunShown {
    const { payload } = this.published;
    const state = payload === this.#told ? undefined : stateText(payload);
    this.#told = payload;
    return { phase: this.passed, ...(state === undefined ? {} : { state }) };
  }

  inspect(): RunSnapshot {
    return {
      published: this.published.payload,
      waits: this.pending,
      receive: this.receive?.inspect(),
      buffered: this.inbox.counts(),
      phase: this.passed,
    };
  }

  /** Settles nothing: parked code is garbage collected with the run. */
  dispose(): void {
    this.#disposed = true;
  }
}
