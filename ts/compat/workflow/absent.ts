// Names of the official package whose operations cannot be had here. They are exported, so that a module that imports them loads; calling one
// fails the task by name.
import { currentRun } from "../current.ts";

function refuse(what: string, why: string): never {
  const error = new TypeError(`${what} is not supported here: ${why}`);
  currentRun(`${what} may only be used from a Workflow Execution`).failTask(
    error,
  );
  throw error;
}

/** Refused: commands are sent without markers of event groups. */
export function createEventGroup(): never {
  return refuse(
    "createEventGroup(...)",
    "leave event groups out; summaries of timers, activities and children are shown",
  );
}
