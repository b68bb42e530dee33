// Signals, updates and queries of a run: handlers, waiting messages, and running handlers. A
// message with a handler is dispatched when its job is applied, otherwise in the setHandler call,
// before the code that follows. Updates without a handler at the end of an activation are rejected;
// signals wait forever. The order in which promises settle is part of the contract: chains have as
// many links as in the official SDK.
import {
  CommandKind,
  type DoUpdate,
  QueryResult,
  type QueryWorkflow,
  type SignalWorkflow,
  UpdateResponse,
} from "../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { jsonPayloadConverter, type PayloadConverter } from "../converter/payload.ts";
import {
  BUILT_IN_QUERIES,
  ENHANCED_STACK_TRACE,
  isReserved,
  sorted,
  STACK_TRACE,
  WORKFLOW_METADATA,
} from "../executor/program/built_in_queries.ts";
import { enhancedStackTrace, stackTraceText } from "../executor/program/stack_traces.ts";
import { IllegalStateError } from "./common/errors.ts";
import { ApplicationFailure, TemporalFailure } from "./common/failures.ts";
import { HandlerUnfinishedPolicy } from "./common/options.ts";
import { TEMPORAL_RESERVED_PREFIX } from "./common/reserved.ts";
import type { GroupMessage, ScopeFrame } from "./context.ts";
import {
  callThrough,
  type InterceptedRun,
  type Operation,
  toInterceptorHeaders,
} from "./interception.ts";
import type {
  QueryInput,
  SignalInput,
  UpdateInput,
  WorkflowInboundCallsInterceptor,
} from "./workflow/interceptors.ts";
import type { WorkflowInfo } from "./workflow/info.ts";
import type { WaitingAt } from "../executor/program/stack_traces.ts";
import type { RunSnapshot } from "../executor/program/snapshot.ts";
import type { LogLevel } from "../executor/program/program.ts";
import { decodeArguments, encodeTypedValue, type ValueTypes } from "./typed_values.ts";
import { COMPAT_SDK_NAME } from "./sdk_name.ts";
import { CancellationScope } from "./workflow/scope.ts";
import { encodeWith } from "../executor/program/encode.ts";

// deno-lint-ignore no-explicit-any
export type HandlerFunction = (...args: any[]) => unknown;
export type DefaultHandler = (name: string, ...args: unknown[]) => unknown;

interface Entry {
  handler: HandlerFunction;
  description?: string | undefined;
  /** Type hints of its values. */
  typeInfo?: ValueTypes | undefined;
}
export interface SignalEntry extends Entry {
  unfinishedPolicy: HandlerUnfinishedPolicy;
}
export interface UpdateEntry extends SignalEntry {
  validator?: HandlerFunction | undefined;
}
interface Running {
  name: string;
  id?: string;
  unfinishedPolicy: HandlerUnfinishedPolicy;
}

/** The part of a run that messages need. */
export interface MessageRun extends InterceptedRun {
  readonly converter: PayloadConverter;
  readonly details: string;
  readonly sdkVersion: string;
  info: WorkflowInfo;
  command(kind: CommandKind, attributes: Uint8Array): void;
  endWith(error: unknown): void;
  encodeError(error: unknown, strict?: boolean): Uint8Array;
  /** See `CommandPort.handlerFailed`. */
  handlerFailed(handler: string, error: unknown, updateId: string): void;
  /** Calls code that does not run on replay. */
  unreplayed<T>(fn: () => T): T;
  log(level: LogLevel, message: string, fields: { readonly [key: string]: unknown }): void;
  /**
   * Returns the frame of a new handler for the message with this input. `implicit`: event group of
   * its commands.
   */
  handlerFrame(
    kind: "signal" | "update",
    name: string,
    input: object,
    implicit: GroupMessage | undefined,
  ): ScopeFrame;
  /** Called when the handler has ended. */
  handlerEnded(frame: ScopeFrame): void;
  waits(): WaitingAt[];
}

export class MessageHandlers {
  readonly signals = new Map<string, SignalEntry>();
  readonly updates = new Map<string, UpdateEntry>();
  readonly queries = new Map<string, Entry>();
  defaultSignal: DefaultHandler | undefined;
  defaultUpdate: DefaultHandler | undefined;
  defaultQuery: DefaultHandler | undefined;
  #run: MessageRun;
  #waitingSignals: { readonly job: SignalWorkflow; readonly eventId: number }[] = [];
  #waitingUpdates: DoUpdate[] = [];
  #runningSignals = new Map<number, Running>();
  #runningUpdates = new Map<string, Running>();
  #nextSignal = 0;

