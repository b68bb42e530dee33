// What a run waits for, or its result, in a few words: from its description, and if necessary from
// its history.
import {
  type Client,
  WorkflowContinuedAsNewError,
  type WorkflowHandle,
  type WorkflowSummary,
} from "temporalex/client";
import { lineOfValue } from "../../../ts/run_view/value_text.ts";
import type { GlyphKind } from "../ui/glyph.tsx";

export interface Now {
  readonly kind: GlyphKind | undefined;
  readonly text: string;
  readonly isFailure: boolean;
  /** Number of events at that time. */
  readonly events: number;
  /** Whether it cannot change. */
  readonly final: boolean;
}

/** Longer histories are not read for this text. */
const MOST_EVENTS = 1000;
const ASK_MS = 5000;
/** Runs of unknown types seldom have more events; longer histories are not read for this. */
const FIRST_TASK_EVENTS = 20;

/**
 * Whether the last workflow task failed because the worker does not know the type: in the message
 * of this package (UnknownWorkflowError) or of Temporal's SDK.
 */
function isUnknownType({ events }: Awaited<ReturnType<WorkflowHandle["fetchHistory"]>>): boolean {
  const failed = events.findLast(({ attributes: { case: kind } }) =>
    kind === "workflowTaskFailedEventAttributes" || kind === "workflowTaskCompletedEventAttributes"
  )?.attributes;
  if (failed?.case !== "workflowTaskFailedEventAttributes") return false;
  const message = failed.value.failure?.message ?? "";
  return /^workflow type ".*" is not known to this worker|no such function is exported by the workflow bundle/s
    .test(message);
}

/** `before`: the previous value, which is returned if nothing has changed. */
export async function nowOf(
  client: Client,
  run: WorkflowSummary,
  before: Now | undefined,
): Promise<Now> {
  return run.status === "RUNNING" ? await waiting(client, run, before) : await outcome(client, run);
}

async function waiting(
  client: Client,
  { workflowId, runId, taskQueue, type }: WorkflowSummary,
  before: Now | undefined,
): Promise<Now> {
  const handle = client.getHandle(undefined as string | undefined, workflowId, runId).with({
    timeout: ASK_MS,
  });
  const { historyLength: events, pendingActivities, pendingChildren, paused, pendingWorkflowTask } =
    await handle.describe();
  const say = (kind: GlyphKind | undefined, text: string, isFailure = false): Now =>
    before?.text === text && before.events === events
      ? before
      : { kind, text, isFailure, events, final: false };
  if (paused !== undefined) return say("park", paused.reason);
  if ((pendingWorkflowTask?.attempt ?? 1) > 1) {
    const unknown = events <= FIRST_TASK_EVENTS && isUnknownType(await handle.fetchHistory());
    if (unknown) return say("difference", `waits for its code: no worker knows ${type}`, true);
    return say(
      "difference",
      `its workflow task fails, attempt ${pendingWorkflowTask!.attempt}`,
      true,
    );
  }
  // The description has no news before a worker has polled the task.
  if (pendingWorkflowTask?.state === "SCHEDULED") {
    return say("park", `waits for a worker of queue ${taskQueue}`);
  }
  const [activity] = pendingActivities;
  if (activity !== undefined) {
    const more = pendingActivities.length > 1 ? ` and ${pendingActivities.length - 1} more` : "";
    const attempt = activity.attempt > 1 ? `, attempt ${activity.attempt}` : "";
    return say("activity", `${activity.activityType}${attempt}${more}`);
  }
  const [child] = pendingChildren;
  if (child !== undefined) return say("child", `${child.workflowType} ${child.workflowId}`);
  if (before !== undefined && before.events === events) return before;
  if (events > MOST_EVENTS) return say("park", "waits");
  const { readRun } = await import("../store/run_model.ts");
  const model = await readRun(await handle.historyBytes({ decode: true }));
  const [open] = model.pendingAt(model.lines.length);
  return open === undefined ? say("park", "waits for a message") : say(open.kind, open.name);
}

async function outcome(
  client: Client,
  { workflowId, runId, status, historyLength }: WorkflowSummary,
): Promise<Now> {
  const say = (text: string, isFailure = false): Now => ({
    kind: undefined,
    text,
    isFailure,
    events: historyLength,
    final: true,
  });
  if (status === "CONTINUED_AS_NEW") return say("continued as new");
  const handle = client.getHandle(undefined as string | undefined, workflowId, runId).with({
    timeout: ASK_MS,
  });
  try {
    const value = await handle.result({ followRuns: false });
    return say(value === undefined ? "" : lineOfValue(value, 60));
  } catch (error) {
    if (error instanceof WorkflowContinuedAsNewError) return say("continued as new");
    return say(rootOf(error as Error).message, status === "FAILED" || status === "TIMED_OUT");
  }
}

/** The innermost cause: outer errors only say where it happened ("Activity task failed"). */
function rootOf(error: Error): Error {
  let root = error;
  while (root.cause instanceof Error && root.cause.message !== "") root = root.cause;
  return root;
}
