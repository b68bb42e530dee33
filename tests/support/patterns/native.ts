// The native forms of examples/patterns, for one worker.
export { approval } from "../../../examples/patterns/approval/native.ts";
export { processTable } from "../../../examples/patterns/batch_iterator/native.ts";
export { rental } from "../../../examples/patterns/cancellation_cleanup/native.ts";
export { message } from "../../../examples/patterns/dead_letter/native.ts";
export { collect } from "../../../examples/patterns/deduplication/native.ts";
export { fetchReport } from "../../../examples/patterns/delayed_retry/native.ts";
export { payment } from "../../../examples/patterns/early_return/native.ts";
export { pollOften } from "../../../examples/patterns/frequent_polling/native.ts";
export { pollRarely } from "../../../examples/patterns/infrequent_polling/native.ts";
export { mutex, printDocument } from "../../../examples/patterns/mutex/native.ts";
export { firstQuote } from "../../../examples/patterns/pick_first/native.ts";
export { asker, expert } from "../../../examples/patterns/request_response/native.ts";
export { bookTrip } from "../../../examples/patterns/saga/native.ts";
export { remindUser } from "../../../examples/patterns/scheduled_reminder/native.ts";
export { processAll, processItem } from "../../../examples/patterns/sliding_window/native.ts";
export { orderStates } from "../../../examples/patterns/state_machine/native.ts";
export { auction } from "../../../examples/patterns/updatable_timer/native.ts";
