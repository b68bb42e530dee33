// Passes log lines of workflow code and of the executor to the runtime's logger, with official
// attributes.
import {
  type Logger,
  type LogLevel,
  type LogMetadata,
  type SearchAttributePair,
  TypedSearchAttributes,
} from "../common/mod.ts";
import { withoutQuotes } from "../../worker/workflow/realms.ts";
import { loggable } from "../../codec/loggable.ts";
import { LOGGER_SINK } from "../../executor/program/sinks.ts";
import type { LogSink } from "../../realm/realm.ts";
import type { InjectedSinks } from "../../realm/sinks.ts";
import type { InjectedSinks as GivenSinks } from "./sinks.ts";

/** Logger sink of programs before 1.8. */
const OLD_LOGGER_SINK = "defaultWorkerLogger";

/**
 * Returns whether a line is the worker's own. Such lines omit the text of errors if that is
 * encoded.
 */
const ofWorker = (attributes: LogMetadata | undefined): boolean =>
  attributes?.["sdkComponent"] === "worker";

function withoutText(attributes: LogMetadata, hidesText: boolean): LogMetadata {
  return "error" in attributes
    ? { ...attributes, error: loggable(attributes["error"], { hidesText }) }
    : attributes;
}

/**
 * Returns the user's sinks and the log sink. With `hidesText`, lines of the worker omit the text of
 * errors.
 */
export function adaptSinks(
  // deno-lint-ignore no-explicit-any
  sinks: GivenSinks<any> | undefined,
  logger: Pick<Logger, "log">,
  hidesText: boolean,
): InjectedSinks {
  const line = (level: LogLevel) => ({
    fn: (_info: unknown, message: string, attributes?: LogMetadata) =>
      void logger.log(
        level,
        message,
        ofWorker(attributes) ? withoutText(attributes!, hidesText) : attributes,
      ),
  });
  const lines: InjectedSinks[string] = {
    trace: line("TRACE"),
    debug: line("DEBUG"),
    info: line("INFO"),
    warn: line("WARN"),
    error: line("ERROR"),
  };
  const { [OLD_LOGGER_SINK]: old, ...rest } = (sinks ?? {}) as {
    [name: string]: InjectedSinks[string];
  };
  return { [LOGGER_SINK]: old === undefined ? lines : whole(old), ...mapped(rest, whole) };
}

const mapped = <T, R>(
  table: { readonly [name: string]: T },
  change: (value: T) => R,
): { [name: string]: R } =>
  Object.fromEntries(Object.entries(table).map(([name, value]) => [name, change(value)]));

/**
 * Returns a sink whose functions receive the run's info with typed search attributes, which arrive
 * as pairs.
 */
function whole(sink: InjectedSinks[string]): InjectedSinks[string] {
  return mapped(sink, (given) => {
    // Values other than functions are rejected when the table is checked.
    if (typeof given?.fn !== "function") return given;
    const fn = (
      info: { readonly typedSearchAttributes: SearchAttributePair[] },
      ...args: unknown[]
    ) =>
      given.fn({
        ...info,
        typedSearchAttributes: new TypedSearchAttributes(info.typedSearchAttributes),
      }, ...args);
    return { ...given, fn };
  });
}

/** Returns the log sink of a worker's realm. `logger` has the fields of the worker. */
export function workflowLog(
  logger: Pick<Logger, "log">,
  namespace: string,
  taskQueue: string,
  hidesText: boolean,
): LogSink {
  return {
    write({ level, message, fields, workflowType, workflowId, runId, source }) {
      const sdkComponent = source === "workflow" ? "workflow" : "worker";
      const run = workflowId === ""
        ? {}
        : { namespace, taskQueue, workflowId, runId, workflowType };
      const shown = hidesText && source === "executor" ? withoutQuotes(level, fields) : fields;
      logger.log(level.toUpperCase() as LogLevel, message, { sdkComponent, ...run, ...shown });
    },
  };
}
