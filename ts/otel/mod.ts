// "temporalex/otel": traces of client calls, workflow runs and activities, with the OpenTelemetry
// API that the application has installed.
import { trace, type Tracer } from "@opentelemetry/api";
import type { ClientOptions } from "../client/client.ts";
import type { WorkerOptions } from "../worker/options.ts";
import { clientInterceptor } from "./client.ts";
import { activityInterceptor, workflowTracer } from "./worker.ts";

export { TRACE_HEADER } from "./carrier.ts";

/** Options of {@link openTelemetry}. */
export interface OpenTelemetryOptions {
  /** Creates the spans. Default: the global provider's tracer "temporalex". */
  tracer?: Tracer;
}

/** Result of {@link openTelemetry}: options to spread into those of clients and workers. */
export interface OpenTelemetry {
  /**
   * Options of a `Client`. To add other interceptors: `interceptors:
   * [...tracing.client.interceptors, mine]`.
   */
  readonly client: Required<Pick<ClientOptions, "interceptors">>;
  /** Options of a `Worker`. */
  readonly worker: Required<Pick<WorkerOptions, "activityInterceptors" | "workflowTracer">>;
}

/**
 * Returns options that trace with OpenTelemetry. Spans are named as in Temporal's SDKs and travel
 * in the same header, so a trace includes clients and workers of other SDKs: StartWorkflow,
 * RunWorkflow, StartActivity, RunActivity, each the parent of the next.
 *
 * The application sets up OpenTelemetry as usual (a tracer provider, a context manager, a
 * propagator); without it no spans are made. The span of a workflow run begins with its first task
 * and ends with the run, or when the worker of its first task stops. A replay makes no spans.
 *
 * @example
 * const tracing = openTelemetry();
 * const client = new Client({ service, ...tracing.client });
 * const worker = await Worker.create({
 *   service,
 *   taskQueue,
 *   workflows,
 *   activities,
 *   ...tracing.worker,
 * });
 */
export function openTelemetry(options: OpenTelemetryOptions = {}): OpenTelemetry {
  const tracer = options.tracer ?? trace.getTracer("temporalex");
  return {
    client: { interceptors: [clientInterceptor(tracer)] },
    worker: {
      activityInterceptors: [activityInterceptor(tracer)],
      workflowTracer: workflowTracer(tracer),
    },
  };
}
