// One native workflow run in memory: its state, and how an activation goes through it. Jobs are
// taken in the order of their events; after each of them the queue of ready work is drained, one
// awaiter per turn and one macrotask hop per turn, and the inbox is scanned to a fixpoint
// (docs/dev/semantics/execution.md#fibers-and-turns). When all is quiet, undecided updates are
// decided and, if the run function has ended, the terminal command is issued. The rooms beside this
// file hold what each kind of job does.
import type {
  Activation,
  CommandKind,
  InitializeWorkflow,
  Job,
} from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { CancelledFailure, isCancellation } from "../../converter/failures.ts";
import type { PayloadConverter } from "../../converter/payload.ts";
import { findCause, isA } from "../../converter/thrown.ts";
import { hop } from "../../platform/hop.ts";
import { type ActivityAwaiter, resolveActivity } from "../primitives/activities.ts";
import { AnsweredUpdates } from "./update_dedup.ts";
import { type Cancellation, requestCancellation } from "./cancellation.ts";
import { restoreCarried } from "./continue_as_new_headers.ts";
import { type Child, resolveChild, resolveChildStart } from "../primitives/children.ts";
import { concludeRun, endRun, type RunEnd } from "./completion.ts";
import { checkDeadlock } from "./deadlock.ts";
import type { DefinitionShape } from "./definition.ts";
import { decideUpdates, dispatchOne } from "./dispatch.ts";
import { OutsideTurnError, type WorkflowTaskError } from "./errors.ts";
import { type ExternalCancelAwaiter, type ExternalSignalAwaiter, resolveExternal } from "../primitives/externals.ts";
import { StartHeaders } from "./headers.ts";
import { Inbox, Queue } from "./inbox.ts";
import { RunInfo } from "./info.ts";
import { RunLog } from "./log.ts";
import { Markers } from "../primitives/markers.ts";
import type { Activator, CommandPort, RunContext } from "../tasks/program.ts";
import { answerQueries, Published } from "../primitives/queries.ts";
import { unhandledRejection } from "./rejections.ts";
import type { ReceiveScope } from "../primitives/receive.ts";
import { runConverter } from "./run_converter.ts";
import { SeldomMap } from "./lazy_map.ts";
import type { SignalWaiter } from "../primitives/signals.ts";
import { type RunClock, slot } from "./current.ts";
import { type Awaiter, Fiber, type Work } from "./fiber.ts";
import { startFiber } from "./turns.ts";
import { fireTimer, type TimerTarget } from "../primitives/timers.ts";
import { answerAgain } from "../primitives/updates.ts";
import type { RunSnapshot } from "../tasks/tracing.ts";

/** Jobs that are applied before the first turn of a run: what replay needs to know, and messages that came with the start. */
const FACTS: ReadonlySet<string | undefined> = new Set(["notifyHasPatch", "sideEffectValue", "updateRandomSeed"]);
const MESSAGES: ReadonlySet<string | undefined> = new Set(["signalWorkflow", "doUpdate"]);

export class NativeRun implements Activator, RunClock {
  readonly isNative = true;
  readonly definition: DefinitionShape;
  readonly context: RunContext;
  readonly port: CommandPort;
  /** For values of commands. Failures and answers to queries are encoded with the context's. */
  readonly converter: PayloadConverter;
  readonly log: RunLog;

