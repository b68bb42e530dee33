// The forms of examples/patterns for @temporalio/workflow, for one worker.
export { approval } from "../../../examples/patterns/approval/temporal.ts";
export { processTable } from "../../../examples/patterns/batch_iterator/temporal.ts";
export { fetchReport } from "../../../examples/patterns/delayed_retry/temporal.ts";
export { bookTrip } from "../../../examples/patterns/saga/temporal.ts";
export { auction } from "../../../examples/patterns/updatable_timer/temporal.ts";
