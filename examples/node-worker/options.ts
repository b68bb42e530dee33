// The command line.
import { parseArgs } from "node:util";
import type { LogLevel } from "temporalex";

/** Options of the worker. */
export interface Options {
  readonly taskQueue: string;
  readonly logLevel: LogLevel;
  /** Seconds that running activities are given at a stop. */
  readonly grace: number;
  /** A profile of Temporal's configuration file. */
  readonly profile: string | undefined;
}

const USAGE =
  "usage: node main.ts [--task-queue NAME] [--log-level debug|info|warn|error] [--grace SECONDS] [--profile NAME]";

/** Ends the process with 2 for unknown options or ones that make no sense. */
export function readOptions(): Options {
  try {
    const { values } = parseArgs({
      options: {
        "task-queue": { type: "string", default: "orders" },
        "log-level": { type: "string", default: "info" },
        grace: { type: "string", default: "25" },
        profile: { type: "string" },
      },
    });
    const { "task-queue": taskQueue, "log-level": logLevel, profile } = values;
    const grace = Number(values.grace);
    if (!["debug", "info", "warn", "error"].includes(logLevel!)) {
      throw new Error(`unknown log level "${logLevel}"`);
    }
    if (!(grace >= 0)) throw new Error(`"${values.grace}" is not a number of seconds`);
    return { taskQueue: taskQueue!, logLevel: logLevel as LogLevel, grace, profile };
  } catch (error) {
    console.error(`${(error as Error).message}\n${USAGE}`);
    process.exit(2);
  }
}
