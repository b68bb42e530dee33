// Traces of workflow runs, made on the host's side of the realm: workflow code knows nothing of them and has no way to them. A run's trace
// begins with its first task and ends when the run does. What leaves the realm is new work (a replay sends no commands), so spans that are made
// for commands are made once; the contexts go into the commands' headers here, behind the realm, where history keeps them for the workers
// that carry the commands out. Matching never looks at headers, so a replay does not depend on them.
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { Payload } from "../converter/payload.ts";
import type { Command } from "../api/generated/temporal/api/command/v1/message_pb.ts";
import { HeaderSchema } from "../api/generated/temporal/api/common/v1/message_pb.ts";
import { RespondWorkflowTaskCompletedRequestSchema } from "../api/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { readRunStart, type RunStart } from "../api/history_start.ts";
import { runStartOf, type TaskHead, type WorkflowTask } from "../api/workflow_task.ts";
import type { Logger } from "../base/logger.ts";
import { readEnding, type RunEnding } from "./run_ending.ts";

type Headers = { readonly [name: string]: Payload };

/** A run whose task has come to this worker, and that it does not know yet. */
export interface TracedRun {
  /** Name of the workflow type. */
  readonly workflowType: string;
  /** Id of the workflow. */
  readonly workflowId: string;
  /** The run. */
  readonly runId: string;
  /** Headers of its start. */
  readonly headers: Headers;
  /** This is its first task; otherwise another worker, or this one before a restart, had tasks of it. */
  readonly isNew: boolean;
}

/** Something that a workflow asks for and that other code carries out. */
export interface TracedCommand {
  /** What it asks for. */
  readonly kind: "activity" | "childWorkflow" | "signal" | "continueAsNew";
  /** Type of the activity or workflow, or name of the signal. */
  readonly name: string;
  /** Id of the activity, or of the workflow that is started or signalled; "" where there is none. */
  readonly id: string;
  /** Headers that go with it. */
  readonly headers: Headers;
}

/** The trace of a run. */
export interface RunTrace {
  /** A command leaves. Answers the headers that go with it, and what is called when the service has taken it, or has not. */
  command(command: TracedCommand): { readonly headers: Headers; done(taken: boolean): void };
  /** The run has ended, or this worker follows it no longer ("left"): it stops, or has too many. */
  end(how: RunEnding | "left"): void;
}

/** Who makes traces of workflow runs: `openTelemetry()` of `temporalex/otel`. What it throws is logged, and costs no more than the trace. */
export interface WorkflowTracer {
  /** Called once per run, and again when the worker has forgotten it. */
  run(run: TracedRun): RunTrace;
}

/** Runs that are followed at once; beyond it the one that was quiet for longest is let go. */
const MAX_RUNS = 10_000;

export class WorkflowTracing {
  readonly #tracer: WorkflowTracer;
  readonly #logger: Logger;
  /** The one without a task for longest first. */
  readonly #runs = new Map<string, RunTrace>();
  /** Runs with a task in work that came without their first event. */
  readonly #unknown = new Map<string, TaskHead>();

  constructor(tracer: WorkflowTracer, logger: Logger) {
    this.#tracer = tracer;
    this.#logger = logger;
  }

