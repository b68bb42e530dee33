// Sinks: functions of the host that workflow code calls without waiting.
import type { WorkflowInfo } from "../workflow/mod.ts";

/** A function that workflow code calls without a result. */
// deno-lint-ignore no-explicit-any
export type SinkFunction = (...args: any[]) => void;
/** Functions of one sink. */
export type Sink = Record<string, SinkFunction>;
/** Sinks by name, for workflow code. */
export type Sinks = Record<string, Sink>;

/** A function of a sink, for the worker. */
export interface InjectedSinkFunction<F extends SinkFunction> {
  /** Called with the workflow's info and the arguments of workflow code. */
  fn(info: WorkflowInfo, ...args: Parameters<F>): void | Promise<void>;
  /** Whether it is also called during replay. Default: false. */
  callDuringReplay?: boolean;
}

/** A sink, for the worker. */
export type InjectedSink<T extends Sink> = { [P in keyof T]: InjectedSinkFunction<T[P]> };
/** Sinks by name, for the worker. */
export type InjectedSinks<T extends Sinks> = { [P in keyof T]: InjectedSink<T[P]> };
