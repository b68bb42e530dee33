// proxySinks: functions of the host, called without a result in addition to commands.
import { currentCompatRun } from "../current.ts";
import type { WorkflowInfo } from "./info.ts";

/** A function of the host. Arguments are copied. */
// deno-lint-ignore no-explicit-any
export type SinkFunction = (...args: any[]) => void;
/** Functions by name. */
export type Sink = Record<string, SinkFunction>;
/** Sinks by name. */
export type Sinks = Record<string, Sink>;

/** A call of a sink's function. */
export interface SinkCall {
  ifaceName: string;
  /** Name of the function. */
  fnName: string;
  /** Copies of the arguments. */
  // deno-lint-ignore no-explicit-any
  args: any[];
  /** Info of the calling run at the time of the call. */
  workflowInfo: WorkflowInfo;
}

/** Logger sink of programs before 1.8. */
export interface LoggerSinks extends Sinks {
  /** Functions by level. */
  defaultWorkerLogger: {
    /** Writes a line of level TRACE. */
    trace(message: string, attrs?: Record<string, unknown>): void;
    /** Writes a line of level DEBUG. */
    debug(message: string, attrs?: Record<string, unknown>): void;
    /** Writes a line of level INFO. */
    info(message: string, attrs?: Record<string, unknown>): void;
    /** Writes a line of level WARN. */
    warn(message: string, attrs?: Record<string, unknown>): void;
    /** Writes a line of level ERROR. */
    error(message: string, attrs?: Record<string, unknown>): void;
  };
}

/** Returns the sinks of the worker by name. */
export function proxySinks<T extends Sinks>(): T {
  const sinkOf = (sink: string) =>
    new Proxy({}, {
      get: (_, method) => (...args: unknown[]) =>
        currentCompatRun("Proxied sinks functions may only be used from a Workflow Execution.")
          .sinks.call(
            sink,
            String(method),
            args,
          ),
    });
  return new Proxy({}, { get: (_, sink) => sinkOf(String(sink)) }) as T;
}
