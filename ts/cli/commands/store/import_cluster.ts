// The runs of a cluster for `store import`, and the end of those that have moved.
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { WorkflowNotFoundError } from "../../../client/errors.ts";
import type { WorkflowSummary } from "../../../client/mod.ts";
import { messageOf } from "../../../converter/thrown.ts";
import {
  DescribeWorkflowExecutionRequestSchema,
  type DescribeWorkflowExecutionResponse,
  DescribeWorkflowExecutionResponseSchema,
} from "../../../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { PayloadsSchema } from "../../../messages/generated/temporal/api/common/v1/message_pb.ts";
import { History } from "../../../messages/generated/fields.ts";
import { Fields } from "../../../messages/wire.ts";
import { timestampMs } from "../../../messages/well_known.ts";
import { type ActivityProgress, ImportError } from "../../../engine/maintenance/mod.ts";
import type { Connection } from "../../service/open_service.ts";
import { type FoundRun, runOfHistory } from "./import_files.ts";
import type { ImportCall } from "./options.ts";

const PAGE = 500;
/** Histories that are downloaded at a time. */
const DOWNLOADS = 8;
/** Readings of an open run that changes meanwhile. */
const READINGS = 3;
const NOTHING = new Uint8Array(0);

/** The runs that match the query of --from-cluster, in the order of the list. */
export async function* runsOfCluster(
  call: ImportCall,
  { client, settings, ...connection }: Connection,
): AsyncGenerator<FoundRun, void, void> {
  const reading: Promise<FoundRun | undefined>[] = [];
  const next = async function* () {
    const found = await reading.shift();
    if (found !== undefined) yield found;
  };
  for await (const run of client.list(call.options.fromCluster!, { pageSize: PAGE, ...settings })) {
    const read = readRun(call, { client, settings, ...connection }, run);
    // A failure is reported when its turn comes.
    read.catch(() => {});
    reading.push(read);
    if (reading.length >= DOWNLOADS) yield* next();
  }
  while (reading.length > 0) yield* next();
}

async function readRun(
  call: ImportCall,
  connection: Connection,
  run: WorkflowSummary,
): Promise<FoundRun | undefined> {
  const { workflowId, runId } = run;
  const open = run.closeTime === undefined;
  const found = { where: `workflow "${workflowId}"`, open, notes: [], inCluster: true };
  // A skipped or rejected run needs no history.
  if (open && !call.options.open) {
    const write = () => {
      throw new ImportError(
        `run ${runId} is open: import it with --open to continue it in this store, or leave out open runs with --closed-only`,
      );
    };
    return { ...found, write };
  }
  try {
    const { history, activities } = await settled(connection, run, open);
    const write = () => runOfHistory(call, { history, workflowId, runId }, activities);
    return { ...found, write };
  } catch (e) {
    // Removed between the list and the download.
    if (e instanceof WorkflowNotFoundError) return undefined;
    if (!(e instanceof ImportError)) throw e;
    const write = () => {
      throw e;
    };
    return { ...found, write };
  }
}

/** History and activities of the same moment. */
async function settled(
  { client, service, settings }: Connection,
  { workflowId, runId }: WorkflowSummary,
  open: boolean,
): Promise<{ history: Uint8Array; activities?: ReadonlyMap<string, ActivityProgress> }> {
  const handle = client.getHandle(undefined as string | undefined, workflowId, runId);
  if (!open) return { history: await handle.historyBytes(settings) };
  const request = toBinary(
    DescribeWorkflowExecutionRequestSchema,
    create(DescribeWorkflowExecutionRequestSchema, {
      namespace: client.namespace,
      execution: { workflowId, runId },
    }),
  );
  for (let i = 0; i < READINGS; i++) {
    const described = fromBinary(
      DescribeWorkflowExecutionResponseSchema,
      await service.call("describeWorkflowExecution", request),
    );
    const history = await handle.historyBytes(settings);
    const length = Number(described.workflowExecutionInfo?.historyLength ?? 0);
    if (length === countEvents(history)) return { history, activities: progressOf(described) };
  }
  throw new ImportError(
    `run ${runId} changes while it is read: stop the workers that execute it, then import it`,
  );
}

function progressOf(
  { pendingActivities }: DescribeWorkflowExecutionResponse,
): ReadonlyMap<string, ActivityProgress> {
  return new Map(pendingActivities.map((activity) => [activity.activityId, {
    attempt: Math.max(1, activity.attempt),
    dueMs: activity.nextAttemptScheduleTime === undefined
      ? 0
      : timestampMs(activity.nextAttemptScheduleTime),
    heartbeatDetails: activity.heartbeatDetails === undefined
      ? NOTHING
      : toBinary(PayloadsSchema, activity.heartbeatDetails),
    paused: activity.paused,
  }]));
}

function countEvents(history: Uint8Array): number {
  let events = 0;
  for (const at = new Fields(history); at.next();) if (at.tag === History.events) events++;
  return events;
}

/** Terminates runs in the cluster after their import; notes have those that could not be ended. */
export async function terminateInCluster(
  { client, where }: Connection,
  runs: readonly { readonly workflowId: string; readonly runId: string }[],
): Promise<{ readonly terminated: number; readonly notes: readonly string[] }> {
  const notes: string[] = [];
  let terminated = 0;
  for (const { workflowId, runId } of runs) {
    try {
      await client.getHandle(undefined as string | undefined, workflowId, runId).terminate(
        "moved to a Temporalex store",
      );
      terminated++;
    } catch (e) {
      notes.push(
        `workflow "${workflowId}": run ${runId} is imported, and still open at ${where}: ${
          messageOf(e)
        }; terminate it there`,
      );
    }
  }
  return { terminated, notes };
}
