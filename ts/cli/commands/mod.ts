// All commands. To add one:
// 1. Create `stop/options.ts` with its options as data (frame/command.ts) and `stop/command.ts`
//    with `command({ summary, options, args, examples, run })`. Both are read at each start, so
//    they import only the frame and common options.
// 2. Write `stop/run.ts`, imported lazily by `run`. It returns an `Exit` code, writes results with
//    `call.print`, and throws `UsageError` (2) or any other error (1) with advice.
// 3. Add it here. Help, suggestions, `--json`, colors, Ctrl-C and completion follow.
// 4. Test success, `--json` and one user error with `run(["stop", ...])` of
//    tests/unit/cli/support/run.ts.
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
