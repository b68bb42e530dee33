// Queries over workers, in the language of queries over runs. A worker is tested as a run: its task
// queue, start and status are those of the run, and its other fields are search attributes.
import { create, toBinary } from "@bufbuild/protobuf";
import { SearchAttributesSchema } from "../../messages/generated/temporal/api/common/v1/message_pb.ts";
import {
  IndexedValueType,
  WorkerStatus,
} from "../../messages/generated/temporal/api/enums/v1/common_pb.ts";
import type { WorkerHeartbeat } from "../../messages/generated/temporal/api/worker/v1/message_pb.ts";
import type { RunRow } from "../store.ts";
import { matches } from "../visibility/condition.ts";
import { parseCount, type QueryFields } from "../visibility/parse.ts";
import { statusesOf } from "../visibility/values.ts";

const FIELDS: QueryFields = {
  what: "workers",
  fields: { TaskQueue: "TaskQueue", Status: "ExecutionStatus", StartTime: "StartTime" },
  statuses: statusesOf(WorkerStatus),
};

const TEXTS: { readonly [name: string]: (worker: WorkerHeartbeat) => string | undefined } = {
  WorkerInstanceKey: (worker) => worker.workerInstanceKey,
  WorkerIdentity: (worker) => worker.workerIdentity,
  HostName: (worker) => worker.hostInfo?.hostName,
  DeploymentName: (worker) => worker.deploymentVersion?.deploymentName,
  BuildId: (worker) => worker.deploymentVersion?.buildId,
  SdkName: (worker) => worker.sdkName,
  SdkVersion: (worker) => worker.sdkVersion,
};

const TYPES = Object.fromEntries(
  Object.keys(TEXTS).map((name) => [name, IndexedValueType.KEYWORD]),
);
const utf8 = new TextEncoder();
const NONE: Uint8Array = new Uint8Array(0);

function attributesOf(worker: WorkerHeartbeat): Uint8Array {
  const metadata = { encoding: utf8.encode("json/plain"), type: utf8.encode("Keyword") };
  const indexedFields = Object.fromEntries(
    Object.entries(TEXTS).flatMap(([name, read]) => {
      const value = read(worker);
      // An empty text is an unset field.
      return value === undefined || value === ""
        ? []
        : [[name, { metadata, data: utf8.encode(JSON.stringify(value)) }]];
    }),
  );
  return toBinary(SearchAttributesSchema, create(SearchAttributesSchema, { indexedFields }));
}

function testedRow(worker: WorkerHeartbeat): RunRow {
  const { seconds = 0n, nanos = 0 } = worker.startTime ?? {};
  return {
    ...{ workflowId: "", runId: "", workflowType: "", firstRunId: "", nextRunId: "" },
    taskQueue: worker.taskQueue,
    status: worker.status,
    startTimeMs: Number(seconds) * 1000 + nanos / 1e6,
    ...{ closeTimeMs: 0, historyLength: 0, historySizeBytes: 0, wakeAtMs: 0, ready: false },
    memo: NONE,
    searchAttributes: attributesOf(worker),
  };
}

/** Returns the test of a query. Throws a ServiceError INVALID_ARGUMENT for an invalid one. */
export function workerTest(query: string): (worker: WorkerHeartbeat) => boolean {
  const { where } = parseCount(query, TYPES, FIELDS);
  if (where === undefined) return () => true;
  return (worker) => matches({ row: testedRow(worker), head: NONE }, where);
}
