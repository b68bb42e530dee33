// Traces of workflow runs, created outside the realm. A trace starts with the run's first task here
// and ends with the run. A replay sends no commands, so a command's span is created once; its
// context goes into the command's headers, which history keeps for the workers. Matching ignores
// headers.
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { Payload } from "../../converter/payload.ts";
import type { Command } from "../../messages/generated/temporal/api/command/v1/message_pb.ts";
import { HeaderSchema } from "../../messages/generated/temporal/api/common/v1/message_pb.ts";
import { RespondWorkflowTaskCompletedRequestSchema } from "../../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { readRunStart, type RunStart } from "../../messages/history_start.ts";
import { runStartOf, type TaskHead, type WorkflowTask } from "../../messages/workflow_task.ts";
import type { Logger } from "../../base/logger.ts";
import { readEnding, type RunEnding } from "./run_ending.ts";

type Headers = { readonly [name: string]: Payload };

/** A run whose first task on this worker arrived. */
export interface TracedRun {
  readonly workflowType: string;
  readonly workflowId: string;
  readonly runId: string;
  /** Headers of the workflow's start. */
  readonly headers: Headers;
  /** Whether this is the run's first task; otherwise tasks ran elsewhere, or before a restart. */
  readonly isNew: boolean;
}

/** Work that a workflow requests from other code. */
export interface TracedCommand {
  /** Kind of the work. */
  readonly kind: "activity" | "childWorkflow" | "signal" | "continueAsNew";
  /** Type of the activity or workflow, or name of the signal. */
  readonly name: string;
  /** Id of the activity, or of the started or signaled workflow; "" if it has none. */
  readonly id: string;
  readonly headers: Headers;
}

/** The trace of a run. */
export interface RunTrace {
  /**
   * Called for a command. Returns its headers, and a callback with whether the service accepted it.
   */
  command(command: TracedCommand): { readonly headers: Headers; done(taken: boolean): void };
  /** The run has ended; "left": this worker stops, or traces too many runs. */
  end(how: RunEnding | "left"): void;
}

/**
 * Creates traces of workflow runs, for example `openTelemetry()` of `temporalex/otel`. Errors are
 * logged.
 */
export interface WorkflowTracer {
  /** Called once per run, and again after its trace was dropped. */
  run(run: TracedRun): RunTrace;
}

/** Maximum traced runs; the least recently active one is dropped. */
const MAX_RUNS = 10_000;

export class WorkflowTracing {
  readonly #tracer: WorkflowTracer;
  readonly #logger: Logger;
  /** Least recently active first. */
  readonly #runs = new Map<string, RunTrace>();
  /** Runs with a task in progress that came without their first event. */
  readonly #unknown = new Map<string, TaskHead>();

  constructor(tracer: WorkflowTracer, logger: Logger) {
    this.#tracer = tracer;
    this.#logger = logger;
  }

  /** An error of the tracer must not fail a workflow task. */
  #attempt<T>(what: () => T, otherwise: T): T {
    try {
      return what();
    } catch (error) {
      this.#logger.warn("a trace could not be created", { error });
      return otherwise;
    }
  }

  /** Records a received task. */
  begin(task: WorkflowTask): void {
    const { head } = task;
    const { runId } = head;
    const known = this.#runs.get(runId);
    if (known !== undefined) {
      this.#runs.delete(runId);
      this.#runs.set(runId, known);
      return;
    }
    // A query starts no trace: its run may be closed.
    if (head.query !== undefined) return;
    const start = runStartOf(task);
    if (start === undefined) this.#unknown.set(runId, head);
    else this.#follow(head, start, head.previousStartedEventId === 0);
  }

  /** Records a page of history that the realm requested; an empty token means the first one. */
  page(runId: string, token: Uint8Array, history: Uint8Array): void {
    const head = this.#unknown.get(runId);
    if (head === undefined || token.length > 0) return;
    const start = readRunStart(history);
    if (start !== undefined) this.#follow(head, start, false);
  }

  /**
   * Returns a completion (the request) with its commands' headers, and a callback for its
   * acceptance.
   */
  completion(
    { runId }: TaskHead,
    request: Uint8Array,
  ): { request: Uint8Array; done: (taken: boolean) => void } {
    this.#unknown.delete(runId);
    const trace = this.#runs.get(runId);
    const untraced = { request, done: () => {} };
    return trace === undefined
      ? untraced
      : this.#attempt(() => this.#traced(runId, trace, request), untraced);
  }

  #traced(
    runId: string,
    trace: RunTrace,
    request: Uint8Array,
  ): { request: Uint8Array; done: (taken: boolean) => void } {
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
      request: ends.length === 0
        ? request
        : toBinary(RespondWorkflowTaskCompletedRequestSchema, message),
      done: (taken) =>
        this.#attempt(() => {
          for (const end of ends) end(taken);
          if (ending === undefined || !taken) return;
          this.#runs.delete(runId);
          trace.end(ending);
        }, undefined),
    };
  }

  /** Ends all traces. */
  stop(): void {
    for (const trace of this.#runs.values()) this.#attempt(() => trace.end("left"), undefined);
    this.#runs.clear();
  }

  #follow(
    { runId, workflowId, workflowType }: TaskHead,
    { header }: RunStart,
    isNew: boolean,
  ): void {
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

/**
 * Returns the work that a command requests, and a setter for its headers; undefined for other
 * commands.
 */
function tracedCommand(
  { attributes }: Command,
): { command: TracedCommand; set: (headers: Headers) => void } | undefined {
  const of = (
    kind: TracedCommand["kind"],
    name: string | undefined,
    id: string | undefined,
    holder: { header?: { fields: Headers } | undefined },
  ) => ({
    command: { kind, name: name ?? "", id: id ?? "", headers: holder.header?.fields ?? {} },
    set: (fields: Headers) =>
      void (holder.header = create(HeaderSchema, { fields: { ...fields } })),
  });
  switch (attributes.case) {
    case "scheduleActivityTaskCommandAttributes":
      return of(
        "activity",
        attributes.value.activityType?.name,
        attributes.value.activityId,
        attributes.value,
      );
    case "startChildWorkflowExecutionCommandAttributes":
      return of(
        "childWorkflow",
        attributes.value.workflowType?.name,
        attributes.value.workflowId,
        attributes.value,
      );
    case "signalExternalWorkflowExecutionCommandAttributes":
      return of(
        "signal",
        attributes.value.signalName,
        attributes.value.execution?.workflowId,
        attributes.value,
      );
    case "continueAsNewWorkflowExecutionCommandAttributes":
      return of("continueAsNew", attributes.value.workflowType?.name, "", attributes.value);
    default:
      return undefined;
  }
}
