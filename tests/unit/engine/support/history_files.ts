// One history of a file: read, imported, checked, copied, exported again.
import { join } from "node:path";
import { HistoryFileError, readHistoryFile } from "../../../../ts/history_files/history_file.ts";
import { Client, silentLogger } from "../../../../ts/client/mod.ts";
import { EmbeddedEngine } from "../../../../ts/engine/mod.ts";
import { closedRun, ImportError, OpenRunError } from "../../../../ts/engine/maintenance/mod.ts";
import type { RunWrite } from "../../../../ts/core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { imported, judge } from "./sound.ts";

export interface JudgedFile {
  readonly what: "imported" | "open" | "no history";
  /** What was called damaged, or lost on the way. */
  readonly alarms: string[];
}

/** `folder` is empty. */
export async function judgeFile(file: Uint8Array, folder: string): Promise<JudgedFile> {
  let history: Awaited<ReturnType<typeof readHistoryFile>>;
  let write: RunWrite;
  try {
    history = await readHistoryFile(file);
  } catch (e) {
    if (e instanceof HistoryFileError) return { what: "no history", alarms: [] };
    throw e;
  }
  try {
    write = closedRun({
      history: history.bytes,
      // What those that do not say it are given on the command line.
      workflowId: "workflow-of-a-file",
      ...(history.runId === "" && { runId: "run-of-a-file" }),
    });
  } catch (e) {
    if (e instanceof OpenRunError) return { what: "open", alarms: [] };
    if (e instanceof ImportError) return { what: "imported", alarms: [e.message] };
    throw e;
  }
  const path = join(folder, "file.sqlite");
  const alarms = await imported(path, [write]);
  alarms.push(...(await judge(path)).alarms);
  const { workflowId, runId } = write.row!;
  const engine = await EmbeddedEngine.open({ path });
  try {
    const handle = new Client({ service: engine, logger: silentLogger }).getHandle(
      "W",
      workflowId,
      runId,
    );
    const json = await readHistoryFile(new TextEncoder().encode(await handle.historyJson()));
    if (!equal(await handle.historyBytes(), history.bytes)) {
      alarms.push("its export has other bytes");
    }
    if (json.events !== history.events) {
      alarms.push(`its export as JSON has ${json.events} of ${history.events} events`);
    }
  } finally {
    await engine.close();
  }
  return { what: "imported", alarms };
}

const equal = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((byte, i) => byte === b[i]);