  /** Work that is due, in order. */
  readonly ready: Queue<Work> = new Queue();
  /** Awaiters that nothing has settled yet, in order of creation. */
  readonly pending: Set<Awaiter<unknown>> = new Set();
  /** Fibers that have not ended, in order of creation. */
  readonly fibers: Set<Fiber> = new Set();
  readonly timers: SeldomMap<number, TimerTarget> = new SeldomMap();
  readonly activities: SeldomMap<number, ActivityAwaiter> = new SeldomMap();
  /** Children that have not ended, in order of their starts. */
  readonly children: SeldomMap<number, Child> = new SeldomMap();
  readonly externalSignals: SeldomMap<number, ExternalSignalAwaiter> = new SeldomMap();
  readonly externalCancels: SeldomMap<number, ExternalCancelAwaiter> = new SeldomMap();
  readonly inbox: Inbox = new Inbox();
  /** The newest updates that this run and those before it have answered. */
  readonly answered: AnsweredUpdates = new AnsweredUpdates();
  /** Who waits for a signal (waitForSignal, arms of select), by name, oldest first. */
  readonly waiters: SeldomMap<string, SignalWaiter[]> = new SeldomMap();
  readonly markers: Markers = new Markers();
  readonly published: Published = new Published();
  /** What setCurrentDetails was given last. */
  details = "";
  /** At most one receive is active. */
  receive: ReceiveScope | undefined;
  info: RunInfo | undefined;
  headers: StartHeaders = StartHeaders.none;
  cancellation: Cancellation | undefined;
  /** The user's line that called continueAsNew ("" where it is not known); undefined: none did. */
  continuedAt: string | undefined;
  /** How the run function ended; then nothing more is resumed. */
  end: RunEnd | undefined;
  /** Reasons of rejections that the end of a scope caused: nobody has to handle them. */
  readonly scopeReasons: WeakSet<object> = new WeakSet();

  /** While a validator runs: what its update is rejected with, whatever it answers. */
  refusals: Error[] | undefined;

  timeMs = 0;
  isReplaying = false;
  historyLength = 0;
  historySizeBytes = 0;
  continueAsNewSuggested = false;

  #failure: Error | undefined;
  #disposed = false;

  constructor(definition: DefinitionShape, context: RunContext) {
    this.definition = definition;
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

  /** Fails the open workflow task with the first error given; nothing that workflow code catches can undo it. */
  fail(error: Error): void {
    this.#failure ??= error;
  }

  /** As `fail`, and throws the error to the caller in workflow code. */
  misuse(error: WorkflowTaskError): never {
    this.fail(error);
    throw error;
  }

  /** Issues a command. What the core refuses fails the task. */
  issue(kind: CommandKind, attributes: Uint8Array): number {
    try {
      return this.port.command(kind, attributes);
    } catch (e) {
      this.fail(e as Error);
      throw e;
    }
  }

  /** The failure for a primitive that code of an ended scope calls; it ends that code quietly. */
  scopeEnded(fiber: Fiber, api: string): CancelledFailure {
    const reason = new CancelledFailure(`${api} was called after its scope (${fiber.label}) had ended`);
    this.scopeReasons.add(reason);
    return reason;
  }

  async activate(activation: Activation): Promise<void> {
    this.timeMs = activation.timeMs;
    this.isReplaying = activation.isReplaying;
    this.historyLength = activation.historyLength;
    this.historySizeBytes = activation.historySizeBytes;
    this.continueAsNewSuggested = activation.continueAsNewSuggested;
    slot.run = this;
    try {
      this.#check();
      if (activation.queryOnly) return await answerQueries(this, activation.jobs);
      let jobs = activation.jobs;
      for (let i = 0; i < jobs.length; i++) {
        const job = jobs[i]!;
        if (job.variant?.$case === "initializeWorkflow") {
          jobs = this.#initialize(job.variant.value, jobs.slice(i + 1));
          i = -1;
        } else this.#apply(job);
        this.#check();
        await this.#drain();
      }
      if (this.inbox.undecided.size > 0) await decideUpdates(this);
      this.#check();
      if (this.end !== undefined) concludeRun(this, this.end);
      else checkDeadlock(this);
    } finally {
      slot.run = undefined;
      slot.fiber = undefined;
    }
  }

  #check(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Turns, one at a time, until nothing is ready and no message can move. */
  async #drain(): Promise<void> {
    for (;;) {
      const work = this.ready.shift();
      if (work === undefined) {
        const moved = dispatchOne(this);
        if (moved === false || (moved !== true && !(await moved))) break;
      } else if (work.perform()) {
        await hop();
        slot.fiber = undefined;
      }
      this.#check();
    }
    this.#check();
  }

