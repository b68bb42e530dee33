// The native forms of examples/patterns, for one worker.
export { approval } from "../../../examples/patterns/approval/native.ts";
export { processTable } from "../../../examples/patterns/batch_iterator/native.ts";
export { fetchReport } from "../../../examples/patterns/delayed_retry/native.ts";
export { bookTrip } from "../../../examples/patterns/saga/native.ts";
export { auction } from "../../../examples/patterns/updatable_timer/native.ts";
