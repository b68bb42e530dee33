// Calls of sinks in a run: which functions the host has, and whether they are called during replay.
// A call sends copies of its arguments, before the outcome of its task.
import type { LogLevel, RunContext } from "../executor/program/program.ts";
import { sendable } from "../converter/sendable.ts";
import { LOGGER_SINK, METRICS_SINK } from "../executor/program/sinks.ts";
import type { WorkflowInfo } from "./workflow/info.ts";

/** Logger sink of programs before 1.8. */
const OLD_LOGGER_SINK = "defaultWorkerLogger";

/** The part of a run that sink calls need. */
export interface SinkRun {
  readonly info: WorkflowInfo;
  readonly timeMs: number;
  log(level: LogLevel, message: string, fields: { readonly [key: string]: unknown }): void;
}

export class SinkCalls {
  readonly #host: RunContext;
  readonly #run: SinkRun;

  constructor(host: RunContext, run: SinkRun) {
    this.#host = host;
    this.#run = run;
  }

  /** True if the host has functions for log lines. */
  get hasLogger(): boolean {
    return this.#host.sinks?.functions[LOGGER_SINK] !== undefined;
  }

  /** Calls a function of the host, unless it is left out on replay. */
  call(given: string, method: string, args: readonly unknown[]): void {
    const { info } = this.#run;
    const { workflowType, workflowId, runId } = info;
    const sink = given === OLD_LOGGER_SINK ? LOGGER_SINK : given;
    // On replay as well: getters of the arguments may draw random numbers. Copied together: shared
    // values are copied once.
    const copies = sendable(args) as readonly unknown[];
    const duringReplay = own(own(this.#host.sinks?.functions, sink), method);
    if (duringReplay === undefined) return this.#unregistered(sink, method, copies);
    if (
      !duringReplay && (this.#host.onlyReplays === true || info.unsafe.isReplayingHistoryEvents)
    ) return;
    const what = { sink, method, args: copies, workflowType, workflowId, runId };
    this.#host.sinks!.call(sink === METRICS_SINK ? what : { ...what, info: toPlainInfo(info) });
  }

  #unregistered(sink: string, method: string, args: readonly unknown[]): void {
    if (sink === METRICS_SINK) return;
    if (sink === LOGGER_SINK && isLevel(method)) {
      return this.#run.log(
        method === "trace" ? "debug" : method,
        String(args[0]),
        (args[1] ?? {}) as { [key: string]: unknown },
      );
    }
    // Not in a second pass over the same task, which has no sinks and a silent log.
    const { workflowType, workflowId, runId } = this.#run.info;
    this.#host.log.write({
      level: "error",
      message: "Workflow referenced an unregistered external sink",
      fields: { ifaceName: sink, fnName: method },
      timeMs: this.#run.timeMs,
      ...{ workflowType, workflowId, runId },
      source: "executor",
    });
  }
}

function own<T>(table: { readonly [name: string]: T } | undefined, name: string): T | undefined {
  return table !== undefined && Object.hasOwn(table, name) ? table[name] : undefined;
}

const isLevel = (name: string): name is LogLevel | "trace" =>
  ["trace", "debug", "info", "warn", "error"].includes(name);

/**
 * Functions and class instances cannot be sent: typed search attributes become pairs
 * (worker/worker_log.ts restores them).
 */
function toPlainInfo(info: WorkflowInfo): object {
  const { isReplaying, isReplayingHistoryEvents } = info.unsafe;
  return {
    ...info,
    typedSearchAttributes: info.typedSearchAttributes.getAll(),
    unsafe: { isReplaying, isReplayingHistoryEvents },
  };
}
