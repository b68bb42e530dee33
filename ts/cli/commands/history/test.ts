// `temporalex history test`.
import { basename, dirname, join, relative, sep } from "node:path";
import { minimize } from "../../../debug/take_away/minimize.ts";
import { testFiles } from "../../../debug/take_away/test_file.ts";
import { Exit } from "../../frame/exit.ts";
import { UsageError } from "../../frame/errors.ts";
import type { TestCall } from "./options.ts";
import { modulesOf, newFile, readHistoryAt, withRealms, write } from "./support.ts";

export async function testCommand(call: TestCall): Promise<number> {
  const { options, args, io, print, signal } = call;
  const to = newFile(io, options.out);
  const ending = /\.test\.m?[jt]s$/.exec(to)?.[0];
  if (ending === undefined) {
    throw new UsageError(
      `--out ${options.out}: the name of a test ends with .test.ts, .test.js, .test.mts or .test.mjs`,
    );
  }
  const modules = modulesOf(io, options);
  if (modules.length !== 1) {
    throw new UsageError(
      `a test loads one workflow module, and there are ${modules.length}: name one with --workflows`,
    );
  }
  const name = basename(to, ending);
  const path = relative(dirname(to), modules[0]!).split(sep).join("/");
  const history = await readHistoryAt(io, args[0]!);
  return await withRealms(io, options, async (realm, repaired) => {
    const { history: left, events: [before, after] } = await minimize(history, {
      ...{ realm, ...repaired, signal, strict: options.strict },
      onProgress: ({ tried, left }) => print.progress(`${tried} replays, ${left} parts left`),
    });
    print.progress("");
    signal.throwIfAborted();
    const { strict, runner } = options;
    const files = testFiles(left, {
      runner,
      name,
      strict,
      ending,
      workflows: path.startsWith(".") ? path : `./${path}`,
    });
    const historyPath = newFile(io, join(dirname(to), files.history.name));
    write(historyPath, files.history.text);
    write(to, files.test.text);
    print.result(
      { test: to, history: historyPath, eventsBefore: before, events: after },
      () =>
        `${options.out}, with ${files.history.name} (${after} of ${before} events): it fails until the code replays the history\n`,
    );
    return Exit.ok;
  });
}
