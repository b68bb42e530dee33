// `@temporalio/activity`: what activity code imports.
import type { ActivityDefinitionOptions, ActivityFunction } from "../common/mod.ts";

export {
  type ActivityDefinitionOptions,
  type ActivityFunction,
  type ActivityInterface,
  type ActivityTypeInfoMap,
  ApplicationFailure,
  CancelledFailure,
  CompleteAsyncError,
  type UntypedActivities,
} from "../common/mod.ts";
export {
  activityInfo,
  asyncLocalStorage,
  cancellationDetails,
  cancellationSignal,
  cancelled,
  Context,
  getClient,
  heartbeat,
  log,
  metricMeter,
  sleep,
} from "./context.ts";
export type { Info } from "./info.ts";

/** Adds type hints for the converter of an activity's arguments and result. */
export function setActivityOptions<Args extends unknown[], Result>(
  options: ActivityDefinitionOptions,
  fn: ActivityFunction<Args, Result>,
): void {
  Object.assign(fn, { activityDefinitionOptions: options });
}
