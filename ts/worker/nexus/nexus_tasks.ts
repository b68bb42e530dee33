// The running Nexus tasks, from the response of a poll to a report. A handler is canceled when its
// request times out or the worker shuts down; its task ends when the handler does.
import { create, fromBinary } from "@bufbuild/protobuf";
import type { Logger } from "../../base/logger.ts";
import { withFields } from "../../base/logger.ts";
import type { Timers } from "../../base/timers.ts";
import { messageOf } from "../../converter/thrown.ts";
import type { MessageCodec } from "../../codec/message_codec.ts";
import { hidesTextOf, loggable } from "../../codec/loggable.ts";
import { FailureSchema } from "../../messages/generated/temporal/api/failure/v1/message_pb.ts";
import type { Request } from "../../messages/generated/temporal/api/nexus/v1/message_pb.ts";
import {
  type PollNexusTaskQueueResponse,
  PollNexusTaskQueueResponseSchema,
} from "../../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { timestampDate } from "../../messages/well_known.ts";
import { Code, type RawService } from "../../service/raw.ts";
import type { NexusOutcome, NexusRequest, NexusServices, NexusStopReason } from "./nexus_call.ts";
import { nexusReport } from "./nexus_response.ts";
import { nexusTimeoutMs } from "./nexus_timeout.ts";
import { hasCode, report } from "../workflow/reports.ts";
import type { WorkerMetrics } from "../metrics/worker_metrics.ts";

export interface NexusTasksOptions {
  readonly service: RawService;
  /** The initial services. */
  readonly services: NexusServices;
  readonly namespace: string;
  readonly identity: string;
  /** Decides what the log may show. */
  readonly codec: MessageCodec | undefined;
  readonly logger: Logger;
  readonly metrics?: WorkerMetrics | undefined;
  /** Time of the handlers' deadlines. */
  readonly timers: Timers;
  /** Time of report retries. */
  readonly reportTimers: Timers;
}

const lowered = (headers: { readonly [name: string]: string }) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

/** Converts the request for the handlers' services. */
function requestOf(
  request: Request | undefined,
  deadline: Date | undefined,
  signal: AbortSignal,
): NexusRequest {
  const common = {
    endpoint: request?.endpoint ?? "",
    headers: lowered(request?.header ?? {}),
    deadline,
    signal,
  };
  const { case: kind, value } = request?.variant ?? { case: undefined, value: undefined };
  if (kind === "startOperation") {
    const { service, operation, requestId, callback, callbackHeader, links, payload } = value;
    const start = {
      requestId,
      callbackUrl: callback,
      callbackHeaders: lowered(callbackHeader),
      links,
      payload,
    };
    return { ...common, service, operation, variant: { kind: "start", start } };
  }
  if (kind === "cancelOperation") {
    const { service, operation, operationToken, operationId } = value;
    return {
      ...common,
      service,
      operation,
      variant: { kind: "cancel", token: operationToken || operationId },
    };
  }
  return { ...common, service: "", operation: "", variant: { kind: "unknown" } };
}

/** The reason label of a failed task; undefined if it did not fail. */
function failureReason(outcome: NexusOutcome): string | undefined {
  if (outcome.kind === "operationFailed") {
    return `operation_${
      outcome.failure.failureInfo.case === "canceledFailureInfo" ? "canceled" : "failed"
    }`;
  }
  if (outcome.kind !== "handlerFailed") return undefined;
  const { failureInfo } = outcome.failure;
  return `handler_error_${
    failureInfo.case === "nexusHandlerFailureInfo" ? failureInfo.value.type : "INTERNAL"
  }`;
}

export class NexusTasks {
  readonly #options: NexusTasksOptions;
  readonly #running = new Set<AbortController>();
  #stopped: NexusStopReason | undefined;
  /** The services of new requests. */
  services: NexusServices;

  constructor(options: NexusTasksOptions) {
    this.#options = options;
    this.services = options.services;
  }

  /** Number of running handlers. */
  get running(): number {
    return this.#running.size;
  }

