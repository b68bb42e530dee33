// log: lines for the worker's log, left out on replay. Interceptors may add to their attributes or change them. A worker that has functions
// for the logger's sink gets all attributes, as Temporal's worker gives them; any other gets the line with what its log does not add itself.
import { LOGGER_SINK } from "../../executor/program/sinks.ts";
import { throwsHiddenText } from "../../converter/failure_converter.ts";
import { isA, nameOf } from "../../converter/thrown.ts";
import { isCancellation } from "../common/failures.ts";
import { currentCompatRun } from "../current.ts";
import { intercepted } from "../interception.ts";
import type { CompatRun } from "../run.ts";
import { ContinueAsNew } from "./continue_as_new_thrown.ts";

type Fields = Record<string, unknown>;
type Level = "trace" | "debug" | "info" | "warn" | "error";

/** The log of a workflow; silent on replay. */
export interface WorkflowLogger {
  /** A line for a close look. */
  trace(message: string, attrs?: Fields): void;
  /** A line for a close look. */
  debug(message: string, attrs?: Fields): void;
  /** A line that says what happens. */
  info(message: string, attrs?: Fields): void;
  /** A line about what may be wrong. */
  warn(message: string, attrs?: Fields): void;
  /** A line about what is wrong. */
  error(message: string, attrs?: Fields): void;
}

function line(level: Level, message: string, attrs: Fields = {}): void {
  const run = currentCompatRun("Workflow.log(...) may only be used from workflow context.");
  const base = attributesOf(run);
  const attributes = intercepted(run, "outbound", "getLogAttributes", (given: Fields) => given)(base);
  if (run.sinks.hasLogger) {
    return run.sinks.call(LOGGER_SINK, level, [message, { sdkComponent: "workflow", ...attributes, ...attrs }]);
  }
  // What a line of the log names anyway; the update that runs is not among it.
  const more = Object.entries(attributes).filter(([name, value]) => name.startsWith("update") || base[name] !== value);
  run.log(level === "trace" ? "debug" : level, message, { ...Object.fromEntries(more), ...attrs });
}

/** What each line has, before interceptors. */
function attributesOf(run: CompatRun): Fields {
  const { namespace, taskQueue, workflowId, runId, workflowType } = run.info;
  const update = run.context.current()?.update;
  return {
    ...{ namespace, taskQueue, workflowId, runId, workflowType },
    ...(update !== undefined && { updateId: update.id, updateName: update.name }),
  };
}

/** Writes lines to the worker's log, but on replay. */
export const log: WorkflowLogger = {
  trace: (message, attrs) => line("trace", message, attrs),
  debug: (message, attrs) => line("debug", message, attrs),
  info: (message, attrs) => line("info", message, attrs),
  warn: (message, attrs) => line("warn", message, attrs),
  error: (message, attrs) => line("error", message, attrs),
};

/**
 * Runs a workflow's function, and writes of its start and end where somebody sees those lines: a logger's sink, or an interceptor of
 * attributes. One link between the function and its outcome either way, as in the official SDK.
 */
export function withLifecycleLogs(run: CompatRun, main: () => Promise<unknown>): Promise<unknown> {
  if (!run.sinks.hasLogger && !run.interceptors.has("outbound", "getLogAttributes")) return main().then((result) => result);
  // Continuations of this package are in no frame.
  const write = (level: "debug" | "warn", message: string, attrs?: Fields) =>
    run.context.run(undefined, () => log[level](message, { ...attrs, sdkComponent: "worker" }));
  write("debug", "Workflow started");
  return main().then((result) => {
    write("debug", "Workflow completed");
    return result;
  }, (error) => {
    if (isCancellation(error)) write("debug", "Workflow completed as cancelled");
    else if (isA(error, ContinueAsNew)) write("debug", "Workflow continued as new");
    else write("warn", "Workflow failed", { error: throwsHiddenText(error) ? nameOf(error) : error });
    throw error;
  });
}
