// State of one run of an official-API program between activations, and its interface to the core.
// Functions for workflow code (workflow/) and the activation loop (activator.ts) use it.
import type { MessageKind } from "../executor/program/definition_sites.ts";
import { encodeTypedValue } from "./typed_values.ts";
import {
  type Activation,
  CancelWorkflowExecution,
  CommandKind,
  CompleteWorkflow,
  ContinueAsNew as ContinueAsNewCommand,
  FailWorkflow,
  SetPatchMarker,
} from "../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { defaultPayloadConverter, type PayloadConverter } from "../converter/payload.ts";
import { callSite, callStack } from "../executor/program/call_site.ts";
import type { RunWatch, WatchedFiber } from "../executor/program/line_probe.ts";
import { Caller } from "../executor/program/local_calls.ts";
import type { LogLevel, RunContext } from "../executor/program/program.ts";
import type { WaitingAt } from "../executor/program/stack_traces.ts";
import { IllegalStateError } from "./common/errors.ts";
import {
  defaultPayloadConverter as officialConverter,
  inContext,
  productConverter,
} from "./common/payload_converters.ts";
import { isA, messageOf } from "../converter/thrown.ts";
import {
  convertFailuresBy,
  type CustomFailures,
  encodeCompatFailure,
  NOT_AN_ERROR,
} from "./common/failure_converter.ts";
import { ensureTemporalFailure, isCancellation, TemporalFailure } from "./common/failures.ts";
import type { GroupMessage, ScopeContext, ScopeFrame } from "./context.ts";
import { matchesErrorTypes } from "./failure_error_types.ts";
import { Interceptors } from "./interception.ts";
import { IssuedCommands } from "./issued_commands.ts";
import { isImplied, KNOWN_FLAGS } from "./flags.ts";
import { MessageHandlers, type MessageRun } from "./messages.ts";
import type {
  SerializationContext,
  TypeInfo,
  WorkflowDefinitionOptions,
  WorkflowStaticOptions,
} from "./common/type_info.ts";
import { SinkCalls } from "./sinks.ts";
import { Standing } from "./standing.ts";
import { alea, seedBytes, streamSeed } from "./workflow/alea.ts";
import { ContinueAsNew } from "./workflow/continue_as_new_thrown.ts";
import { nextInfo, realRandom, type WorkflowInfo } from "./workflow/info.ts";
import { RootScope } from "./workflow/scope.ts";
import { encodeWith } from "../executor/program/encode.ts";

/** Callbacks for the result of a command. */
export interface Completion {
  resolve(value: unknown): void;
  reject(error: unknown): void;
  /** Converter of the result. Default: the run's own. */
  readonly converter?: PayloadConverter;
  /** Type hint of the result. */
  readonly outputType?: TypeInfo | undefined;
  /** Of activities only. */
  readonly activityType?: string;
}

interface Condition {
  fn(): boolean;
  resolve(): void;
}

export interface CompatRunOptions {
  scopes: ScopeContext;
  info: WorkflowInfo;
  timeMs: number;
  randomnessSeed: string;
}

const OFFICIAL = productConverter(officialConverter);

/** With the worker's default converter, values are converted exactly as in the official SDK. */
function getConverter({ converter }: RunContext): PayloadConverter {
  return converter === defaultPayloadConverter ? OFFICIAL : converter;
}

/**
 * Same as `getConverter` before the run's modules are evaluated, for values known at its beginning.
 */
export function makeFirstConverter(host: RunContext, workflowId: string): PayloadConverter {
  const converter = getConverter(host);
  return converter === OFFICIAL
    ? converter
    : inContext(converter, { type: "workflow", namespace: host.namespace, workflowId });
}

export class CompatRun implements MessageRun {
  readonly context: ScopeContext;
  converter: PayloadConverter;
  /** Workflow time, in milliseconds. */
  timeMs: number;
  isReplaying = true;
  site = "";
  #info: WorkflowInfo;
  /** The activation that `#info` does not include yet: most activations never read it. */
  #activation: Activation | undefined;
  /** Value of setCurrentDetails. */
  details = "";
  /** True after a cancel request for the workflow. */
  cancelRequested = false;
  /** True while query handlers run, which are not replayed. */
  answersQueries = false;
  /** True after a terminal command. */
  completed = false;
  /**
   * True after the top level of the modules has run. Before, patches must not be decided, because
   * history's markers follow later.
   */
  modulesEvaluated = false;

