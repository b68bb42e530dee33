// Sinks: functions of the host that workflow code calls and does not wait for.
import type { WorkflowInfo } from "../workflow/mod.ts";

/** A function that workflow code calls and gets nothing from. */
// deno-lint-ignore no-explicit-any
export type SinkFunction = (...args: any[]) => void;
/** Functions of one sink. */
export type Sink = Record<string, SinkFunction>;
/** Sinks by name, as workflow code sees them. */
export type Sinks = Record<string, Sink>;

/** A function of a sink, as the worker has it. */
export interface InjectedSinkFunction<F extends SinkFunction> {
  /** Called with the workflow's info and what workflow code gave. */
  fn(info: WorkflowInfo, ...args: Parameters<F>): void | Promise<void>;
  /** It is also called for what a replay repeats. Default: false. */
  callDuringReplay?: boolean;
}

/** A sink, as the worker has it. */
export type InjectedSink<T extends Sink> = { [P in keyof T]: InjectedSinkFunction<T[P]> };
/** Sinks by name, as the worker has them. */
export type InjectedSinks<T extends Sinks> = { [P in keyof T]: InjectedSink<T[P]> };
