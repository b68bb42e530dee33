// What a run writes to the log: silent while it replays, with the run's names and workflow time on every line.
import { messageOf } from "../../converter/thrown.ts";
import type { LogLevel, RunContext } from "../program/program.ts";
import { inClosureWithMicrotasks } from "../program/current.ts";

/** Getters that leave promises which leave promises are not to be expected. */
const IN_FIELDS = 1;

type Fields = { readonly [key: string]: unknown };

/** What of the run its lines show. */
interface LogSource {
  readonly context: RunContext;
  readonly isReplaying: boolean;
  readonly timeMs: number;
}

export class RunLog {
  readonly #run: LogSource;

  constructor(run: LogSource) {
    this.#run = run;
  }

  /** A line of workflow code. */
  write(level: LogLevel, message: string, fields: Fields = {}): void {
    this.#write("workflow", level, message, fields);
  }

  /** Lines of the executor about workflow code. */
  warn(message: string, fields: Fields = {}): void {
    this.#write("executor", "warn", message, fields);
  }

  error(message: string, fields: Fields = {}): void {
    this.#write("executor", "error", message, fields);
  }

  #write(source: "workflow" | "executor", level: LogLevel, message: string, fields: Fields): void {
    const run = this.#run;
    if (run.isReplaying && run.context.logsReplay !== true) return;
    const { workflowType, workflowId, runId, log } = run.context;
    const entry = { level, message, timeMs: run.timeMs, workflowType, workflowId, runId, source };
    // Nothing is written on replay, so what reads the fields (and runs their getters) must not move the run.
    inClosureWithMicrotasks("log", () => {
      try {
        log.write({ ...entry, fields });
      } catch (e) {
        // A field that throws when it is read must not decide about the workflow.
        log.write({ ...entry, fields: { dropped: messageOf(e) } });
      }
    }, IN_FIELDS);
  }
}
