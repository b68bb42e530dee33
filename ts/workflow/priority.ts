// Priorities of activities and child workflows.
import { checkPriority, type TaskPriority } from "../base/priority.ts";
import { encodePriority } from "../executor/program/priority.ts";

/** The service uses the priority of the workflow. */
export const NO_PRIORITY: Uint8Array = new Uint8Array(0);

/** Converts a priority for the core; `before` if undefined. Throws for invalid values. */
export function readPriority(priority: TaskPriority | undefined, before: Uint8Array): Uint8Array {
  checkPriority(priority);
  return priority === undefined ? before : encodePriority(priority);
}
