// OpenTelemetry as an application sets it up: the official SDK with its spans in memory, W3C's
// propagator, and a context that follows asynchronous code.
import { AsyncLocalStorage } from "node:async_hooks";
import {
  type Context,
  context,
  type ContextManager,
  propagation,
  ROOT_CONTEXT,
  type Tracer,
} from "@opentelemetry/api";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";

class AsyncContextManager implements ContextManager {
  readonly #storage = new AsyncLocalStorage<Context>();

  active(): Context {
    return this.#storage.getStore() ?? ROOT_CONTEXT;
  }

  with<A extends unknown[], F extends (...args: A) => ReturnType<F>>(
    active: Context,
    run: F,
    self?: ThisParameterType<F>,
    ...args: A
  ): ReturnType<F> {
    return this.#storage.run(active, () => run.apply(self as ThisParameterType<F>, args));
  }

  bind<T>(active: Context, target: T): T {
    if (typeof target !== "function") return target;
    return ((...args: unknown[]) =>
      this.with(active, () => (target as (...args: unknown[]) => unknown)(...args))) as T;
  }

  enable(): this {
    return this;
  }

  disable(): this {
    this.#storage.disable();
    return this;
  }
}

export interface Telemetry {
  readonly tracer: Tracer;
  /** Spans that have ended, in that order. */
  spans(): ReadableSpan[];
  /** The only span with that name. Throws for zero or several spans. */
  span(name: string): ReadableSpan;
  /** Each span as "parent > name", by name. */
  tree(): string[];
}

/** Registers globally; once in a process. */
export function setUpTelemetry(): Telemetry {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  context.setGlobalContextManager(new AsyncContextManager());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  const spans = () => exporter.getFinishedSpans();
  return {
    tracer: provider.getTracer("test"),
    spans,
    span(name) {
      const found = spans().filter((span) => span.name === name);
      if (found.length !== 1) {
        throw new Error(
          `${found.length} spans are called ${name}: ${
            spans().map((span) => span.name).join(", ")
          }`,
        );
      }
      return found[0]!;
    },
    tree() {
      const names = new Map(spans().map((span) => [span.spanContext().spanId, span.name]));
      return spans().map((span) => {
        const parent = span.parentSpanContext;
        return `${parent === undefined ? "" : `${names.get(parent.spanId) ?? "?"} > `}${span.name}`;
      }).sort();
    },
  };
}