  readonly timers = new Map<number, Completion>();
  /** Includes local activities. */
  readonly activities = new Map<number, Completion>();
  readonly childStarts = new Map<number, Completion>();
  readonly childEnds = new Map<number, Completion>();
  readonly nexusStarts = new Map<number, Completion>();
  readonly nexusEnds = new Map<number, Completion>();
  readonly externalSignals = new Map<number, Completion>();
  readonly externalCancels = new Map<number, Completion>();
  readonly conditions = new Map<number, Condition>();
  /** Scopes of setTimeout timers, by handle. */
  readonly timeoutScopes = new Map<number, { cancel(): void }>();
  nextConditionId = 1;
  /**
   * Next number of timers, and of activities including local ones. Canceled scopes use numbers as
   * well, as in history.
   */
  nextTimerSeq = 1;
  nextActivitySeq = 1;
  nextChildSeq = 1;
  nextNexusSeq = 1;
  nextSignalSeq = 1;
  nextCancelSeq = 1;

  readonly issued = new IssuedCommands(this);
  readonly messages: MessageHandlers;
  readonly sinks: SinkCalls;
  /** Ids of activities that must not be returned with the report that schedules them. */
  readonly notEager = new Set<string>();
  /** Options of the workflow's function. */
  definition: WorkflowDefinitionOptions = {};
  /** Options of the workflow's function that are known without a run. */
  staticOptions: WorkflowStaticOptions = {};
  readonly rootScope: RootScope;
  #host: RunContext;
  readonly interceptors = new Interceptors();
  #seed: readonly number[];
  #random: () => number;
  readonly #streams = new Map<string, () => number>();
  /** The converter of the program's module. */
  #given:
    | { readonly converter: PayloadConverter; readonly failures: CustomFailures | undefined }
    | undefined;
  #flags = new Set<number>();
  #presentPatches = new Set<string>();
  #patchDecisions = new Map<string, true>();
  #taskError: { error: unknown } | undefined;
  readonly #stacks = new WeakMap<object, Standing>();
  #fiber: WatchedFiber | undefined;
  readonly #caller = new Caller("");
  /** Messages by the marker of their commands. */
  readonly #callers = new WeakMap<GroupMessage, Caller>();

  constructor(host: RunContext, options: CompatRunOptions) {
    this.#host = host;
    this.context = options.scopes;
    this.converter = getConverter(host);
    this.#info = options.info;
    this.timeMs = options.timeMs;
    this.#seed = seedBytes(options.randomnessSeed);
    this.#random = alea(this.#seed);
    this.rootScope = new RootScope();
    this.messages = new MessageHandlers(this);
    this.sinks = new SinkCalls(host, this);
  }

