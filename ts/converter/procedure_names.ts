// Procedures on the wire: activities that no worker is given, completed by their ids. Workflow code makes them, clients complete them,
// and whatever shows a history gives them their own name.

/** Queue of every procedure. No worker polls it; a worker of ours refuses its name. */
export const PROCEDURE_QUEUE = "temporalex-procedures";

const PREFIX = "procedure:";

/** The activity type of a procedure. */
export const procedureType = (name: string): string => PREFIX + name;

/** The procedure that an activity of this type stands for; undefined: it is a worker's activity. */
export const procedureOf = (activityType: string): string | undefined =>
  activityType.startsWith(PREFIX) ? activityType.slice(PREFIX.length) : undefined;

/** The type of an activity as people read it: "charge", "procedure compute_damage". */
export function shownActivity(activityType: string): string {
  const procedure = procedureOf(activityType);
  return procedure === undefined ? activityType : `procedure ${procedure}`;
}
