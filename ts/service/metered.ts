// A service with counted and timed calls. It is the innermost wrapper, so retries count as separate
// attempts, as in Temporal's SDKs.
import { GetWorkflowExecutionHistoryRequest } from "../messages/generated/fields.ts";
import { intOf } from "../messages/wire.ts";
import { type Metrics, SeriesBy } from "../base/metrics.ts";
import { type CallOptions, Code, type MethodName, type RawService, ServiceError } from "./raw.ts";

const POLLS: ReadonlySet<MethodName> = new Set<MethodName>([
  "pollWorkflowTaskQueue",
  "pollActivityTaskQueue",
  "pollNexusTaskQueue",
  "pollWorkflowExecutionUpdate",
]);

const CODE_NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(Code).map(([name, code]) => [code, name]),
);

/**
 * Returns whether a call waits for an event. Such calls have separate metrics: their latency does
 * not depend on the service.
 */
function isLong(method: MethodName, request: Uint8Array): boolean {
  if (method !== "getWorkflowExecutionHistory") return POLLS.has(method);
  return intOf(request, GetWorkflowExecutionHistoryRequest.waitNewEvent) !== 0;
}

export interface Caller {
  readonly namespace: string;
  /** The queue that a worker polls. */
  readonly taskQueue?: string;
}

/** Metrics of one method, for long or for ordinary calls. */
class CallSeries {
  readonly #requests;
  readonly #latency;
  readonly #failures: SeriesBy<ReturnType<Metrics["counter"]>>;

  constructor(
    metrics: Metrics,
    { namespace, taskQueue }: Caller,
    method: MethodName,
    long: boolean,
  ) {
    const name = `temporal_${long ? "long_" : ""}request`;
    const labels = {
      operation: method[0]!.toUpperCase() + method.slice(1),
      namespace,
      ...(long && taskQueue !== undefined && { task_queue: taskQueue }),
    };
    this.#requests = metrics.counter(name, labels);
    this.#latency = metrics.histogram(`${name}_latency`, labels);
    this.#failures = new SeriesBy((status_code) =>
      metrics.counter(`${name}_failure`, { ...labels, status_code })
    );
  }

  begin(): number {
    this.#requests.add();
    return performance.now();
  }

  end(began: number): void {
    this.#latency.record(performance.now() - began);
  }

  failed(code: number): void {
    this.#failures.of(CODE_NAMES.get(code) ?? "UNKNOWN").add();
  }
}

/** Returns the service with metrics for each call, or the service itself without metrics. */
export function metered(
  service: RawService,
  metrics: Metrics | undefined,
  caller: Caller,
): RawService {
  if (metrics === undefined) return service;
  const plain = new Map<MethodName, CallSeries>();
  const long = new Map<MethodName, CallSeries>();
  const seriesOf = (method: MethodName, isLong: boolean) => {
    const known = isLong ? long : plain;
    let series = known.get(method);
    if (series === undefined) {
      known.set(method, series = new CallSeries(metrics, caller, method, isLong));
    }
    return series;
  };
  const call = async (
    method: MethodName,
    request: Uint8Array,
    options?: CallOptions,
  ): Promise<Uint8Array> => {
    const waits = isLong(method, request);
    const series = seriesOf(method, waits);
    const began = series.begin();
    try {
      return await service.call(method, request, options);
    } catch (error) {
      // A call canceled by the caller has not failed. A poll that reached its deadline has only
      // found no task.
      const given = options?.signal?.aborted === true;
      const code = error instanceof ServiceError ? error.code : Code.UNKNOWN;
      if (!given && !(waits && code === Code.DEADLINE_EXCEEDED)) series.failed(code);
      throw error;
    } finally {
      series.end(began);
    }
  };
  // All other properties of the service stay visible.
  return new Proxy(service, {
    get(target, name) {
      if (name === "call") return call;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