  /** Requests cancellation of all current and future handlers. */
  cancelAll(reason: NexusStopReason): void {
    this.#stopped = reason;
    for (const abort of this.#running) abort.abort(reason);
  }

  /** Processes a task (encoded PollNexusTaskQueueResponse) up to its report. Never rejects. */
  async handle(bytes: Uint8Array): Promise<void> {
    const { logger, timers, metrics } = this.#options;
    let task: PollNexusTaskQueueResponse;
    try {
      task = fromBinary(PollNexusTaskQueueResponseSchema, bytes);
    } catch (error) {
      logger.error("cannot decode a Nexus task from the service", { error, bytes: bytes.length });
      return;
    }
    const { request } = task;
    const abort = new AbortController();
    if (this.#stopped !== undefined) abort.abort(this.#stopped);
    const timeoutMs = nexusTimeoutMs(lowered(request?.header ?? {})["request-timeout"], logger);
    const deadline = timeoutMs === undefined ? undefined : new Date(Date.now() + timeoutMs);
    const read = requestOf(request, deadline, abort.signal);
    const of = withFields(logger, { service: read.service, operation: read.operation });
    const disarm = timeoutMs === undefined ? undefined : timers.after(timeoutMs, () => {
      of.debug("cancellation of a Nexus handler requested: its request has timed out", {
        limitMs: timeoutMs,
      });
      abort.abort("TIMED_OUT" satisfies NexusStopReason);
    });
    this.#running.add(abort);
    const scheduled = request?.scheduledTime === undefined
      ? undefined
      : timestampDate(request.scheduledTime).getTime();
    if (scheduled !== undefined) {
      metrics?.nexus.scheduleToStart.record(Math.max(0, Date.now() - scheduled));
    }
    const began = performance.now();
    try {
      const outcome = await this.#run(read, of);
      metrics?.nexus.execution.record(performance.now() - began);
      const reason = failureReason(outcome);
      if (reason !== undefined) metrics?.nexus.failed.of(reason).add();
      await this.#report(task, outcome, of, scheduled);
    } finally {
      disarm?.();
      this.#running.delete(abort);
    }
  }

  async #run(request: NexusRequest, logger: Logger): Promise<NexusOutcome> {
    try {
      return await this.services.run(request);
    } catch (error) {
      logger.error("a Nexus task could not be handled", {
        error: loggable(error, this.#options.codec),
      });
      return this.#internal(
        hidesTextOf(error, this.#options.codec)
          ? "the task could not be handled"
          : messageOf(error),
      );
    }
  }

  #internal(message: string): NexusOutcome {
    const failure = create(FailureSchema, {
      message,
      source: "TypeScriptSDK",
      failureInfo: { case: "nexusHandlerFailureInfo", value: { type: "INTERNAL" } },
    });
    return { kind: "handlerFailed", failure };
  }

  async #report(
    task: PollNexusTaskQueueResponse,
    outcome: NexusOutcome,
    logger: Logger,
    scheduled: number | undefined,
  ): Promise<void> {
    const { namespace, identity, service, reportTimers: timers, metrics } = this.#options;
    const { taskToken, pollerGroupId, request } = task;
    const asTemporal = request?.capabilities?.temporalFailureResponses === true;
    try {
      const { method, request: bytes } = nexusReport(
        { namespace, identity, taskToken, pollerGroupId },
        outcome,
        asTemporal,
      );
      await report({ service, codec: undefined, timers, logger }, method, bytes);
      if (scheduled !== undefined) {
        metrics?.nexus.endToEnd.record(Math.max(0, Date.now() - scheduled));
      }
    } catch (error) {
      // The caller no longer waits, or the frontend with the request was lost: the server sends it
      // again.
      if (hasCode(error, Code.NOT_FOUND)) {
        logger.debug("the caller no longer waits for the result of the Nexus task", { error });
      } else {logger.error(
          "the result of a Nexus task could not be reported; the service will send the task again",
          { error },
        );}
    }
  }
}
