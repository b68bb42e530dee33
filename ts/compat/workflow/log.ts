// log: writes to the worker's log, except on replay. Interceptors can change the attributes. A
// worker with functions for the logger's sink receives all attributes, like Temporal's worker; any
// other receives those that its log does not add itself.
import { LOGGER_SINK } from "../../executor/program/sinks.ts";
import { throwsHiddenText } from "../../converter/failure_converter.ts";
import { isA, nameOf } from "../../converter/thrown.ts";
import { isCancellation } from "../common/failures.ts";
import { currentCompatRun } from "../current.ts";
import { callThrough } from "../interception.ts";
import type { CompatRun } from "../run.ts";
import { ContinueAsNew } from "./continue_as_new_thrown.ts";

type Fields = Record<string, unknown>;
type Level = "trace" | "debug" | "info" | "warn" | "error";

/** Logger of a workflow; silent on replay. */
export interface WorkflowLogger {
  /** Writes a line of level TRACE. */
  trace(message: string, attrs?: Fields): void;
  /** Writes a line of level DEBUG. */
  debug(message: string, attrs?: Fields): void;
  /** Writes a line of level INFO. */
  info(message: string, attrs?: Fields): void;
  /** Writes a line of level WARN. */
  warn(message: string, attrs?: Fields): void;
  /** Writes a line of level ERROR. */
  error(message: string, attrs?: Fields): void;
}

function line(level: Level, message: string, attrs: Fields = {}): void {
  const run = currentCompatRun("Workflow.log(...) may only be used from workflow context.");
  const base = makeLogAttributes(run);
  const attributes = callThrough(run, "outbound", "getLogAttributes", (given: Fields) => given)(
    base,
  );
  if (run.sinks.hasLogger) {
    return run.sinks.call(LOGGER_SINK, level, [message, {
      sdkComponent: "workflow",
      ...attributes,
      ...attrs,
    }]);
  }
  // The log adds all attributes except those of the running update.
  const more = Object.entries(attributes).filter(([name, value]) =>
    name.startsWith("update") || base[name] !== value
  );
  run.log(level === "trace" ? "debug" : level, message, { ...Object.fromEntries(more), ...attrs });
}

/** Returns the attributes of each line, before interceptors. */
function makeLogAttributes(run: CompatRun): Fields {
  const { namespace, taskQueue, workflowId, runId, workflowType } = run.info;
  const update = run.context.current()?.update;
  return {
    ...{ namespace, taskQueue, workflowId, runId, workflowType },
    ...(update !== undefined && { updateId: update.id, updateName: update.name }),
  };
}

/** Writes to the worker's log, except on replay. */
export const log: WorkflowLogger = {
  trace: (message, attrs) => line("trace", message, attrs),
  debug: (message, attrs) => line("debug", message, attrs),
  info: (message, attrs) => line("info", message, attrs),
  warn: (message, attrs) => line("warn", message, attrs),
  error: (message, attrs) => line("error", message, attrs),
};

/**
 * Runs a workflow's function and logs its start and end if a sink or an interceptor of attributes
 * receives the lines. Adds one promise link in either case, as in the official SDK.
 */
export function withLifecycleLogs(run: CompatRun, main: () => Promise<unknown>): Promise<unknown> {
  if (!run.sinks.hasLogger && !run.interceptors.has("outbound", "getLogAttributes")) {
    return main().then((result) => result);
  }
  // Continuations of this package have no frame.
  const write = (level: "debug" | "warn", message: string, attrs?: Fields) =>
    run.context.run(undefined, () => log[level](message, { ...attrs, sdkComponent: "worker" }));
  write("debug", "Workflow started");
  return main().then((result) => {
    write("debug", "Workflow completed");
    return result;
  }, (error) => {
    if (isCancellation(error)) write("debug", "Workflow completed as cancelled");
    else if (isA(error, ContinueAsNew)) write("debug", "Workflow continued as new");
    else {write("warn", "Workflow failed", {
        error: throwsHiddenText(error) ? nameOf(error) : error,
      });}
    throw error;
  });
}
