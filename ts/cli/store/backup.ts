// `temporalex store backup`: SQLite's own copy of a moment, checked before it is called a backup.
import { rmSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { checkStore, StoreReader } from "../../engine/maintenance/mod.ts";
import { Exit } from "../frame/command.ts";
import { CommandError } from "../frame/errors.ts";
import { storePath } from "../service.ts";
import type { BackupCall } from "../table/store.ts";
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
  const { runs, openRuns, events } = await checked(
    to,
    (done, total) => print.progress(`checking the copy: ${done} of ${total} runs`),
  );
  print.progress("");
  const bytes = statSync(to).size;
  const result = { store: path, backup: to, bytes, runs, openRuns, events, ...(holder !== undefined && { heldBy: holder.pid }) };
  print.result(result, () => `${to}: ${counted(runs, "run")} (${openRuns} open), ${bytesText(bytes)}, checked\n`);
  return Exit.ok;
}

/** Checks a copy that was just made, and removes it when it is of no use. */
export async function checked(copy: string, onProgress: (done: number, total: number) => void) {
  const reader = StoreReader.open(copy);
  let found: Awaited<ReturnType<typeof checkStore>>;
  try {
    found = await checkStore(reader, { onProgress });
  } finally {
    reader.close();
  }
  const [first] = found.problems;
  if (first === undefined) return found;
  rmSync(copy, { force: true });
  const more = found.problems.length > 1 ? ` (and ${found.problems.length - 1} more)` : "";
  throw new CommandError(
    `the copy is damaged, and was removed: ${
      first.workflowId === "" ? "" : `workflow "${first.workflowId}": `
    }${first.message}${more}; ` +
      "look at the store itself with temporalex store check",
  );
}