  /**
   * Uses the converter of the module evaluated for this run, whose classes match its workflows. The
   * realm has checked at start that it exists.
   */
  convertBy(exported: { readonly [name: string]: unknown }): void {
    const converter = (exported["payloadConverter"] ?? exported["default"]) as PayloadConverter;
    this.#given = {
      converter,
      failures: exported["failureConverter"] as CustomFailures | undefined,
    };
    const { namespace, workflowId } = this.info;
    this.converter = this.converterFor({ type: "workflow", namespace, workflowId });
  }

  /**
   * Returns the converter for values of another workflow or an activity; the run's own unless the
   * program has one.
   */
  converterFor(context: SerializationContext): PayloadConverter {
    if (this.#given === undefined) return this.converter;
    const { converter, failures } = this.#given;
    const bound = inContext(converter, context);
    if (failures !== undefined) convertFailuresBy(failures, bound, context);
    return bound;
  }

  /** Same as `converterFor`, for another workflow. */
  converterForWorkflow(workflowId: string): PayloadConverter {
    return this.converterFor({ type: "workflow", namespace: this.info.namespace, workflowId });
  }

  /** Same as `converterFor`, for an activity of this run. */
  converterForActivity(activityId: string, isLocal: boolean): PayloadConverter {
    const { namespace, workflowId } = this.info;
    return this.converterFor({ type: "activity", namespace, activityId, workflowId, isLocal });
  }

  // ---- commands

  /** `groups`: encoded EventGroups. */
  command(kind: CommandKind, attributes: Uint8Array, groups?: Uint8Array): void {
    if (this.issued.concluded && this.issued.holds({ kind, attributes, groups }, this.command)) {
      return;
    }
    this.#host.run.command(kind, attributes, groups);
  }

  cancelCommand(kind: CommandKind, cancels: number, groups?: Uint8Array): void {
    if (this.issued.concluded && this.issued.holds({ kind, cancels, groups }, this.cancelCommand)) {
      return;
    }
    this.#host.run.cancel(kind, cancels, groups);
  }

  completeWorkflow(result: unknown): void {
    const bytes = encodeWith(
      CompleteWorkflow,
      CompleteWorkflow.fromPartial({
        result: encodeTypedValue(this.converter, result, this.staticOptions.typeInfo?.outputType),
      }),
    );
    this.#terminal(CommandKind.COMMAND_KIND_COMPLETE_WORKFLOW, bytes);
  }

  /**
   * Ends the run with what the main function or a handler threw. Failures fail the workflow, an
   * accepted cancellation cancels it, ContinueAsNew restarts it. Every other error is a bug that
   * fails the task, so that a fixed version can continue.
   */
  endWith(error: unknown): void {
    if (this.cancelRequested && isCancellation(error)) {
      const bytes = encodeWith(CancelWorkflowExecution, CancelWorkflowExecution.fromPartial({}));
      this.#terminal(CommandKind.COMMAND_KIND_CANCEL_WORKFLOW, bytes);
    } else if (isA(error, ContinueAsNew)) {
      this.#terminal(
        CommandKind.COMMAND_KIND_CONTINUE_AS_NEW,
        encodeWith(ContinueAsNewCommand, error.command),
        error.groups,
      );
    } else if (error instanceof TemporalFailure || this.#failsWorkflow(error)) {
      const bytes = encodeWith(
        FailWorkflow,
        FailWorkflow.fromPartial({ failure: this.encodeError(error, true) }),
      );
      this.messages.forgetRunning();
      this.#terminal(CommandKind.COMMAND_KIND_FAIL_WORKFLOW, bytes);
    } else this.failTask(error);
  }

  #failsWorkflow(error: unknown): boolean {
    const { failureExceptionTypes: classes = [] } = this.definition;
    return matchesErrorTypes(error, classes, this.#host.failureErrorTypes);
  }

  #terminal(kind: CommandKind, attributes: Uint8Array, groups?: Uint8Array): void {
    this.command(kind, attributes, groups);
    this.completed = true;
  }

  encodeError(error: unknown, strict?: boolean): Uint8Array {
    return encodeCompatFailure(ensureTemporalFailure(error), this.converter, strict);
  }

  // ---- task failure

  /** Stores the first error that fails the task; the loop throws it at its next check. */
  failTask(error: unknown): void {
    this.#taskError ??= {
      error: isA(error, Error) ? error : new Error(messageOf(error) + NOT_AN_ERROR),
    };
  }

  /** For the realm's guard: a violation fails the task, even if the program catches it. */
  fail(error: Error): void {
    this.failTask(error);
  }

  throwTaskError(): void {
    if (this.#taskError !== undefined) throw this.#taskError.error;
  }

  // ---- conditions

  /** Unblocks conditions that have become true, repeatedly. Returns how many did. */
  unblockConditions(): number {
    let unblocked = 0;
    for (;;) {
      this.throwTaskError();
      const before = unblocked;
      for (const [id, condition] of this.conditions) {
        if (!condition.fn()) continue;
        condition.resolve();
        this.conditions.delete(id);
        unblocked++;
      }
      if (before === unblocked) return unblocked;
    }
  }

  // ---- flags, patches, randomness

  /** Adds language flags recorded for the current task. Throws for an unknown number. */
  addFlags(flags: readonly number[]): void {
    for (const flag of flags) {
      if (!KNOWN_FLAGS.includes(flag)) throw new TypeError(`Unknown SDK flag: ${flag}`);
      this.#flags.add(flag);
    }
  }

  /**
   * On replay a flag applies if it was recorded or is implied by the worker's version. Live, all
   * flags apply (program.usedLangFlags records them), and from then on.
   */
  hasFlag(flag: number): boolean {
    if (this.#flags.has(flag)) return true;
    if (this.isReplaying) {
      const next = this.#activation;
      return isImplied(flag, next?.isReplaying ? next.buildId : this.info.currentBuildId ?? "");
    }
    this.#flags.add(flag);
    return true;
  }

  notePatch(patchId: string): void {
    this.#presentPatches.add(patchId);
  }

  patch(patchId: string, deprecated: boolean, groups?: Uint8Array): boolean {
    if (!this.modulesEvaluated) {
      throw new IllegalStateError("Patches cannot be used before Workflow starts");
    }
    if (this.#patchDecisions.has(patchId)) return true;
    // Absence on replay is not final: the same run may become live, and then the new code applies.
    if (this.isReplaying && !this.#presentPatches.has(patchId)) {
      this.#host.run.patchMissed?.(patchId);
      return false;
    }
    this.#patchDecisions.set(patchId, true);
    const marker = encodeWith(SetPatchMarker, { patchId, deprecated });
    this.command(CommandKind.COMMAND_KIND_SET_PATCH_MARKER, marker, groups);
    return true;
  }

  reseed(randomnessSeed: string): void {
    this.#seed = seedBytes(randomnessSeed);
    this.#random = alea(this.#seed);
    this.#streams.clear();
  }

  /** Returns the next number of the code's random stream, or of the run's own. */
  random(): number {
    return this.context.current()?.random?.random() ?? this.mainRandom();
  }

  /**
   * True for code that is not replayed: it uses the runtime's generator and leaves those of the run
   * unchanged.
   */
  get #isUnreplayed(): boolean {
    return this.answersQueries || this.context.current()?.unreplayed === true;
  }

  /** Calls code that does not run on replay, including what it awaits. */
  unreplayed<T>(fn: () => T): T {
    return this.context.run(this.frame({ unreplayed: true }), fn);
  }

  mainRandom(): number {
    return this.#isUnreplayed ? realRandom.random() : this.#random();
  }

  namedRandom(name: string): number {
    if (this.#isUnreplayed) return realRandom.random();
    let stream = this.#streams.get(name);
    if (stream === undefined) this.#streams.set(name, stream = alea(streamSeed(this.#seed, name)));
    return stream();
  }

  randomBytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => Math.floor(this.random() * 0x100));
  }

  // ---- info

  /** Values of the run and its current task. */
  get info(): WorkflowInfo {
    const activation = this.#activation;
    if (activation !== undefined) this.info = nextInfo(this.#info, activation, this.#host);
    return this.#info;
  }

  set info(info: WorkflowInfo) {
    this.#activation = undefined;
    this.#info = info;
  }

  /** Begins an activation that is not a query. */
  beginActivation(activation: Activation): void {
    this.timeMs = activation.timeMs;
    this.isReplaying = activation.isReplaying;
    this.#activation = activation;
    this.addFlags(activation.langFlags);
  }

  /** Returns the frame of the running code, with changes. */
  frame(changes: Partial<ScopeFrame>): ScopeFrame {
    return { scope: this.rootScope, ...this.context.current(), ...changes };
  }

  // ---- logs

  /** Writes a log line, except on replay. */
  log(level: LogLevel, message: string, fields: { readonly [key: string]: unknown }): void {
    const isReplaying = this.#activation?.isReplaying ??
      this.#info.unsafe.isReplayingHistoryEvents;
    if (isReplaying && this.#host.logsReplay !== true) return;
    const { workflowType, workflowId, runId } = this.info;
    const entry = {
      level,
      message,
      fields,
      timeMs: this.timeMs,
      workflowType,
      workflowId,
      runId,
      source: "workflow",
    } as const;
    // Calls getters of the fields, which does not happen on replay.
    this.unreplayed(() => this.#host.log.write(entry));
  }

  /** Writes a line of console. */
  logLine(level: LogLevel, message: string): void {
    this.log(level, message, {});
  }

  // ---- stacks

  /** Records where the waiting code is, if call sites are recorded. Returns `wait`. */
  waitsAt<W extends object>(label: string, wait: W): W {
    const { callSites } = this.#host;
    if (callSites === false) return wait;
    const update = this.context.current()?.update;
    const fiber = update === undefined
      ? `workflow "${this.info.workflowType}"`
      : `handler of update "${update.name}"`;
    const site = callSites === "stacks"
      ? callStack(this.waitsAt, 1)
      : this.site || callSite(1, this.waitsAt);
    this.#stacks.set(wait, new Standing(fiber, label, site, this.fiberNow()));
    return wait;
  }

  /** Same as `waitsAt` for a wait that continues an earlier one in code other than the user's. */
  standsAs<W extends object>(earlier: object, wait: W): W {
    const standing = this.#stacks.get(earlier);
    if (standing === undefined) return wait;
    const { fiber, label, site, owner } = standing;
    this.#stacks.set(wait, new Standing(fiber, label, site, owner));
    return wait;
  }

  /** Returns where the code waits; undefined if not recorded. */
  standingOf(wait: object): Standing | undefined {
    return this.#stacks.get(wait);
  }

  // ---- debug sessions

  get watch(): RunWatch | undefined {
    return this.#host.watch;
  }

  /** Fiber of the main function. */
  get fiber(): WatchedFiber {
    return this.#fiber ??= { kind: "run", label: `workflow "${this.info.workflowType}"` };
  }

  fiberNow(): WatchedFiber {
    return this.context.current()?.fiber ?? this.fiber;
  }

  handlerFrame(
    kind: "signal" | "update",
    name: string,
    input: object,
    implicit: GroupMessage | undefined,
  ): ScopeFrame {
    const { watch } = this;
    const groups = { implicit, explicit: {} };
    if (watch === undefined) return this.frame({ groups });
    const fiber: WatchedFiber = {
      kind: "handler",
      label: `handler of ${kind} "${name}"`,
      parent: this.fiber,
    };
    watch.about(input);
    watch.began(fiber);
    return this.frame({ fiber, groups });
  }

  /** Returns the caller of commands: the running handler's message, or the run itself. */
  caller(): Caller {
    const message = this.context.current()?.groups?.implicit;
    if (message === undefined) return this.#caller;
    let caller = this.#callers.get(message);
    if (caller === undefined) {
      const { variant } = message;
      caller = variant?.$case === "inboundUpdate"
        ? Caller.ofUpdate(variant.value.inboundUpdateId)
        : variant?.$case === "inboundEvent"
        ? Caller.ofSignal({ eventId: variant.value.inboundEventId, order: 0 })
        : this.#caller;
      this.#callers.set(message, caller);
    }
    return caller;
  }

  handlerEnded({ fiber }: ScopeFrame): void {
    if (fiber !== undefined) this.watch?.ended(fiber);
  }

  noteHandler(kind: MessageKind, name: string): void {
    if (this.#host.callSites !== false) this.#host.run.handlerSet?.(kind, name);
  }

  handlerFailed(handler: string, error: unknown, updateId: string): void {
    this.#host.run.handlerFailed?.(handler, error, updateId);
  }

  /**
   * Returns the line that called `above`, a long-running function of this package; "" if call sites
   * are not recorded.
   */
  calledAt(above: unknown): string {
    return this.#host.callSites === true ? callSite(1, above) : "";
  }

  /** Returns what the code waits for, and where. */
  waits(): WaitingAt[] {
    if (this.completed) return [];
    const {
      timers,
      activities,
      conditions,
      childEnds,
      nexusStarts,
      nexusEnds,
      externalSignals,
      externalCancels,
    } = this;
    const pending: readonly ReadonlyMap<number, object>[] = [
      timers,
      activities,
      conditions,
      childEnds,
    ];
    const open = [...pending, nexusStarts, nexusEnds, externalSignals, externalCancels].flatMap((
      each,
    ) => [...each.values()]);
    return open.map((wait) => this.#stacks.get(wait)).filter((stack) => stack !== undefined);
  }

  /** Version of this package, from the worker. */
  get sdkVersion(): string {
    return this.#host.sdkVersion;
  }

  /** Takes the promise of a command's result. */
  takeCompletion(pending: Map<number, Completion>, seq: number): Completion {
    const completion = pending.get(seq);
    if (completion === undefined) throw new IllegalStateError(`No completion for taskSeq ${seq}`);
    pending.delete(seq);
    return completion;
  }
}
