#!/usr/bin/env node
// `temporalex`: finds the command and turns what goes wrong into a message and an exit code. Each command is a file of its own.
import { realpathSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { replayCommand } from "./replay.ts";
import { type Io, processIo, UsageError } from "./io.ts";

interface Command {
  readonly summary: string;
  run(args: readonly string[], io: Io): Promise<number>;
}

const COMMANDS: { readonly [name: string]: Command } = {
  replay: { summary: "replay exported histories against the workflow code of today", run: replayCommand },
};

const HELP = `usage: temporalex <command> [options]

Commands:
${Object.entries(COMMANDS).map(([name, { summary }]) => `  ${name.padEnd(10)} ${summary}`).join("\n")}

  temporalex <command> --help   shows the options of a command, with examples
`;

/** Runs the command line; the exit code. */
export async function main(args: readonly string[], io: Io): Promise<number> {
  const [name, ...rest] = args;
  try {
    if (name === undefined) {
      io.err(HELP);
      return 2;
    }
    if (name === "--help" || name === "-h" || name === "help") {
      io.out(HELP);
      return 0;
    }
    if (!Object.hasOwn(COMMANDS, name)) {
      throw new UsageError(`there is no command "${name}"; there are: ${Object.keys(COMMANDS).join(", ")}`);
    }
    return await COMMANDS[name]!.run(rest, io);
  } catch (e) {
    if (!(e instanceof UsageError)) throw e;
    io.err(`temporalex: ${e.message}\n`);
    return 2;
  }
}

/** True for the file that was started, also by npm's link to it. (`import.meta.main` is not there in Node 20.) */
function isProgram(): boolean {
  try {
    return realpathSync(process.argv[1] ?? "") === fileURLToPath(import.meta.url);
  } catch {
    return false;
  }
}

if (isProgram()) process.exitCode = await main(process.argv.slice(2), processIo());