  /**
   * Starts the run, after patches and side-effect values are known. Signals and updates that came with the start are in the inbox before
   * its first turn (signal-with-start); whatever came after them is applied after it, in the order of events. A cancel request of the run
   * before this one stands before them, so then they come after it. Takes the jobs after the start, and answers those that are left.
   */
  #initialize(start: InitializeWorkflow, jobs: Job[]): Job[] {
    // Only what workflowInfo shows stays: the bytes of the activation, arguments included, are let go.
    this.info = new RunInfo(this, { ...start, arguments: [], headers: {}, startedAttributes: start.startedAttributes.slice() });
    this.headers = StartHeaders.of(start.headers);
    const carried = restoreCarried(this, start.headers);
    let taken = 0;
    for (; taken < jobs.length; taken++) {
      const kind = jobs[taken]!.variant?.$case;
      if (!FACTS.has(kind) && (carried.length > 0 || !MESSAGES.has(kind))) break;
      this.#apply(jobs[taken]!);
    }
    const fiber = new Fiber(this, "run", `run of workflow "${this.definition.name}"`, undefined);
    const args = start.arguments.map((payload) => this.converter.fromPayload(payload));
    startFiber(fiber, () => this.definition.run(...args), (outcome) => endRun(this, outcome));
    return [...carried, ...jobs.slice(taken)];
  }

  #apply(job: Job): void {
    const variant = job.variant;
    switch (variant?.$case) {
      case "fireTimer":
        return fireTimer(this, variant.value.seq);
      case "resolveActivity":
        return resolveActivity(this, variant.value);
      case "resolveChildWorkflowStart":
        return resolveChildStart(this, variant.value);
      case "resolveChildWorkflow":
        return resolveChild(this, variant.value);
      case "resolveSignalExternalWorkflow":
        return resolveExternal(this, "externalSignals", variant.value);
      case "resolveCancelExternalWorkflow":
        return resolveExternal(this, "externalCancels", variant.value);
      case "signalWorkflow":
        return this.inbox.pushSignal(variant.value.signalName, variant.value.input);
      case "doUpdate": {
        const { name, input, protocolInstanceId, runValidator } = variant.value;
        const answer = this.answered.get(protocolInstanceId);
        if (answer !== undefined) return answerAgain(this, protocolInstanceId, answer);
        return this.inbox.pushUpdate({ name, input, protocolInstanceId, runValidator });
      }
      case "cancelWorkflow":
        return requestCancellation(this, variant.value.reason);
      case "notifyHasPatch":
        return this.markers.notifyPatch(variant.value.patchId);
      case "sideEffectValue":
        return this.markers.restoreSideEffect(variant.value.id, variant.value.payload);
      case "updateRandomSeed": // the generator lives in the core, which has taken the new seed already
      case "removeFromCache":
        return;
      case "initializeWorkflow":
      case "queryWorkflow":
      case undefined:
        throw new Error(`the core sent a job that cannot stand here: ${variant?.$case ?? "an unknown one"}`);
    }
  }

  /** A fiber of this run moved while none of its turns was active: a host callback woke it. */
  wokenOutside(fiber: Fiber, error: unknown): void {
    if (this.#disposed || this.end !== undefined) return;
    const cause = error instanceof OutsideTurnError ? error : undefined;
    this.fail(
      cause ??
        new OutsideTurnError(
          `${fiber.label} was woken by something that is not a workflow primitive (a host callback or promise); ` +
            `do such work in an activity`,
          { cause: error },
        ),
    );
  }

  /** Whether a rejection that nothing handled is none to speak of: its workflow was cancelled, or its scope has ended. */
  ignoresRejection(reason: unknown): boolean {
    if (this.refusals !== undefined) {
      // It is the validator's: its update is rejected with it.
      this.refusals.push(unhandledRejection(reason));
      return true;
    }
    if (!isCancellation(reason)) return false;
    return this.cancellation !== undefined || this.#isOfScope(reason);
  }

  /** The end of a scope is the cause. */
  #isOfScope(reason: unknown): boolean {
    return findCause(reason, (part) => isA(part, Error) && this.scopeReasons.has(part)) !== undefined;
  }

  /** A wait of workflow code rejects with this reason. */
  rejectionDelivered(reason: unknown): void {
    if (this.cancellation !== undefined && !this.cancellation.told && isCancellation(reason)) {
      this.cancellation.told = !this.#isOfScope(reason);
    }
  }

  inspect(): RunSnapshot {
    return {
      published: this.published.payload,
      waits: this.pending,
      receive: this.receive?.inspect(),
      buffered: this.inbox.counts(),
    };
  }

  /** Nothing is settled any more: who waits, waits for ever, and is collected with the run. */
  dispose(): void {
    this.#disposed = true;
  }
}
