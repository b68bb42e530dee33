// The command line. (The std as an npm package has no types, so its result is described here;
// `jsr:@std/cli` has them.)
import { parseArgs } from "@std/cli/parse-args";
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
  "usage: deno task start [--task-queue NAME] [--log-level debug|info|warn|error] [--grace SECONDS] [--profile NAME]";

/** Ends the process with 2 for unknown options or ones that make no sense. */
export function readOptions(): Options {
  const args = parseArgs(Deno.args, {
    string: ["task-queue", "log-level", "grace", "profile"],
    default: { "task-queue": "orders", "log-level": "info", grace: "25" },
    unknown: (word: string) => fail(`unknown option or argument: ${word}`),
  }) as unknown as { [name: string]: string };
  const { "task-queue": taskQueue = "", "log-level": logLevel = "", profile } = args;
  const grace = Number(args["grace"]);
  if (!["debug", "info", "warn", "error"].includes(logLevel)) {
    fail(`unknown log level "${logLevel}"`);
  }
  if (!(grace >= 0)) fail(`"${args["grace"]}" is not a number of seconds`);
  return { taskQueue, logLevel: logLevel as LogLevel, grace, profile };
}

function fail(what: string): never {
  console.error(`${what}\n${USAGE}`);
  Deno.exit(2);
}
