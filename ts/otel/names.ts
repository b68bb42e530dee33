// Names of attributes, as Temporal's TypeScript SDK has them.
export const ATTRIBUTES = {
  workflowId: "temporalWorkflowId",
  runId: "run_id",
  activityId: "temporalActivityId",
  updateId: "temporalUpdateId",
} as const;
