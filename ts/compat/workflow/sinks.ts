// proxySinks: functions of the host for what leaves workflow code beside its commands. They give nothing back.
import { currentCompatRun } from "../current.ts";
import type { WorkflowInfo } from "./info.ts";

/** A function of the host. Its arguments are copied on the way. */
// deno-lint-ignore no-explicit-any
export type SinkFunction = (...args: any[]) => void;
/** Functions by name. */
export type Sink = Record<string, SinkFunction>;
/** Sinks by name. */
export type Sinks = Record<string, Sink>;

/** One call of a sink's function. */
export interface SinkCall {
  /** Name of the sink. */
  ifaceName: string;
  /** Name of the function. */
  fnName: string;
  /** Copies of the arguments. */
  // deno-lint-ignore no-explicit-any
  args: any[];
  /** Of the run that calls, as it was then. */
  workflowInfo: WorkflowInfo;
}

/** The sink of log lines in programs of before 1.8. */
export interface LoggerSinks extends Sinks {
  /** Functions by level. */
  defaultWorkerLogger: {
    /** A line for a close look. */
    trace(message: string, attrs?: Record<string, unknown>): void;
    /** A line for a close look. */
    debug(message: string, attrs?: Record<string, unknown>): void;
    /** A line that says what happens. */
    info(message: string, attrs?: Record<string, unknown>): void;
    /** A line about what may be wrong. */
    warn(message: string, attrs?: Record<string, unknown>): void;
    /** A line about what is wrong. */
    error(message: string, attrs?: Record<string, unknown>): void;
  };
}

/** Sinks of the worker, by name; each of their functions may be called from workflow code. */
export function proxySinks<T extends Sinks>(): T {
  const sinkOf = (sink: string) =>
    new Proxy({}, {
      get: (_, method) => (...args: unknown[]) =>
        currentCompatRun("Proxied sinks functions may only be used from a Workflow Execution.").sinks.call(
          sink,
          String(method),
          args,
        ),
    });
  return new Proxy({}, { get: (_, sink) => sinkOf(String(sink)) }) as T;
}
