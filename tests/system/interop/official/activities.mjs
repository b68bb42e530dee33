// Activities of workflows.mjs.
import { ApplicationFailure, CompleteAsyncError, Context, sleep } from "@temporalio/activity";

/** The file to which an activity that is completed from outside writes its token and id. */
export const handedOver = [];

export const greet = async (word, name) => `${word} ${name}`;
export const echo = async (value) => value;

export async function failsUntil(attempt) {
  const now = Context.current().info.attempt;
  if (now < attempt) throw new Error(`attempt ${now}`);
  return now;
}

export async function failsForGood(message, details) {
  throw ApplicationFailure.create({
    message,
    type: "Final",
    details: [details],
    nonRetryable: true,
  });
}

export const hangs = (ms) => new Promise((resolve) => setTimeout(resolve, ms, "late"));

export async function fallsSilent() {
  const { info } = Context.current();
  if (info.attempt > 1) return { attempt: info.attempt, left: info.heartbeatDetails };
  Context.current().heartbeat({ row: 7 });
  await hangs(6000);
  return "never read";
}

export async function beatsUntilCancelled() {
  const context = Context.current();
  for (let row = 0;; row++) {
    context.heartbeat(row);
    try {
      await sleep(50);
    } catch (error) {
      // Ends as canceled; the message of the failure appears in no log.
      throw error;
    }
  }
}

export async function handsOver() {
  const { taskToken, activityId, workflowExecution } = Context.current().info;
  handedOver.push({ taskToken, activityId, workflowId: workflowExecution.workflowId });
  throw new CompleteAsyncError();
}
