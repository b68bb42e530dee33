// Log lines of workflow code, and of the executor about it, on their way to the runtime's logger, with the official attributes.
import type { Logger, LogLevel } from "../common/mod.ts";
import type { LogSink } from "../../realm/realm.ts";

/** The sink of a worker's realm. `logger` has the fields of the worker. */
export function workflowLog(logger: Logger, namespace: string, taskQueue: string): LogSink {
  return {
    write({ level, message, fields, workflowType, workflowId, runId, source }) {
      const sdkComponent = source === "workflow" ? "workflow" : "worker";
      const run = workflowId === "" ? {} : { namespace, taskQueue, workflowId, runId, workflowType };
      logger.log(level.toUpperCase() as LogLevel, message, { sdkComponent, ...run, ...fields });
    },
  };
}
