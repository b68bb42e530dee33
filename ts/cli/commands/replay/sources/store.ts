// The runs of a store file in one snapshot. Writes nothing and does not block the process that has
// the store open.
import { resolve } from "node:path";
import { WorkflowExecutionStatus } from "../../../../messages/generated/temporal/api/enums/v1/workflow_pb.ts";
import { concat } from "../../../../messages/wire.ts";
import type { HistoryFile } from "../../../../history_files/history_file.ts";
import { type StoredRunState, StoreReader } from "../../../../engine/maintenance/mod.ts";
import type { ReplayCall } from "../options.ts";
import { Sample } from "./sample.ts";
import { type Found, InputError, type Source } from "./source.ts";

/** Runs that one realm replays in the time that another one needs to start and compile. */
const RUNS_PER_THREAD = 1000;

/** Opens the store while `use` runs. Throws an InputError if it cannot be read. */
export async function withStore(
  { options, io }: ReplayCall,
  store: string,
  use: (source: Source) => Promise<number>,
): Promise<number> {
  let reader: StoreReader;
  try {
    reader = StoreReader.open(resolve(io.cwd, store));
    reader.hold();
  } catch (e) {
    throw new InputError((e as Error).message, { cause: e });
  }
  try {
    const { open, sample, seed } = options;
    const wanted = (run: StoredRunState) =>
      !open || run.row.status === WorkflowExecutionStatus.RUNNING;
    const chosen = chooser(reader, wanted, sample, seed);
    const count = chosen?.size ?? (open ? undefined : reader.count());
    return await use({
      total: count,
      ahead: 0,
      worthThreads: Math.ceil((count ?? reader.count()) / RUNS_PER_THREAD),
      histories: function* () {
        for (const run of reader.runs()) {
          if (chosen === undefined ? wanted(run) : chosen.has(run.row.runId)) yield foundOf(run);
        }
      },
    });
  } finally {
    reader.close();
  }
}

/** Returns the runs of the sample; undefined if all are selected. */
function chooser(
  reader: StoreReader,
  wanted: (run: StoredRunState) => boolean,
  sample: number | undefined,
  seed: string,
): ReadonlySet<string> | undefined {
  if (sample === undefined) return undefined;
  const of = new Sample<string>(sample, seed);
  for (const run of reader.runs()) {
    if (wanted(run)) of.add(run.row.workflowType, run.row.runId, run.row.runId);
  }
  return new Set(of.chosen());
}

function foundOf(run: StoredRunState): Found {
  const { workflowId, runId, workflowType, historyLength, historySizeBytes } = run.row;
  const read = (): HistoryFile => ({
    ...{ bytes: concat(run.history()), events: historyLength, workflowType, workflowId, runId },
    notes: [],
  });
  return { file: `${workflowId}/${runId}`, place: "", bytes: historySizeBytes, read };
}
