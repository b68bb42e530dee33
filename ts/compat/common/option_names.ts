// Option names of the official SDK. Unknown fields are ignored as there, but misspelled options are
// rejected, because the program would otherwise behave differently than specified.
import { type OptionNames, rejectMisspelledOptions } from "../../base/option_names.ts";
import type { ActivityOptions, LocalActivityOptions, RetryPolicy } from "./options.ts";

const RETRY_POLICY: OptionNames<RetryPolicy> = {
  ...{
    backoffCoefficient: 1,
    initialInterval: 1,
    maximumAttempts: 1,
    maximumInterval: 1,
    nonRetryableErrorTypes: 1,
  },
};
const LOCAL_ACTIVITY: OptionNames<LocalActivityOptions> & { eventGroups: 1; activityTypeInfo: 1 } =
  {
    ...{
      retry: 1,
      startToCloseTimeout: 1,
      scheduleToStartTimeout: 1,
      scheduleToCloseTimeout: 1,
      cancellationType: 1,
      summary: 1,
    },
    ...{
      allowEagerDispatch: 1,
      versioningIntent: 1,
      priority: 1,
      localRetryThreshold: 1,
      eventGroups: 1,
      activityTypeInfo: 1,
    },
  };
const { localRetryThreshold: _ofLocalOnes, ...SHARED } = LOCAL_ACTIVITY;
const ACTIVITY: OptionNames<ActivityOptions> = {
  ...SHARED,
  activityId: 1,
  taskQueue: 1,
  heartbeatTimeout: 1,
};
/** Options of all starts: by a client, a parent and a schedule. */
export const START_OPTIONS = {
  ...{
    args: 1,
    workflowId: 1,
    taskQueue: 1,
    workflowIdReusePolicy: 1,
    workflowIdConflictPolicy: 1,
    retry: 1,
    cronSchedule: 1,
  },
  ...{
    memo: 1,
    searchAttributes: 1,
    typedSearchAttributes: 1,
    staticDetails: 1,
    staticSummary: 1,
    priority: 1,
    typeInfo: 1,
  },
  ...{ workflowExecutionTimeout: 1, workflowRunTimeout: 1, workflowTaskTimeout: 1 },
};

export function checkRetryPolicy(policy: RetryPolicy): void {
  rejectMisspelledOptions("retry", policy, RETRY_POLICY);
}

export function checkActivityOptions(options: unknown): void {
  rejectMisspelledOptions("proxyActivities", options, ACTIVITY);
}

export function checkLocalActivityOptions(options: unknown): void {
  rejectMisspelledOptions("proxyLocalActivities", options, LOCAL_ACTIVITY);
}
