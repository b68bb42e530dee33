// A detached child: the parent starts a workflow that outlives it, and does not wait for its end.
import { on, select, signal, startChild, timer, workflow } from "temporalex/workflow";

export const rate = signal<[stars: number]>("rate");

export const survey = workflow("survey", (limitMs: number) =>
  select([
    on(rate, ([stars]) => `${stars} stars`),
    timer(limitMs, () => "not rated"),
  ]));

export const closeOrder = workflow("closeOrder", async (order: string, limitMs: number) => {
  const { workflowId } = await startChild(survey, {
    id: `survey-${order}`,
    args: [limitMs],
    parentClosePolicy: "ABANDON",
  });
  return workflowId;
});
