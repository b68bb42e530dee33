// Runs every check of a store that must find no damage. Returns what the checks reported as damage.
import { rmSync } from "node:fs";
import { EmbeddedEngine, SqliteStore } from "../../../../ts/engine/mod.ts";
import {
  checkStore,
  closedRun,
  OpenRunError,
  type StoreCheck,
  StoreReader,
} from "../../../../ts/engine/maintenance/mod.ts";
import type { RunWrite } from "../../../../ts/core/generated/boundary/temporalex/boundary/v1/boundary.ts";

export async function look(path: string): Promise<StoreCheck> {
  const reader = StoreReader.open(path);
  try {
    return await checkStore(reader);
  } finally {
    reader.close();
  }
}

/** What was found of it, as lines. */
export const alarms = (path: string, { problems }: StoreCheck): string[] =>
  problems.map(({ workflowId, runId, message }) => `${path}: ${workflowId} ${runId}: ${message}`);

export interface Judged {
  readonly alarms: string[];
  readonly notes: number;
  readonly runs: number;
  readonly events: number;
  /** Closed runs that were made from their histories in another store. */
  readonly imported: number;
}

/**
 * Checks a store and its backup, makes every closed run from its history in another store, and
 * checks that one too.
 */
export async function judge(path: string): Promise<Judged> {
  const found = await look(path);
  const said = alarms(path, found);
  const [copy, other] = [`${path}.copy`, `${path}.other`];
  const reader = StoreReader.open(path);
  const writes: RunWrite[] = [];
  try {
    reader.backup(copy);
    for (const run of reader.runs()) {
      try {
        writes.push(
          closedRun({
            history: joined(run.history()),
            workflowId: run.row.workflowId,
            runId: run.row.runId,
          }),
        );
      } catch (e) {
        if (!(e instanceof OpenRunError)) {
          said.push(`import of ${run.row.workflowId} ${run.row.runId}: ${(e as Error).message}`);
        }
      }
    }
  } finally {
    reader.close();
  }
  said.push(...alarms("the backup", await look(copy)));
  said.push(...await imported(other, writes));
  for (const file of [copy, other]) {
    for (const end of ["", "-fence", "-wal", "-shm"]) rmSync(`${file}${end}`, { force: true });
  }
  return {
    alarms: said,
    notes: found.notes.length,
    runs: found.runs,
    events: found.events,
    imported: writes.length,
  };
}

/** What is wrong with a new store of these runs. It is also opened by an engine. */
export async function imported(path: string, writes: readonly RunWrite[]): Promise<string[]> {
  const store = SqliteStore.open(path);
  try {
    store.adopt(writes);
  } finally {
    store.close();
  }
  const engine = await EmbeddedEngine.open({ path });
  await engine.close();
  const after = await look(path);
  const said = alarms("the import", after);
  if (after.runs !== writes.length) {
    said.push(`${writes.length} runs were imported, and ${after.runs} are there`);
  }
  return said;
}

export function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  parts.reduce((at, part) => (whole.set(part, at), at + part.length), 0);
  return whole;
}
