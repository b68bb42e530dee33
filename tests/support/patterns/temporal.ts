// The forms of examples/patterns for @temporalio/workflow, for one worker.
export { approval } from "../../../examples/patterns/approval/temporal.ts";
export { processTable } from "../../../examples/patterns/batch_iterator/temporal.ts";
export { rental } from "../../../examples/patterns/cancellation_cleanup/temporal.ts";
export { message } from "../../../examples/patterns/dead_letter/temporal.ts";
export { collect } from "../../../examples/patterns/deduplication/temporal.ts";
export { fetchReport } from "../../../examples/patterns/delayed_retry/temporal.ts";
export { payment } from "../../../examples/patterns/early_return/temporal.ts";
export { pollOften } from "../../../examples/patterns/frequent_polling/temporal.ts";
export { pollRarely } from "../../../examples/patterns/infrequent_polling/temporal.ts";
export { mutex, printDocument } from "../../../examples/patterns/mutex/temporal.ts";
export { firstQuote } from "../../../examples/patterns/pick_first/temporal.ts";
export { asker, expert } from "../../../examples/patterns/request_response/temporal.ts";
export { bookTrip } from "../../../examples/patterns/saga/temporal.ts";
export { remindUser } from "../../../examples/patterns/scheduled_reminder/temporal.ts";
export { processAll, processItem } from "../../../examples/patterns/sliding_window/temporal.ts";
export { orderStates } from "../../../examples/patterns/state_machine/temporal.ts";
export { auction } from "../../../examples/patterns/updatable_timer/temporal.ts";
