// The host's side of sinks: functions that workflow code calls without a result. Called in order of
// arrival; the outcome of a task is passed on after the calls of its run have ended. Errors are
// logged and otherwise ignored.
import type { LogSink } from "../executor/program/program.ts";
import type { SinkCall, SinkTable } from "../executor/program/sinks.ts";
import { errorText } from "../converter/thrown.ts";

/** A function of the host that workflow code may call. */
export interface InjectedSinkFunction {
  /** Called with facts about the run (plain data), and copies of the arguments. */
  // deno-lint-ignore no-explicit-any
  fn(info: any, ...args: any[]): void | Promise<void>;
  /**
   * Whether to call it during replay. Default: false. A retried task calls it again in any case.
   */
  callDuringReplay?: boolean;
}

/** Functions by sink and name. */
export interface InjectedSinks {
  /** Functions of one sink. */
  readonly [sink: string]: { readonly [method: string]: InjectedSinkFunction };
}

/** The functions, and their open calls. */
export class HostSinks {
  /** The functions as the realm needs them. */
  readonly table: SinkTable;
  readonly #sinks: InjectedSinks;
  readonly #log: LogSink;
  readonly #open = new Map<string, Set<Promise<unknown>>>();

  /** Throws a TypeError for a value that is not a function. */
  constructor(sinks: InjectedSinks, log: LogSink) {
    this.#sinks = sinks;
    this.#log = log;
    this.table = Object.fromEntries(
      Object.entries(sinks).map(([sink, methods]) => [
        sink,
        Object.fromEntries(
          Object.entries(methods).map(([method, given]) => {
            if (typeof given?.fn === "function") return [method, given.callDuringReplay === true];
            throw new TypeError(
              `the sink ${sink} needs { fn } for ${method}: a function that takes the run's info and the arguments`,
            );
          }),
        ),
      ]),
    );
  }

  call(call: SinkCall): void {
    let ended: void | Promise<void>;
    try {
      ended = this.#sinks[call.sink]?.[call.method]?.fn(call.info, ...call.args);
    } catch (error) {
      return this.#failed(call, error);
    }
    if (typeof (ended as Promise<void> | undefined)?.then !== "function") return;
    const { runId } = call;
    const open = this.#open.get(runId) ?? new Set();
    this.#open.set(runId, open);
    const settled = Promise.resolve(ended).catch((error) => this.#failed(call, error)).then(() => {
      open.delete(settled);
      if (open.size === 0) this.#open.delete(runId);
    });
    open.add(settled);
  }

  /** Resolves when the currently open calls of a run have ended; undefined without open calls. */
  settled(runId: string): Promise<unknown> | undefined {
    const open = this.#open.get(runId);
    return open === undefined ? undefined : Promise.all(open);
  }

  #failed({ sink, method, workflowType, workflowId, runId }: SinkCall, error: unknown): void {
    this.#log.write({
      level: "error",
      message: "External sink function threw an error",
      fields: { ifaceName: sink, fnName: method, error: errorText(error) },
      timeMs: Date.now(),
      ...{ workflowType, workflowId, runId },
      source: "executor",
    });
  }
}
