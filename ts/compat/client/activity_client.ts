// `ActivityClient` of `@temporalio/client`: standalone activities, and completion from outside.
import type { DescMessage } from "@bufbuild/protobuf";
import { WorkflowService as Service } from "../../messages/generated/temporal/api/workflowservice/v1/service_pb.ts";
import { type OptionNames, rejectMisspelledMethods } from "../../base/option_names.ts";
import { askUntil, Deadline } from "../../client/calls.ts";
import { nameError } from "../../client/context.ts";
import { randomId } from "../../platform/host.ts";
import { Code, type MethodName } from "../../service/raw.ts";
import { composeInterceptors, type Next } from "../common/interceptors.ts";
import { fromPayloadsAtIndex } from "../common/payloads.ts";
import { fromPlain, type PlainMessage, toPlain } from "../common/plain_proto.ts";
import { msOptionalToTs } from "../common/proto_time.ts";
import { searchAttributePayloadConverter } from "../common/search_attribute_converters.ts";
import type { ActivitySerializationContext, TypeInfo } from "../common/type_info.ts";
import {
  checkStandaloneOptions,
  describedActivity,
  listedActivity,
  optionsResult,
  startFields,
  updateFields,
} from "./activity_conversions.ts";
import type {
  ActivityClientInterceptor,
  ActivityExecutionDescription,
  ActivityExecutionInfo,
  ActivityHandle,
  ActivityListInput,
  ActivityOptions,
  ActivityStartInput,
  CountActivityExecutions,
  GetActivityHandleOptions,
  TypedActivityClient,
} from "./activity_types.ts";
import {
  AsyncCompletionClient,
  type AsyncCompletionClientOptions,
} from "./async_completion_client.ts";
import {
  ActivityExecutionAlreadyStartedError,
  ActivityExecutionFailedError,
  ActivityNotFoundError,
} from "./errors.ts";
import { refusalIn } from "./grpc_errors.ts";
import { type Concern, officialError, refusing } from "./refusals.ts";

/** Options of an {@link ActivityClient}. */
export interface ActivityClientOptions extends AsyncCompletionClientOptions {
  /** Interceptors of its operations, the first one outermost. */
  interceptors?: ActivityClientInterceptor[];
}

const METHODS: OptionNames<ActivityClientInterceptor> = {
  start: 1,
  getResult: 1,
  describe: 1,
  cancel: 1,
  terminate: 1,
  list: 1,
  count: 1,
  pause: 1,
  unpause: 1,
  updateOptions: 1,
  restoreOriginalOptions: 1,
};

/** An activity; an empty run id is the latest run. */
interface Target {
  readonly activityId: string;
  readonly activityRunId: string;
}

// deno-lint-ignore no-explicit-any
type Any = any;

/** Starts and finds activities without a workflow, and completes activities from outside. */
export class ActivityClient extends AsyncCompletionClient {
  readonly #interceptors: ActivityClientInterceptor[];

  /** Throws a TypeError for an interceptor with a misspelled method. */
  constructor({ interceptors = [], ...options }: ActivityClientOptions = {}) {
    super(options);
    for (const each of interceptors) {
      rejectMisspelledMethods("an activity interceptor of the client", each, METHODS);
    }
    this.#interceptors = interceptors;
  }

  /** Returns this client with the types of activities. */
  typed<T>(): TypedActivityClient<T> {
    return this as unknown as TypedActivityClient<T>;
  }

  /** Starts an activity. Throws an ActivityExecutionAlreadyStartedError if the id is in use. */
  async start<R = Any>(activity: string, options: ActivityOptions): Promise<ActivityHandle<R>> {
    const start = this.#through("start", (input) => this.#start(input));
    return await start({ activityType: activity, options, headers: {} });
  }

  /** Starts an activity and waits for its result. */
  async execute<R = Any>(activity: string, options: ActivityOptions): Promise<R> {
    return await (await this.start<R>(activity, options)).result();
  }

  /** Returns a handle without a request; without a run id, of the latest run. */
  getHandle<R = Any>(activityId: string, runId?: string): ActivityHandle<R> {
    return this.#handle(activityId, runId);
  }

  /** The same with a type hint of the result. */
  getHandleWithOptions<R = Any>(
    activityId: string,
    { runId, typeInfo }: GetActivityHandleOptions,
  ): ActivityHandle<R> {
    return this.#handle(activityId, runId, typeInfo?.outputType);
  }

