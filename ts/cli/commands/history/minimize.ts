// `temporalex history minimize`.
import { minimize } from "../../../debug/take_away/minimize.ts";
import { historyJson } from "../../../debug/take_away/test_file.ts";
import { Exit } from "../../frame/exit.ts";
import type { MinimizeCall } from "./options.ts";
import { newFile, readHistoryAt, withRealms, write } from "./support.ts";

export async function minimizeCommand(call: MinimizeCall): Promise<number> {
  const { options, args, io, print, signal } = call;
  const to = newFile(io, options.out);
  const history = await readHistoryAt(io, args[0]!);
  return await withRealms(io, options, async (realm, repaired) => {
    const { history: left, events: [before, after], replays, stopped } = await minimize(history, {
      ...{ realm, ...repaired, signal, strict: options.strict, thorough: options.thorough },
      onProgress: ({ tried, left }) => print.progress(`${tried} replays, ${left} parts left`),
    });
    print.progress("");
    signal.throwIfAborted();
    write(to, historyJson(left));
    print.result(
      { to, eventsBefore: before, events: after, replays, stopped },
      () =>
        `${options.out}: ${after} of ${before} events, the same divergence (${replays} replays)\n`,
    );
    return Exit.ok;
  });
}
