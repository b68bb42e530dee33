// Histories of random runs on a real server, some of them reset, so that their histories begin as
// copies of others.
import { Client, silentLogger } from "../../../../ts/client/mod.ts";
import { readHistoryFile } from "../../../../ts/history_files/history_file.ts";
import { closedRun, ImportError, OpenRunError } from "../../../../ts/engine/maintenance/mod.ts";
import type { RunWrite } from "../../../../ts/core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { RawService } from "../../../../ts/service/raw.ts";
import { liveRandom, randomWorker } from "../../../unit/engine/support/random_runs.ts";

export interface ServerRuns {
  readonly writes: RunWrite[];
  readonly resets: number;
  readonly open: number;
  /** What could not be imported, or was imported as another run. */
  readonly alarms: string[];
}

/**
 * Lives `workflows` seeds on the server, resets each several times, and reads every run back as an
 * import does.
 */
export async function serverRuns(
  service: RawService,
  workflows: number,
  seed: number,
  onProgress: (done: number) => void = () => {},
): Promise<ServerRuns> {
  const taskQueue = `resets-${seed}`;
  const client = new Client({ service, taskQueue, logger: silentLogger });
  const worker = await randomWorker(service, taskQueue);
  const runs: (readonly [workflowId: string, runId: string])[] = [];
  let resets = 0;
  await worker.runUntil(async () => {
    let next = seed;
    let done = 0;
    await Promise.all(Array.from({ length: 20 }, async () => {
      while (next < seed + workflows) {
        const mine = next++;
        const { runIds, made } = await liveAndReset(client, mine);
        resets += made;
        for (const runId of runIds) runs.push([`random-${mine}`, runId]);
        onProgress(++done);
      }
    }));
  });
  return { ...await readAll(client, runs), resets };
}

/** One that lives, is reset, lives again. */
async function liveAndReset(
  client: Client,
  seed: number,
): Promise<{ runIds: string[]; made: number }> {
  await liveRandom(client, seed);
  const id = `random-${seed}`;
  const first = (await client.getHandle("Random", id).describe()).runId;
  const runIds = new Set([first]);
  let current = first;
  let made = 0;
  for (let n = 0; n < 1 + seed % 3; n++) {
    const { events } = await client.getHandle("Random", id, current).fetchHistory();
    const ends = events.filter(({ attributes: { case: kind } }) =>
      kind === "workflowTaskCompletedEventAttributes"
    );
    if (ends.length === 0) break;
    const again = await client.getHandle("Random", id, current).reset({
      eventId: ends[(seed + n) % ends.length]!.eventId,
      reason: "again",
      ...(seed % 4 === 0 && { reapplyExclude: "ALL" as const }),
    });
    made++;
    runIds.add(current = again.runId!);
    // It may wait for a child whose end was reported to the run that it was copied from.
    await again.result({ timeout: "10s" }).catch(() => undefined);
    await client.getHandle("Random", id).terminate("long enough").catch(() => undefined);
    // It may have continued as new.
    runIds.add(current = (await client.getHandle("Random", id).describe()).runId);
  }
  return { runIds: [...runIds], made };
}

async function readAll(
  client: Client,
  runs: readonly (readonly [workflowId: string, runId: string])[],
): Promise<Omit<ServerRuns, "resets">> {
  const writes: RunWrite[] = [];
  const alarms: string[] = [];
  let open = 0;
  for (const [workflowId, runId] of runs) {
    const handle = client.getHandle("Random", workflowId, runId);
    const json = new TextEncoder().encode(await handle.historyJson());
    try {
      const { bytes, runId: named } = await readHistoryFile(json);
      // Nothing but the history says which run it is.
      const write = closedRun({ history: bytes });
      if (write.row!.runId !== runId || named !== runId) {
        alarms.push(`${workflowId} ${runId}: imported as ${write.row!.runId}, read as ${named}`);
      }
      writes.push(write);
    } catch (e) {
      if (e instanceof OpenRunError) open++;
      else if (e instanceof ImportError) alarms.push(`${workflowId} ${runId}: ${e.message}`);
      else throw e;
    }
  }
  return { writes, open, alarms };
}
