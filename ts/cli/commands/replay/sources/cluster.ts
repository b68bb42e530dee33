// The runs of a cluster that a list filter selects, listed by page and downloaded concurrently.
import { History } from "../../../../messages/generated/fields.ts";
import { readRunStart } from "../../../../messages/history_start.ts";
import { Fields } from "../../../../messages/wire.ts";
import type { WorkflowExecutionInfo } from "../../../../messages/generated/temporal/api/workflow/v1/message_pb.ts";
import type { Client, WorkflowSummary } from "../../../../client/mod.ts";
import { WorkflowNotFoundError } from "../../../../client/errors.ts";
import type { HistoryFile } from "../../../../history_files/history_file.ts";
import { Interrupted, UsageError } from "../../../frame/errors.ts";
import { type Connection, withService } from "../../../service/open_service.ts";
import type { ReplayCall } from "../options.ts";
import { Sample } from "./sample.ts";
import { type Found, HistoryGone, InputError, type Source } from "./source.ts";

/** Maximum downloads in addition to histories whose replay has begun. */
const DOWNLOADS = 16;

const PAGE = 500;
const RUNS_PER_THREAD = 1000;

/**
 * Connects while `use` runs. Throws an InputError if the cluster cannot be reached or rejects the
 * query.
 */
export async function withClusterSource(
  call: ReplayCall,
  query: string,
  use: (source: Source) => Promise<number>,
): Promise<number> {
  const { options } = call;
  try {
    // The option selects the cluster, even if a store is configured elsewhere.
    const asked = { ...call, options: { ...options, store: undefined } };
    return await withService(
      asked,
      async (connection) => await use(await sourceOf(call, query, connection)),
      { cluster: true },
    );
  } catch (e) {
    if (e instanceof UsageError || e instanceof Interrupted) throw e;
    throw new InputError((e as Error).message, { cause: e });
  }
}

type Settings = Connection["settings"];

async function sourceOf(
  { options, print }: ReplayCall,
  query: string,
  { client, settings }: Connection,
): Promise<Source> {
  const { sample, seed } = options;
  const listed = () => client.list(query, { pageSize: PAGE, ...settings });
  if (sample === undefined) {
    const total = await client.count(query, settings);
    return {
      ...cost(total),
      histories: async function* () {
        for await (const run of listed()) yield foundOf(client, run, settings);
      },
    };
  }
  const of = new Sample<Pick<WorkflowSummary, "workflowId" | "runId">>(sample, seed);
  let runs = 0;
  for await (const { workflowId, runId, type, raw } of listed()) {
    of.add(JSON.stringify([type, buildOf(raw)]), runId, { workflowId, runId });
    if (++runs % PAGE === 0) print.progress(`${runs} runs listed`);
  }
  print.progress("");
  const chosen = of.chosen();
  return {
    ...cost(chosen.length),
    histories: () => chosen.map((run) => foundOf(client, run, settings)),
  };
}

const cost = (total: number) => ({
  total,
  ahead: DOWNLOADS,
  worthThreads: Math.ceil(total / RUNS_PER_THREAD),
});

/** Build ID of the worker of the run's last task; "" without one. */
function buildOf(
  { versioningInfo, mostRecentWorkerVersionStamp, assignedBuildId }: WorkflowExecutionInfo,
): string {
  return versioningInfo?.deploymentVersion?.buildId || mostRecentWorkerVersionStamp?.buildId ||
    assignedBuildId;
}

function foundOf(
  client: Client,
  { workflowId, runId, historySizeBytes = 0 }: Pick<WorkflowSummary, "workflowId" | "runId"> & {
    readonly historySizeBytes?: number;
  },
  settings: Settings,
): Found {
  const read = async (): Promise<HistoryFile> => {
    let bytes: Uint8Array;
    const handle = client.getHandle(undefined as string | undefined, workflowId, runId);
    try {
      bytes = await handle.historyBytes(settings);
    } catch (e) {
      if (e instanceof WorkflowNotFoundError) throw new HistoryGone();
      throw e;
    }
    const workflowType = readRunStart(bytes)?.workflowType ?? "";
    return { bytes, events: eventsIn(bytes), workflowType, workflowId, runId, notes: [] };
  };
  return { file: `${workflowId}/${runId}`, place: "", bytes: historySizeBytes, read };
}

function eventsIn(history: Uint8Array): number {
  let events = 0;
  for (const at = new Fields(history); at.next();) if (at.tag === History.events) events++;
  return events;
}
