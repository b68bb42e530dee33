// Commands with a text that UTF-8 cannot encode.
import * as wf from "@temporalio/workflow";

const LONE = "a\ud800b";
type Any = Record<string, () => Promise<void>>;
const options = { startToCloseTimeout: "1 minute", retry: { maximumAttempts: 1 } } as const;
const work = (more: object) => wf.proxyActivities<Any>({ ...options, ...more }).work!();

/** By field that the error names. */
export const calls: { readonly [field: string]: () => unknown } = {
  activityType: () => wf.proxyActivities<Any>(options)[LONE]!(),
  taskQueue: () => work({ taskQueue: LONE }),
  activityId: () => work({ activityId: LONE }),
  "retryPolicy.nonRetryableErrorTypes": () => work({ retry: { nonRetryableErrorTypes: [LONE] } }),
  "priority.fairnessKey": () => work({ priority: { fairnessKey: LONE } }),
  "activityType of a local activity": () => wf.proxyLocalActivities<Any>(options)[LONE]!(),
  workflowType: () => wf.executeChild(LONE),
  workflowId: () => wf.executeChild("child", { workflowId: LONE }),
  "memo of a child": () => wf.executeChild("child", { memo: { [LONE]: 1 } }),
  "searchAttributes of a child": () =>
    wf.executeChild("child", { searchAttributes: { [LONE]: [1] } }),
  cronSchedule: () => wf.executeChild("child", { cronSchedule: LONE }),
  "workflowId of a signal": () => wf.getExternalWorkflowHandle(LONE).signal("go"),
  "runId of a signal": () => wf.getExternalWorkflowHandle("other", LONE).signal("go"),
  signalName: () => wf.getExternalWorkflowHandle("other").signal(LONE),
  "workflowId of a cancellation": () => wf.getExternalWorkflowHandle(LONE).cancel(),
  searchAttributes: () => wf.upsertSearchAttributes({ [LONE]: [1] }),
  memo: () => wf.upsertMemo({ [LONE]: 1 }),
  patchId: () => wf.patched(LONE),
};

export async function call(field: string): Promise<unknown> {
  try {
    return [await calls[field]!()];
  } catch (error) {
    return `${(error as Error).name}: ${(error as Error).message}`;
  }
}

export async function renewed(): Promise<void> {
  await wf.makeContinueAsNewFunc<typeof renewed>({ workflowType: LONE })();
}

export async function fails(): Promise<void> {
  throw wf.ApplicationFailure.create({ message: LONE, type: LONE, details: [LONE] });
}

const change = wf.defineUpdate<void>("change");
const ask = wf.defineQuery<void>("ask");

export async function throwing(): Promise<void> {
  const fail = () => {
    throw wf.ApplicationFailure.create({ message: LONE, type: LONE });
  };
  wf.setHandler(change, fail);
  wf.setHandler(ask, fail);
  await wf.sleep("1 hour");
}
