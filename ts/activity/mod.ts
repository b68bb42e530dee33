// The module that activity code imports: its context, and the failures that it throws.
export {
  type ActivityContext,
  activityContext,
  type ActivityInfo,
  activityInfo,
  type CancelReason,
  completeAsync,
  CompleteAsyncError,
  heartbeat,
  sleep,
  withContext,
} from "./context.ts";
export {
  ApplicationFailure,
  type ApplicationFailureOptions,
  CancelledFailure,
} from "../converter/failures.ts";
