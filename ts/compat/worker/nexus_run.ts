// One Nexus request of a worker of the official packages: the handler's context, interceptors
// around the handler, and the official worker's log lines.
import type { Client } from "../client/mod.ts";
import {
  CancelledFailure,
  IllegalStateError,
  type LoadedDataConverter,
  type Logger,
  LoggerWithComposedMetadata,
  type MetricMeter,
  MetricMeterWithComposedTags,
  type MetricTags,
  SdkComponent,
} from "../common/mod.ts";
import { composeInterceptors } from "../common/interceptors.ts";
import { asyncLocalStorage } from "../nexus/context.ts";
import { handlerError } from "../nexus/errors.ts";
import type {
  CompiledHandler,
  OperationContext,
  ServiceHandler,
  StartOperationContext,
} from "../nexus/types.ts";
import { read } from "../../converter/thrown.ts";
import type { NexusOutcome, NexusRequest, NexusStart } from "../../worker/nexus/nexus_call.ts";
import { operationContext, outgoing, startContext } from "./nexus_context.ts";
import {
  checkNexusInterceptors,
  type NexusInboundCallsInterceptor,
  type NexusInterceptorsFactory,
  type NexusOutboundCallsInterceptor,
} from "./interceptors.ts";
import type { NexusValues } from "./nexus_values.ts";

/** Shared by the requests of a worker. */
export interface NexusEnvironment {
  readonly namespace: string;
  readonly taskQueue: string;
  readonly services: ReadonlyMap<string, ServiceHandler>;
  readonly converter: LoadedDataConverter;
  readonly logger: Logger;
  readonly metricMeter: MetricMeter;
  readonly interceptors: readonly NexusInterceptorsFactory[];
  /** Client for handlers; created on first use. */
  client(): Client | undefined;
}

export class NexusRun {
  readonly #request: NexusRequest;
  readonly #environment: NexusEnvironment;
  readonly #values: NexusValues;
  readonly #context: OperationContext;
  /** Logger of the worker, with attributes of the request. */
  readonly #logger: Logger;
  readonly #metricMeter: MetricMeter;
  readonly #inbound: NexusInboundCallsInterceptor[] = [];
  readonly #outbound: NexusOutboundCallsInterceptor[] = [];

  /** Throws what an interceptor's factory throws, and a HandlerError for an invalid request. */
  constructor(request: NexusRequest, environment: NexusEnvironment, values: NexusValues) {
    this.#request = request;
    this.#environment = environment;
    this.#values = values;
    this.#context = operationContext(request);
    this.#logger = LoggerWithComposedMetadata.compose(
      environment.logger,
      () => this.#logAttributes(),
    );
    this.#metricMeter = MetricMeterWithComposedTags.compose(
      environment.metricMeter,
      () => this.#metricTags(),
    );
    for (const factory of environment.interceptors) {
      const { inbound, outbound } = checkNexusInterceptors(factory(this.#context));
      if (inbound !== undefined) this.#inbound.push(inbound);
      if (outbound !== undefined) this.#outbound.push(outbound);
    }
  }

  get #attributes() {
    const { namespace, taskQueue } = this.#environment;
    const { service, operation } = this.#context;
    return { namespace, taskQueue, service, operation };
  }

  #logAttributes(): Record<string, unknown> {
    const attributes: Record<string, unknown> = this.#attributes;
    return composeInterceptors(
      this.#outbound,
      "getLogAttributes",
      ((input: unknown) => input) as never,
    )(attributes);
  }

  #metricTags(): MetricTags {
    return composeInterceptors(
      this.#outbound,
      "getMetricTags",
      ((input: unknown) => input) as never,
    )(this.#attributes);
  }

  /** Runs the handler. Rejects only for internal errors: what handlers throw is an outcome. */
  async run(): Promise<NexusOutcome> {
    const { namespace, taskQueue, client: ofWorker } = this.#environment;
    const client = ofWorker()!;
    const context = {
      client,
      namespace,
      taskQueue,
      endpoint: this.#request.endpoint,
      log: LoggerWithComposedMetadata.compose(this.#logger, { sdkComponent: SdkComponent.nexus }),
      metrics: this.#metricMeter,
    };
    // The client's calls do not end with the request, as with the official NativeConnection: a
    // handler may clean up after a cancellation.
    return await asyncLocalStorage.run(context, async () => await this.#execute());
  }

  async #execute(): Promise<NexusOutcome> {
    const { variant } = this.#request;
    if (variant.kind === "start") {
      if (variant.start.requestId === "") {
        throw new IllegalStateError("Missing requestId in Nexus start operation request");
      }
      return await this.#start(startContext(this.#context, variant.start), variant.start);
    }
    if (variant.kind === "cancel") return await this.#cancel({ ...this.#context }, variant.token);
    throw handlerError("NOT_IMPLEMENTED", "Request method not implemented");
  }

  #handler({ service, operation }: OperationContext): CompiledHandler {
    const found = this.#environment.services.get(service);
    if (found === undefined) {
      throw handlerError(
        "NOT_FOUND",
        `No service handler registered for service name '${service}'`,
      );
    }
    return found.getOperationHandler(operation);
  }

  async #start(ctx: StartOperationContext, { payload }: NexusStart): Promise<NexusOutcome> {
    try {
      const handler = this.#handler(ctx);
      const input = await this.#values.input(payload, handler.inputType);
      const last = async ({ ctx, input }: { ctx: StartOperationContext; input: unknown }) => ({
        result: await this.#call("startOperation", () => handler.start(ctx, input)),
      });
      const { result } = await composeInterceptors(this.#inbound, "startOperation", last as never)({
        ctx,
        input,
      });
      if (result.isAsync) {
        return { kind: "async", token: result.token, links: outgoing(ctx.outboundLinks) };
      }
      const value = await this.#values.output(result.value, handler.outputType);
      return { kind: "sync", payload: value, links: outgoing(ctx.outboundLinks) };
    } catch (error) {
      return await this.#values.failed(error);
    }
  }

  async #cancel(ctx: OperationContext, token: string): Promise<NexusOutcome> {
    try {
      const handler = this.#handler(ctx);
      const last = ({ ctx, token }: { ctx: OperationContext; token: string }) =>
        this.#call("cancelOperation", () => handler.cancel(ctx, token));
      await composeInterceptors(this.#inbound, "cancelOperation", last as never)({ ctx, token });
      return { kind: "cancelRequested" };
    } catch (error) {
      return await this.#values.unhandled(error);
    }
  }

  async #call<T>(method: string, run: () => Promise<T>): Promise<T> {
    const began = performance.now();
    const meta = () => ({ method, durationMs: Math.floor(performance.now() - began) });
    this.#logger.debug("Nexus handler started", { method });
    try {
      const result = await run();
      this.#logger.debug("Nexus handler invocation completed", meta());
      return result;
    } catch (error) {
      const stopped = error instanceof CancelledFailure || read(error, "name") === "AbortError";
      if (stopped && this.#context.abortSignal.aborted) {
        this.#logger.debug("Nexus handler invocation completed as cancelled", meta());
      } else {this.#logger.warn("Nexus handler invocation failed", {
          error: this.#values.loggable(error),
          ...meta(),
        });}
      throw error;
    }
  }
}