  constructor(run: MessageRun) {
    this.#run = run;
    const answers: { readonly [name: string]: () => unknown } = {
      [STACK_TRACE]: () => stackTraceText(run.waits()),
      [ENHANCED_STACK_TRACE]: () =>
        enhancedStackTrace(run.waits(), COMPAT_SDK_NAME, run.sdkVersion),
      [WORKFLOW_METADATA]: () => this.#metadata(),
    };
    // In the order of the official SDK's error for an unknown query.
    for (const [name, handler] of Object.entries(answers)) {
      const description = BUILT_IN_QUERIES.find((query) => query.name === name)?.description;
      this.queries.set(name, { handler, description });
    }
  }

  get allFinished(): boolean {
    return this.#runningSignals.size === 0 && this.#runningUpdates.size === 0;
  }

  /** The workflow failed: interrupted handlers cause no warning. */
  forgetRunning(): void {
    this.#runningSignals.clear();
    this.#runningUpdates.clear();
  }

  // ---- signals

  /** `eventId`: number of its event; 0 if not known. */
  signal(job: SignalWorkflow, eventId: number): void {
    const name = job.signalName;
    const entry = this.signals.get(name);
    const fallback = this.defaultSignal;
    if (entry === undefined && fallback === undefined) {
      this.#waitingSignals.push({ job, eventId });
      return;
    }
    if (entry === undefined) refuseReserved("signal", name);
    const id = this.#nextSignal++;
    this.#runningSignals.set(id, {
      name,
      unfinishedPolicy: entry?.unfinishedPolicy ?? HandlerUnfinishedPolicy.WARN_AND_ABANDON,
    });
    const args = decodeArguments(this.#run.converter, job.input, entry?.typeInfo);
    const handle = this.#inbound(
      name,
      "handleSignal",
      ({ signalName, args }: SignalInput) => this.#handleSignal(signalName, args),
    );
    const group: GroupMessage = {
      variant: { $case: "inboundEvent", value: { inboundEventId: eventId } },
    };
    const frame = this.#run.handlerFrame(
      "signal",
      name,
      job.input,
      eventId > 0 ? group : undefined,
    );
    this.#run.context.run(
      frame,
      () => handle({ signalName: name, args, headers: toInterceptorHeaders(job.headers) }),
    )
      .catch((error) => this.#run.endWith(error))
      .finally(() => {
        this.#runningSignals.delete(id);
        this.#run.handlerEnded(frame);
      });
  }

  async #handleSignal(name: string, args: unknown[]): Promise<void> {
    const entry = this.signals.get(name);
    if (entry !== undefined) await entry.handler(...args);
    else if (this.defaultSignal !== undefined) await this.defaultSignal(name, ...args);
    else throw new IllegalStateError(`No registered signal handler for signal: ${name}`);
  }

  /** Dispatches waiting signals to a new handler, in order of arrival. */
  dispatchSignals(): void {
    const fits = ({ job }: { job: SignalWorkflow }) =>
      this.defaultSignal !== undefined || this.signals.has(job.signalName);
    takeWhere(this.#waitingSignals, fits, ({ job, eventId }) => this.signal(job, eventId));
  }

  // ---- updates

  update(job: DoUpdate): void {
    const { name, id } = job;
    const fallback = this.defaultUpdate;
    const entry: UpdateEntry | undefined = this.updates.get(name) ??
      (fallback === undefined ? undefined : {
        handler: (...args: unknown[]) => fallback(name, ...args),
        validator: undefined,
        unfinishedPolicy: HandlerUnfinishedPolicy.WARN_AND_ABANDON,
      });
    if (entry === undefined) {
      this.#waitingUpdates.push(job);
      return;
    }
    if (!this.updates.has(name)) refuseReserved("update", name);
    const frame = {
      ...this.#run.context.current(),
      scope: CancellationScope.current(),
      update: { id, name },
    };
    this.#run.context.run(frame, () => this.#decide(job, entry));
  }

  /** Validates the update, responds, and starts the handler, without anything in between. */
  #decide(job: DoUpdate, entry: UpdateEntry): void {
    const { id, name, protocolInstanceId } = job;
    // The handler decodes the arguments again, without changes made by the validator.
    const decode = (): UpdateInput => {
      const args = decodeArguments(this.#run.converter, job.input, entry.typeInfo);
      return { updateId: id, name, args, headers: toInterceptorHeaders(job.headers) };
    };
    let input: UpdateInput;
    try {
      if (job.runValidator && entry.validator !== undefined) {
        const { validator } = entry;
        const validate = this.#inbound(
          name,
          "validateUpdate",
          ({ args }: UpdateInput) => void validator(...args),
        );
        this.#run.unreplayed(() => withLiveLogs(this.#run, () => validate(decode())));
      }
      input = decode();
    } catch (error) {
      // A rejected update is not in history, so getters of the error do not run on replay either.
      const failure = this.#run.unreplayed(() => this.#run.encodeError(error));
      this.#respond(protocolInstanceId, { $case: "rejected", value: failure });
      return;
    }
    this.#respond(protocolInstanceId, { $case: "accepted", value: {} });
    this.#runningUpdates.set(id, { name, id, unfinishedPolicy: entry.unfinishedPolicy });
    const group: GroupMessage = {
      variant: { $case: "inboundUpdate", value: { inboundUpdateId: id } },
    };
    const frame = this.#run.handlerFrame("update", name, job.input, group);
    const handle = this.#inbound(
      name,
      "handleUpdate",
      async ({ args }: UpdateInput) => await entry.handler(...args),
    );
    this.#run.context.run(frame, () => handle(input))
      .then((result) => {
        this.#respond(protocolInstanceId, {
          $case: "completed",
          value: {
            externalPayloads: [],
            ...encodeTypedValue(this.#run.converter, result, entry.typeInfo?.outputType),
          },
        });
      })
      .catch((error) => {
        if (!(error instanceof TemporalFailure)) return this.#run.endWith(error);
        this.#run.handlerFailed(`handler of update "${name}"`, error, protocolInstanceId);
        try {
          this.#respond(protocolInstanceId, {
            $case: "rejected",
            value: this.#run.encodeError(error, true),
          });
        } catch (cannot) {
          this.#run.endWith(cannot);
        }
      })
      .finally(() => {
        this.#runningUpdates.delete(id);
        this.#run.handlerEnded(frame);
      });
  }

  #respond(protocolInstanceId: string, response: NonNullable<UpdateResponse["response"]>): void {
    const bytes = encodeWith(UpdateResponse, { protocolInstanceId, response });
    this.#run.command(CommandKind.COMMAND_KIND_UPDATE_RESPONSE, bytes);
  }

  /** Returns the accepted messages for debug sessions. */
  inspect(): Pick<RunSnapshot, "receive" | "buffered"> {
    const names = (entries: ReadonlyMap<string, unknown>) => [...entries.keys()];
    const handling = [
      ...[...this.#runningSignals.values()].map(({ name }) => `handler of signal "${name}"`),
      ...[...this.#runningUpdates.values()].map(({ name }) => `handler of update "${name}"`),
    ];
    const buffered: { [name: string]: number } = {};
    for (const { job: { signalName } } of this.#waitingSignals) {
      buffered[signalName] = (buffered[signalName] ?? 0) + 1;
    }
    return {
      receive: {
        signals: names(this.signals),
        updates: names(this.updates),
        stopping: false,
        handling,
      },
      buffered,
    };
  }

  dispatchUpdates(): void {
    takeWhere(
      this.#waitingUpdates,
      (job) => this.defaultUpdate !== undefined || this.updates.has(job.name),
      (job) => {
        this.update(job);
      },
    );
  }

  /**
   * Rejects updates without a handler at the end of the activation, because the server does not
   * wait.
   */
  rejectWaitingUpdates(): void {
    for (const job of this.#waitingUpdates.splice(0)) {
      const failure = ApplicationFailure.nonRetryable(
        `No registered handler for update: ${job.name}`,
      );
      this.#respond(job.protocolInstanceId, {
        $case: "rejected",
        value: this.#run.encodeError(failure),
      });
    }
  }

  // ---- queries

  query(job: QueryWorkflow): void {
    const { queryId, queryType } = job;
    const answer = (result: NonNullable<QueryResult["result"]>) => {
      this.#run.command(
        CommandKind.COMMAND_KIND_QUERY_RESULT,
        encodeWith(QueryResult, { queryId, result }),
      );
    };
    const ask = this.#inbound(
      queryType,
      "handleQuery",
      ({ queryName, args }: QueryInput) => this.#askQuery(queryName, args),
    );
    const typeInfo = this.queries.get(queryType)?.typeInfo;
    const args = decodeArguments(this.#run.converter, job.arguments, typeInfo);
    ask({ queryName: queryType, args, queryId, headers: toInterceptorHeaders(job.headers) }).then(
      (value) => {
        // Tools read the results of built-in queries, so these have the default encoding.
        const builtIn = BUILT_IN_QUERIES.some(({ name }) => name === queryType);
        const converter = builtIn ? jsonPayloadConverter : this.#run.converter;
        answer({
          $case: "succeeded",
          value: {
            externalPayloads: [],
            ...encodeTypedValue(converter, value, typeInfo?.outputType),
          },
        });
      },
    ).catch((error) => answer({ $case: "failed", value: this.#run.encodeError(error) }));
  }

  #askQuery(name: string, args: unknown[]): Promise<unknown> {
    try {
      const entry = this.queries.get(name);
      if (entry === undefined && this.defaultQuery !== undefined) refuseReserved("query", name);
      const handler = entry?.handler ?? this.defaultQuery?.bind(undefined, name);
      if (handler === undefined) {
        const known = [...this.queries.keys()].join(" ");
        throw new ReferenceError(
          `Workflow did not register a handler for ${name}. Registered queries: [${known}]`,
        );
      }
      const value = handler(...args);
      if (value instanceof Promise) {
        throw new TypeError("Query handlers should not return a Promise");
      }
      return Promise.resolve(value);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** Calls the interceptors, except for Temporal's own messages. */
  #inbound<M extends keyof WorkflowInboundCallsInterceptor, F extends Operation>(
    name: string,
    method: M,
    last: F,
  ): F {
    return isReserved(name) ? last : callThrough(this.#run, "inbound", method, last);
  }

  /**
   * Response for user interfaces that show a workflow's messages; JSON form of
   * temporal.api.sdk.v1.WorkflowMetadata.
   */
  #metadata(): unknown {
    const list = (entries: Map<string, Entry>) =>
      sorted(
        [...entries].map(([name, { description }]) => ({
          name,
          ...(description !== undefined && { description }),
        })),
      );
    return {
      definition: {
        type: this.#run.info.workflowType,
        queryDefinitions: list(this.queries),
        signalDefinitions: list(this.signals),
        updateDefinitions: list(this.updates),
      },
      currentDetails: this.#run.details,
    };
  }

  // ---- warnings

  /** Warns of handlers that the end of the workflow interrupted. */
  warnOfUnfinished(): void {
    const warned = (running: Iterable<Running>) =>
      [...running].filter((one) =>
        one.unfinishedPolicy === HandlerUnfinishedPolicy.WARN_AND_ABANDON
      );
    const updates = warned(this.#runningUpdates.values());
    const signals = warned(this.#runningSignals.values());
    const advice =
      "Wait with `await condition(allHandlersFinished)`, or set unfinishedPolicy ABANDON on the handler";
    if (updates.length > 0) {
      this.#run.log(
        "warn",
        `[TMPRL1102] Workflow finished while an update handler was still running. ${advice}`,
        {
          updates: updates.map(({ name, id }) => ({ name, id })),
        },
      );
    }
    if (signals.length > 0) {
      this.#run.log(
        "warn",
        `[TMPRL1102] Workflow finished while a signal handler was still running. ${advice}`,
        {
          signals: signals.map(({ name }) => name),
        },
      );
    }
  }
}

/**
 * Keeps log lines of a validator, which runs once, live, even if the events around it are replayed.
 */
function withLiveLogs(run: MessageRun, fn: () => void): void {
  const before = run.info;
  run.info = { ...before, unsafe: { ...before.unsafe, isReplayingHistoryEvents: false } };
  try {
    fn();
  } finally {
    run.info = before;
  }
}

/** Takes matching items out of a list one by one: handling an item may change which ones match. */
function takeWhere<T>(list: T[], fits: (item: T) => boolean, handle: (item: T) => void): void {
  for (let i = list.findIndex(fits); i >= 0; i = list.findIndex(fits)) {
    handle(list.splice(i, 1)[0]!);
  }
}

/** Handlers for unknown names do not receive Temporal's reserved names. */
function refuseReserved(kind: string, name: string): void {
  if (!name.startsWith(TEMPORAL_RESERVED_PREFIX)) return;
  throw new TypeError(
    `Cannot use ${kind} name: '${name}', with reserved prefix: '${TEMPORAL_RESERVED_PREFIX}'`,
  );
}
