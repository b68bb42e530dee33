// Procedures on the wire: activities without a worker, completed by id. Workflow code starts them,
// clients complete them, and views of a history show the procedure's name.

/** Task queue of every procedure. No worker polls it; workers of this package reject its name. */
export const PROCEDURE_QUEUE = "temporalex-procedures";

const PREFIX = "procedure:";

/** Returns the activity type of a procedure. */
export const procedureType = (name: string): string => PREFIX + name;

/** Returns the procedure of an activity type; undefined for an activity of a worker. */
export const procedureOf = (activityType: string): string | undefined =>
  activityType.startsWith(PREFIX) ? activityType.slice(PREFIX.length) : undefined;

/** Returns the displayed type of an activity: "charge", "procedure compute_damage". */
export function shownActivity(activityType: string): string {
  const procedure = procedureOf(activityType);
  return procedure === undefined ? activityType : `procedure ${procedure}`;
}
