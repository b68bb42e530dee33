// The log of a run: silent during replay, with the run's names and workflow time on every line.
import { messageOf } from "../../converter/thrown.ts";
import type { LogLevel, RunContext } from "../program/program.ts";
import { inClosureWithMicrotasks } from "../program/current.ts";

/** Depth of microtasks that getters of fields may leave. */
const IN_FIELDS = 1;

type Fields = { readonly [key: string]: unknown };

/** The part of a run that its lines include. */
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

  /** Writes a line of workflow code. */
  write(level: LogLevel, message: string, fields: Fields = {}): void {
    this.#write("workflow", level, message, fields);
  }

  /** Writes a line of the executor about workflow code. */
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
    // Nothing is written on replay, so getters of the fields must not affect the run.
    inClosureWithMicrotasks("log", () => {
      try {
        log.write({ ...entry, fields });
      } catch (e) {
        // A field that throws when read must not fail the workflow.
        log.write({ ...entry, fields: { dropped: messageOf(e) } });
      }
    }, IN_FIELDS);
  }
}