  /** Lists activities that match a query. */
  list(query: string): AsyncIterable<ActivityExecutionInfo> {
    return this.#through("list", (input) => this.#list(input))({ query, headers: {} });
  }

  /** Counts activities that match a query. */
  async count(query: string): Promise<CountActivityExecutions> {
    const count = this.#through("count", async (input) => {
      const response = await this.#call(
        "countActivityExecutions",
        { query: input.query },
        { fallback: "Failed to count activities" },
      );
      return {
        count: Number(response.count ?? 0),
        groups: response.groups?.map((group: PlainMessage) => ({
          count: Number(group.count ?? 0),
          groupValues: group.groupValues?.map((value: PlainMessage) =>
            searchAttributePayloadConverter.fromPayload(value)
          ),
        })),
      };
    });
    return await count({ query, headers: {} });
  }

  // ---------------------------------------------------------------------------------------- calls

  #through<M extends keyof ActivityClientInterceptor>(
    method: M,
    last: Next<ActivityClientInterceptor, M>,
  ): Next<ActivityClientInterceptor, M> {
    return composeInterceptors([...this.#interceptors], method, last);
  }

  #context(activityId: string): ActivitySerializationContext {
    return { type: "activity", namespace: this.options.namespace, activityId, isLocal: false };
  }

  /** Calls a method with a message in the official packages' form; returns one. */
  #call(
    method: MethodName,
    request: PlainMessage,
    concern: Concern,
    startedId?: string,
  ): Promise<PlainMessage> {
    return refusing(
      this,
      async () => {
        const { input, output } = Service.method[method];
        const message = fromPlain(input as DescMessage, {
          namespace: this.options.namespace,
          ...request,
        });
        const context = this.operationContext();
        try {
          const response = await context.calls.call(
            method,
            message as never,
            new Deadline(this.callSettings()),
          );
          return toPlain(output as DescMessage, response as never);
        } catch (error) {
          throw nameError(context, error, { what: "the call" });
        }
      },
      concern,
      (thrown, known) => activityError(thrown, known, startedId),
    );
  }

  /** A call about one activity. */
  #callFor(
    method: MethodName,
    { activityId, activityRunId }: Target,
    request: PlainMessage,
    fallback: string,
  ): Promise<PlainMessage> {
    const target = { activityId, ...(activityRunId && { runId: activityRunId }) };
    return this.#call(method, { ...target, ...request }, { fallback });
  }

  /** A call that changes one activity. */
  #change(
    method: MethodName,
    target: Target,
    request: PlainMessage,
    fallback: string,
  ): Promise<PlainMessage> {
    const common = { identity: this.options.identity, requestId: randomId() };
    return this.#callFor(method, target, { ...common, ...request }, fallback);
  }

  async #start(input: ActivityStartInput): Promise<ActivityHandle> {
    if (!input.activityType) throw new TypeError("activityType is required");
    const { options } = input;
    checkStandaloneOptions(options);
    const fields = startFields(input, this.dataConverter, this.#context(options.id));
    const request = { identity: this.options.identity, requestId: randomId(), ...fields };
    const concern = { fallback: "Failed to start activity" };
    const { runId } = await this.#call("startActivityExecution", request, concern, options.id);
    return this.#handle(options.id, runId, options.typeInfo?.outputType);
  }

  async *#list({ query }: ActivityListInput): AsyncGenerator<ActivityExecutionInfo, void, void> {
    let nextPageToken: Uint8Array | undefined;
    for (;;) {
      const page = await this.#call(
        "listActivityExecutions",
        { query, ...(nextPageToken && { nextPageToken }) },
        { fallback: "Failed to list activities" },
      );
      for (const info of page.executions ?? []) yield listedActivity(info);
      nextPageToken = page.nextPageToken;
      if (!nextPageToken?.length) return;
    }
  }

  async #result(target: Target, outputType: TypeInfo | undefined): Promise<unknown> {
    const { activityId, activityRunId } = target;
    const response = await askUntil(new Deadline(this.callSettings()), async () => {
      const polled = await this.#callFor(
        "pollActivityExecution",
        target,
        {},
        "Failed to get activity result",
      );
      return polled.outcome?.result || polled.outcome?.failure ? polled : undefined;
    });
    const { result, failure } = response.outcome;
    const { payloadConverter, failureConverter } = this.dataConverter;
    const context = this.#context(activityId);
    if (result) {
      return result.payloads?.length
        ? fromPayloadsAtIndex(payloadConverter, 0, result.payloads, context, outputType)
        : undefined;
    }
    throw new ActivityExecutionFailedError(
      "Activity execution failed",
      failureConverter.failureToError(failure, payloadConverter, context),
      activityId,
      response.runId || activityRunId || undefined,
    );
  }

  async #describe(target: Target, included: PlainMessage): Promise<ActivityExecutionDescription> {
    const response = await this.#callFor(
      "describeActivityExecution",
      target,
      included,
      "Failed to describe activity",
    );
    return describedActivity(response, this.dataConverter, this.#context(target.activityId));
  }

  #handle<R>(activityId: string, runId?: string, outputType?: TypeInfo): ActivityHandle<R> {
    if (!activityId) throw new TypeError("activityId is required");
    const target = { activityId, activityRunId: runId ?? "", headers: {} };
    return {
      activityId,
      ...(runId !== undefined && { runId }),
      result: () =>
        this.#through("getResult", (input) => this.#result(input, input.outputType))({
          ...target,
          ...(outputType && { outputType }),
        }),
      describe: (options = {}) =>
        this.#through("describe", (input) => this.#describe(input, input.options))({
          ...target,
          options: {
            includeInput: options.includeInput ?? false,
            includeOutcome: options.includeOutcome ?? false,
            includeHeartbeatDetails: options.includeHeartbeatDetails ?? false,
            includeLastFailure: options.includeLastFailure ?? false,
          },
        }),
      ...this.#operations(target),
    };
  }

  async #stop(
    method: "requestCancelActivityExecution" | "terminateActivityExecution",
    input: Target & { readonly reason: string },
    fallback: string,
  ): Promise<void> {
    await this.#change(method, input, { reason: input.reason || undefined }, fallback);
  }

  /** The operations of a handle that operators use. */
  #operations(target: Target & { readonly headers: Record<string, never> }) {
    const update = async (input: Target, request: PlainMessage, fallback: string) => {
      const response = await this.#change(
        "updateActivityExecutionOptions",
        input,
        request,
        fallback,
      );
      return optionsResult(response.activityOptions);
    };
    return {
      cancel: (reason) =>
        this.#through("cancel", (input) => {
          const fallback = "Failed to request activity cancellation";
          return this.#stop("requestCancelActivityExecution", input, fallback);
        })({ ...target, reason }),
      terminate: (reason) =>
        this.#through("terminate", (input) => {
          const fallback = "Failed to terminate activity";
          return this.#stop("terminateActivityExecution", input, fallback);
        })({ ...target, reason }),
      pause: (options = {}) =>
        this.#through("pause", async (input) => {
          const { reason } = input.options;
          await this.#change(
            "pauseActivityExecution",
            input,
            { reason: reason || undefined },
            "Failed to request activity pause",
          );
        })({ ...target, options }),
      unpause: (options = {}) =>
        this.#through("unpause", async (input) => {
          const { reason, jitter } = input.options;
          await this.#change(
            "unpauseActivityExecution",
            input,
            { reason: reason || undefined, jitter: msOptionalToTs(jitter) },
            "Failed to request activity unpause",
          );
        })({ ...target, options }),
      updateOptions: (options) =>
        this.#through(
          "updateOptions",
          (input) =>
            update(input, updateFields(input.options), "Failed to update activity options"),
        )({ ...target, options }),
      restoreOriginalOptions: () =>
        this.#through("restoreOriginalOptions", (input) =>
          update(
            input,
            { restoreOriginal: true },
            "Failed to restore original activity options",
          ))(target),
    } satisfies Pick<
      ActivityHandle,
      "cancel" | "terminate" | "pause" | "unpause" | "updateOptions" | "restoreOriginalOptions"
    >;
  }
}

/** Returns the error of a call about a standalone activity. `startedId`: of a start. */
function activityError(thrown: unknown, concern: Concern, startedId: string | undefined): unknown {
  const refusal = refusalIn(thrown);
  if (startedId !== undefined && refusal?.reason === "ActivityExecutionAlreadyStarted") {
    const runId = refusal.metadata["run_id"] ?? "";
    const text = "Activity execution already started";
    return new ActivityExecutionAlreadyStartedError(text, startedId, runId);
  }
  if (refusal?.code === Code.NOT_FOUND && !refusal.reason.startsWith("NamespaceNotFound")) {
    return new ActivityNotFoundError(refusal.message || "Activity not found");
  }
  return officialError(thrown, concern);
}
