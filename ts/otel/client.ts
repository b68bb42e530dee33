// Spans for the operations of a client, named as in Temporal's SDKs, with the span context in the
// headers of starts, signals, updates and queries.
import { loggable } from "../codec/loggable.ts";
import { isA, messageOf, nameOf as errorName } from "../converter/thrown.ts";
import { context, type Span, SpanStatusCode, trace, type Tracer } from "@opentelemetry/api";
import type { PayloadHeaders } from "../client/context.ts";
import type { AnyClientInput, ClientInterceptor } from "../client/interceptors.ts";
import { headersWith } from "./carrier.ts";
import { ATTRIBUTES } from "./names.ts";

/** Returns the span name of an operation. */
function nameOf({ operation, input }: AnyClientInput): string {
  switch (operation) {
    case "start":
      return `StartWorkflow:${input.workflowType}`;
    case "signalWithStart":
      return `SignalWithStartWorkflow:${input.workflowType}`;
    case "startActivity":
      return `StartActivity:${input.activityType}`;
    case "signal":
      return `SignalWorkflow:${input.signalName}`;
    case "update":
      return `StartWorkflowUpdate:${input.updateName}`;
    case "query":
      return `QueryWorkflow:${input.queryType}`;
    case "cancel":
    case "terminate":
    case "describe":
      return `${capital(operation)}Workflow`;
    case "list":
    case "count":
      return `${capital(operation)}Workflows`;
    default:
      // An operation of a newer client.
      return capital(operation as string);
  }
}

const capital = (text: string) => `${text[0]!.toUpperCase()}${text.slice(1)}`;

interface Named {
  /** Of a standalone activity. */
  readonly id?: string;
  readonly workflowId?: string | undefined;
  readonly runId?: string | undefined;
  readonly updateId?: string;
  readonly options?: { readonly id?: string };
  readonly headers?: PayloadHeaders;
  readonly startHeaders?: PayloadHeaders;
  readonly updateHeaders?: PayloadHeaders;
}

export function clientInterceptor(tracer: Tracer): ClientInterceptor {
  return {
    async any(call, next) {
      const input = call.input as Named;
      const span = tracer.startSpan(nameOf(call));
      const active = trace.setSpan(context.active(), span);
      const startedId = input.options?.id;
      const isActivity = call.operation === "startActivity";
      set(span, ATTRIBUTES.workflowId, input.workflowId ?? (isActivity ? undefined : startedId));
      set(span, ATTRIBUTES.activityId, isActivity ? startedId : input.id);
      set(span, ATTRIBUTES.runId, input.runId);
      set(span, ATTRIBUTES.updateId, input.updateId);
      for (const headers of [input.headers, input.startHeaders, input.updateHeaders]) {
        if (headers !== undefined) Object.assign(headers, headersWith(active, {}));
      }
      try {
        const answer = await context.with(active, next);
        set(span, ATTRIBUTES.runId, (answer as { readonly runId?: unknown } | undefined)?.runId);
        span.setStatus({ code: SpanStatusCode.OK });
        return answer;
      } catch (error) {
        recordError(span, error, call.hidesText);
        throw error;
      } finally {
        span.end();
      }
    },
  };
}

function set(span: Span, name: string, value: unknown): void {
  if (typeof value === "string" && value !== "") span.setAttribute(name, value);
}

/**
 * Records the message and the stack of an error in a span; only its type where the text is hidden,
 * as in the worker's log.
 */
export function recordError(span: Span, error: unknown, hidesText: boolean): void {
  const shown = loggable(error, { hidesText });
  const message = messageOf(shown);
  span.setStatus({ code: SpanStatusCode.ERROR, message });
  span.recordException(isA(shown, Error) ? shown : { name: errorName(error), message });
}
