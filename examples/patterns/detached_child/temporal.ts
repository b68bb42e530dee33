// A detached child: the parent starts a workflow that outlives it, and does not wait for its end.
import { condition, defineSignal, setHandler, startChild } from "@temporalio/workflow";

export const rate = defineSignal<[stars: number]>("rate");

export async function survey(limitMs: number): Promise<string> {
  let rating: number | undefined;
  setHandler(rate, (stars) => {
    rating ??= stars;
  });
  await condition(() => rating !== undefined, limitMs);
  return rating === undefined ? "not rated" : `${rating} stars`;
}

export async function closeOrder(order: string, limitMs: number): Promise<string> {
  const { workflowId } = await startChild(survey, {
    workflowId: `survey-${order}`,
    args: [limitMs],
    parentClosePolicy: "ABANDON",
  });
  return workflowId;
}
