// All commands.
//
// How a command is added:
//  1. Make a folder for it. `stop/options.ts` has its options as data (see frame/command.ts): `export const options = {...} as const
//     satisfies Options`, and `export type StopCall = Call<typeof options>`, by which their values arrive typed.
//     `stop/command.ts` describes it: `export const stop = command({ summary, options, args, examples, run })`. Both are read at every
//     start, so they import nothing but the frame and common options.
//  2. Write the code in `stop/run.ts`, `export async function stopCommand(call: StopCall): Promise<number>`, and let `run` import it:
//     `run: async (call) => (await import("./run.ts")).stopCommand(call)`. It returns an `Exit` code, writes results with `call.print`
//     (text and JSON in one place), and throws `UsageError` (2) or any other error (1) with a message that says what to do.
//  3. Name it here. Help, "did you mean", `--json`, colours, Ctrl-C and shell completion come with the description.
//  4. Test it with `run(["stop", ...])` of tests/cli/support/run.ts: success, `--json`, and one user error.
import type { Commands } from "../frame/command.ts";
import { build } from "./build/command.ts";
import { completion } from "./completion/command.ts";
import { debug } from "./debug/command.ts";
import { dev } from "./dev/command.ts";
import { gateway } from "./gateway/command.ts";
import { history } from "./history/command.ts";
import { lint } from "./lint/command.ts";
import { replay } from "./replay/command.ts";
import { run } from "./run/command.ts";
import { schedule } from "./schedule/command.ts";
import { sql } from "./sql/command.ts";
import { storeCommands } from "./store/command.ts";
import { ui } from "./ui/command.ts";
import { worker } from "./worker/command.ts";
import { workflow } from "./workflow/command.ts";

export const COMMANDS: Commands = {
  workflow,
  schedule,
  worker,
  run,
  dev,
  gateway,
  store: storeCommands,
  sql,
  build,
  lint,
  replay,
  debug,
  ui,
  history,
  completion: completion(() => COMMANDS),
};
