// Names of span attributes, as in Temporal's TypeScript SDK.
export const ATTRIBUTES = {
  workflowId: "temporalWorkflowId",
  runId: "run_id",
  activityId: "temporalActivityId",
  updateId: "temporalUpdateId",
} as const;
