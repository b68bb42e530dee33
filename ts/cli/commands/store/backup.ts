// `temporalex store backup`: SQLite's own backup of a snapshot, checked afterwards.
import { rmSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { checkStore, type StoreCheck, StoreReader } from "../../../engine/maintenance/mod.ts";
import { Exit } from "../../frame/exit.ts";
import { CommandError } from "../../frame/errors.ts";
import { storePath } from "../../service/open_service.ts";
import type { BackupCall } from "./options.ts";
import { problemLines } from "./findings.ts";
import { bytesText, counted } from "./sizes.ts";

export async function backupCommand(call: BackupCall): Promise<number> {
  const { args, io, print } = call;
  const to = resolve(io.cwd, args[0]!);
  const reader = StoreReader.open(storePath(call));
  const { path, holder } = reader;
  try {
    print.progress(`copying ${path} (${bytesText(reader.bytes)}) ...`);
    reader.backup(to);
  } finally {
    reader.close();
    print.progress("");
  }
  const found = await checked(
    to,
    (done, total) => print.progress(`checking the copy: ${done} of ${total} runs`),
  );
  print.progress("");
  const { runs, openRuns, events, problems, notes } = found;
  const bytes = statSync(to).size;
  const result = {
    store: path,
    backup: to,
    ok: problems.length === 0,
    bytes,
    runs,
    openRuns,
    events,
    problems,
    notes,
    ...(holder !== undefined && { heldBy: holder.pid }),
  };
  print.result(
    result,
    () =>
      `${problemLines(print, path, problems)}${to}: ${counted(runs, "run")} (${openRuns} open), ${
        bytesText(bytes)
      }, ${problems.length === 0 ? "checked\n" : damagedCopyText(problems.length)}`,
  );
  return problems.length === 0 ? Exit.ok : Exit.failed;
}

/** Message for a copy that is as damaged as its store. */
export const damagedCopyText = (problems: number): string =>
  `copied and kept, with ${
    counted(problems, "problem")
  }: the copy holds what the store holds, and the store is damaged ` +
  "(temporalex store check). Keep older backups too\n";

/**
 * Checks a new copy. Removes one that cannot be opened as a store; other damage is reported,
 * because the copy may be the best one available.
 */
export async function checked(
  copy: string,
  onProgress: (done: number, total: number) => void,
): Promise<StoreCheck> {
  let reader: StoreReader;
  try {
    reader = StoreReader.open(copy);
  } catch (e) {
    rmSync(copy, { force: true });
    throw new CommandError(
      `the copy cannot be read, and was removed: ${
        (e as Error).message
      }. Look at the store itself with temporalex store check`,
      { cause: e },
    );
  }
  try {
    return await checkStore(reader, { onProgress });
  } finally {
    reader.close();
  }
}
