// Facts about the whole run, from its history.
import type { HistoryEvent } from "../../messages/generated/temporal/api/history/v1/message_pb.ts";
import { WorkflowTaskFailedCause } from "../../messages/generated/temporal/api/enums/v1/failed_cause_pb.ts";
import type { HistoryFile } from "../../history_files/history_file.ts";
import { eventTimeMs } from "./event_time.ts";
import type { RunFacts, RunLink } from "./types.ts";

const STATUS: { readonly [closing: string]: string } = {
  workflowExecutionCompletedEventAttributes: "Completed",
  workflowExecutionFailedEventAttributes: "Failed",
  workflowExecutionTimedOutEventAttributes: "TimedOut",
  workflowExecutionCanceledEventAttributes: "Cancelled",
  workflowExecutionTerminatedEventAttributes: "Terminated",
  workflowExecutionContinuedAsNewEventAttributes: "ContinuedAsNew",
};

export function readRunFacts(file: HistoryFile, events: readonly HistoryEvent[]): RunFacts {
  const first = events[0]!.attributes;
  const started = first.case === "workflowExecutionStartedEventAttributes"
    ? first.value
    : undefined;
  const identities = new Set<string>();
  const builds = new Set<string>();
  let sdk = "";
  for (const { attributes } of events) {
    if (attributes.case !== "workflowTaskCompletedEventAttributes") continue;
    const {
      identity,
      sdkMetadata,
      deploymentVersion,
      workerVersion,
      workerDeploymentVersion,
      binaryChecksum,
    } = attributes.value;
    if (identity !== "") identities.add(identity);
    const build = deploymentVersion === undefined
      ? workerDeploymentVersion || workerVersion?.buildId || binaryChecksum
      : `${deploymentVersion.deploymentName}:${deploymentVersion.buildId}`;
    if (build !== "") builds.add(build);
    // A task names the SDK only if it differs from that of the task before.
    if (sdkMetadata?.sdkName) sdk = `${sdkMetadata.sdkName} ${sdkMetadata.sdkVersion}`;
    else if (sdkMetadata?.sdkVersion) sdk = `${sdk.replace(/ .*/, "")} ${sdkMetadata.sdkVersion}`;
  }
  return {
    type: file.workflowType,
    id: file.workflowId,
    runId: file.runId,
    status: STATUS[findClosingEvent(events)?.attributes.case ?? ""] ?? "Running",
    startMs: eventTimeMs(events[0]!),
    endMs: eventTimeMs(events.at(-1)!),
    taskQueue: started?.taskQueue?.name ?? "",
    sdk: sdk.trim(),
    identities: [...identities],
    builds: [...builds],
    attempt: started?.attempt || 1,
    cron: started?.cronSchedule ?? "",
    links: listLinks(file, events),
  };
}

/** Returns the event that closes the run. Events that a server records after it do not count. */
const findClosingEvent = (events: readonly HistoryEvent[]): HistoryEvent | undefined =>
  events.slice(-3).findLast(({ attributes }) => (attributes.case ?? "") in STATUS);

function listLinks(file: HistoryFile, events: readonly HistoryEvent[]): RunLink[] {
  const links: RunLink[] = [];
  const add = (link: RunLink) => {
    const known = links.some(({ workflowId, runId }) =>
      workflowId === link.workflowId && runId === link.runId
    );
    if (!known && (link.workflowId !== "" || link.runId !== "") && link.runId !== file.runId) {
      links.push(link);
    }
  };
  for (const { attributes: at, eventId: id } of events) {
    const eventId = Number(id);
    switch (at.case) {
      case "workflowExecutionStartedEventAttributes": {
        const {
          parentWorkflowExecution: parent,
          rootWorkflowExecution: root,
          continuedExecutionRunId,
        } = at.value;
        if (parent !== undefined) add({ kind: "parent", ...pickRunIds(parent), type: "", eventId });
        if (root !== undefined) add({ kind: "root", ...pickRunIds(root), type: "", eventId });
        if (continuedExecutionRunId !== "") {
          const before = {
            workflowId: file.workflowId,
            runId: continuedExecutionRunId,
            type: file.workflowType,
          };
          add({ kind: "continuedFrom", ...before, eventId });
        }
        break;
      }
      case "workflowExecutionContinuedAsNewEventAttributes":
        add({
          kind: "continuedAs",
          workflowId: file.workflowId,
          runId: at.value.newExecutionRunId,
          type: at.value.workflowType?.name ?? "",
          eventId,
        });
        break;
      case "workflowExecutionFailedEventAttributes":
      case "workflowExecutionCompletedEventAttributes":
      case "workflowExecutionTimedOutEventAttributes":
        if (at.value.newExecutionRunId !== "") {
          const next = {
            workflowId: file.workflowId,
            runId: at.value.newExecutionRunId,
            type: file.workflowType,
          };
          add({ kind: "retriedAs", ...next, eventId });
        }
        break;
      case "workflowTaskFailedEventAttributes":
        if (at.value.cause === WorkflowTaskFailedCause.RESET_WORKFLOW) {
          add({
            kind: "resetFrom",
            workflowId: file.workflowId,
            runId: at.value.baseRunId,
            type: file.workflowType,
            eventId,
          });
        }
        break;
      case "childWorkflowExecutionStartedEventAttributes": {
        const { workflowExecution, workflowType } = at.value;
        if (workflowExecution !== undefined) {
          add({
            kind: "child",
            ...pickRunIds(workflowExecution),
            type: workflowType?.name ?? "",
            eventId,
          });
        }
        break;
      }
    }
  }
  return links;
}

const pickRunIds = (
  { workflowId, runId }: { readonly workflowId: string; readonly runId: string },
) => ({
  workflowId,
  runId,
});
