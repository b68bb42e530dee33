// Spans of a worker: of workflow runs, of the calls that they make, and of attempts of activities.
import {
  context,
  ROOT_CONTEXT,
  type Span,
  SpanStatusCode,
  trace,
  type Tracer,
} from "@opentelemetry/api";
import { read } from "../converter/thrown.ts";
import type { ActivityInterceptor } from "../worker/interceptors.ts";
import type {
  RunTrace,
  TracedCommand,
  WorkflowTracer,
} from "../worker/workflow/workflow_tracing.ts";
import { contextOf, headersWith } from "./carrier.ts";
import { recordError } from "./client.ts";
import { ATTRIBUTES } from "./names.ts";

export function activityInterceptor(tracer: Tracer): ActivityInterceptor {
  return async (call, next) => {
    const { activityType, activityId, workflowId, runId } = call.context.info;
    const attributes = {
      [ATTRIBUTES.activityId]: activityId,
      [ATTRIBUTES.workflowId]: workflowId,
      [ATTRIBUTES.runId]: runId,
    };
    const parent = contextOf(call.headers, ROOT_CONTEXT);
    const span = tracer.startSpan(`RunActivity:${activityType}`, { attributes }, parent);
    try {
      const result = await context.with(trace.setSpan(parent, span), () => next(call));
      span.setStatus({ code: SpanStatusCode.OK });
      return result;
    } catch (error) {
      // The activity is completed from outside; the attempt did not fail.
      if (read(error, "name") === "CompleteAsyncError") span.setStatus({ code: SpanStatusCode.OK });
      else recordError(span, error, call.hidesText);
      throw error;
    } finally {
      span.end();
    }
  };
}

const COMMANDS: {
  readonly [kind in TracedCommand["kind"]]: { readonly name: string; readonly id?: string };
} = {
  activity: { name: "StartActivity", id: ATTRIBUTES.activityId },
  childWorkflow: { name: "StartChildWorkflow", id: ATTRIBUTES.workflowId },
  signal: { name: "SignalWorkflow", id: ATTRIBUTES.workflowId },
  continueAsNew: { name: "ContinueAsNew" },
};

export function workflowTracer(tracer: Tracer): WorkflowTracer {
  return {
    run({ workflowType, workflowId, runId, headers, isNew }): RunTrace {
      const ids = { [ATTRIBUTES.workflowId]: workflowId, [ATTRIBUTES.runId]: runId };
      const parent = contextOf(headers, ROOT_CONTEXT);
      // The span of a run is made with its first task. A worker that continues the run makes none:
      // calls of the run then have the parent that started the run.
      const span: Span | undefined = isNew
        ? tracer.startSpan(`RunWorkflow:${workflowType}`, { attributes: ids }, parent)
        : undefined;
      const own = span === undefined ? parent : trace.setSpan(parent, span);
      return {
        command({ kind, name, id, headers }) {
          const { name: what, id: attribute } = COMMANDS[kind];
          const attributes = {
            ...ids,
            ...(attribute !== undefined && id !== "" && { [attribute]: id }),
          };
          const command = tracer.startSpan(`${what}:${name}`, { attributes }, own);
          return {
            headers: headersWith(trace.setSpan(own, command), headers),
            done(taken) {
              command.setStatus(
                taken
                  ? { code: SpanStatusCode.OK }
                  : { code: SpanStatusCode.ERROR, message: "the service did not take it" },
              );
              command.end();
            },
          };
        },
        end(how) {
          if (span === undefined) return;
          if (how === "left") span.addEvent("the worker follows this run no longer");
          else if (how === "failed") {
            span.setStatus({ code: SpanStatusCode.ERROR, message: "the workflow failed" });
          } else span.setStatus({ code: SpanStatusCode.OK });
          span.end();
        },
      };
    },
  };
}