  /** A trace is not worth a workflow task. */
  #attempt<T>(what: () => T, otherwise: T): T {
    try {
      return what();
    } catch (error) {
      this.#logger.warn("a trace could not be created", { error });
      return otherwise;
    }
  }

  /** A task was taken. */
  begin(task: WorkflowTask): void {
    const { head } = task;
    const { runId } = head;
    const known = this.#runs.get(runId);
    if (known !== undefined) {
      this.#runs.delete(runId);
      this.#runs.set(runId, known);
      return;
    }
    // A query begins nothing: its run may be closed.
    if (head.query !== undefined) return;
    const start = runStartOf(task);
    if (start === undefined) this.#unknown.set(runId, head);
    else this.#follow(head, start, head.previousStartedEventId === 0);
  }

  /** The realm asked for a page of a run's history; without a token, for the first one. */
  page(runId: string, token: Uint8Array, history: Uint8Array): void {
    const head = this.#unknown.get(runId);
    if (head === undefined || token.length > 0) return;
    const start = readRunStart(history);
    if (start !== undefined) this.#follow(head, start, false);
  }

  /** A completion (the request) with the headers that go with its commands, and what is called with whether the service took it. */
  completion({ runId }: TaskHead, request: Uint8Array): { request: Uint8Array; done: (taken: boolean) => void } {
    this.#unknown.delete(runId);
    const trace = this.#runs.get(runId);
    const untraced = { request, done: () => {} };
    return trace === undefined ? untraced : this.#attempt(() => this.#traced(runId, trace, request), untraced);
  }

  #traced(runId: string, trace: RunTrace, request: Uint8Array): { request: Uint8Array; done: (taken: boolean) => void } {
    const message = fromBinary(RespondWorkflowTaskCompletedRequestSchema, request);
    const ends: ((taken: boolean) => void)[] = [];
    for (const command of message.commands) {
      const traced = tracedCommand(command);
      if (traced === undefined) continue;
      const { headers, done } = trace.command(traced.command);
      traced.set(headers);
      ends.push(done);
    }
    const ending = readEnding(request);
    return {
      request: ends.length === 0 ? request : toBinary(RespondWorkflowTaskCompletedRequestSchema, message),
      done: (taken) =>
        this.#attempt(() => {
          for (const end of ends) end(taken);
          if (ending === undefined || !taken) return;
          this.#runs.delete(runId);
          trace.end(ending);
        }, undefined),
    };
  }

  /** The worker stops. */
  stop(): void {
    for (const trace of this.#runs.values()) this.#attempt(() => trace.end("left"), undefined);
    this.#runs.clear();
  }

  #follow({ runId, workflowId, workflowType }: TaskHead, { header }: RunStart, isNew: boolean): void {
    this.#unknown.delete(runId);
    const made = this.#attempt(() => {
      const headers = header === undefined ? {} : fromBinary(HeaderSchema, header).fields;
      return this.#tracer.run({ workflowType, workflowId, runId, headers, isNew });
    }, undefined);
    if (made === undefined) return;
    this.#runs.set(runId, made);
    if (this.#runs.size <= MAX_RUNS) return;
    const [oldest, trace] = this.#runs.entries().next().value!;
    this.#runs.delete(oldest);
    this.#attempt(() => trace.end("left"), undefined);
  }
}

/** What a command asks for, and how its headers are replaced; undefined for one that asks nobody. */
function tracedCommand({ attributes }: Command): { command: TracedCommand; set: (headers: Headers) => void } | undefined {
  const of = (
    kind: TracedCommand["kind"],
    name: string | undefined,
    id: string | undefined,
    holder: { header?: { fields: Headers } | undefined },
  ) => ({
    command: { kind, name: name ?? "", id: id ?? "", headers: holder.header?.fields ?? {} },
    set: (fields: Headers) => void (holder.header = create(HeaderSchema, { fields: { ...fields } })),
  });
  switch (attributes.case) {
    case "scheduleActivityTaskCommandAttributes":
      return of("activity", attributes.value.activityType?.name, attributes.value.activityId, attributes.value);
    case "startChildWorkflowExecutionCommandAttributes":
      return of("childWorkflow", attributes.value.workflowType?.name, attributes.value.workflowId, attributes.value);
    case "signalExternalWorkflowExecutionCommandAttributes":
      return of("signal", attributes.value.signalName, attributes.value.execution?.workflowId, attributes.value);
    case "continueAsNewWorkflowExecutionCommandAttributes":
      return of("continueAsNew", attributes.value.workflowType?.name, "", attributes.value);
    default:
      return undefined;
  }
}
