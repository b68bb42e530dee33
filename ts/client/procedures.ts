// Procedures: requested by workflows, completed by clients. They are pending activities of the run
// and are completed by id.
import { procedureOf } from "../converter/procedure_names.ts";
import { completeActivity, failUnstarted } from "./activity_completion.ts";
import type { CallSettings } from "./calls.ts";
import { type ClientContext, readableValue } from "./context.ts";
import { definitionName, type Procedure } from "./definitions.ts";
import type { PendingProcedure, WorkflowDescription } from "./descriptions.ts";
import { ActivityNotFoundError, ProcedureNotFoundError } from "./errors.ts";
import { readEvents } from "./history.ts";

/** A pending procedure with its arguments. */
export interface OpenProcedure extends PendingProcedure {
  /** Decoded arguments. */
  readonly args: readonly unknown[];
}

/** A procedure by definition or name (the oldest pending one), or by id. */
// deno-lint-ignore no-explicit-any
export type WhichProcedure<R = any> = Procedure<any, R> | string | { readonly id: string };

/** A procedure of a workflow; without a run id, of the current run. */
export type ProcedureAddress<R> =
  & { workflow: string; runId?: string }
  // deno-lint-ignore no-explicit-any
  & ({ name: Procedure<any, R> | string; id?: never } | { id: string; name?: never });

/** Result or failure of a procedure. */
type Answer = { readonly value: unknown } | { readonly error: unknown };

export function whichOf({ name, id }: ProcedureAddress<unknown>): WhichProcedure {
  if ((name === undefined) === (id === undefined)) {
    throw new TypeError(
      'pass either `name` or `id` of the procedure: completeProcedure({ workflow: "fight-1", name: "compute_damage" }, 12)',
    );
  }
  return name ?? { id: id! };
}

/**
 * Completes the procedure and returns its id. Throws a ProcedureNotFoundError if it is not pending.
 */
export async function answerProcedure(
  context: ClientContext,
  run: WorkflowDescription,
  which: WhichProcedure,
  answer: Answer,
  settings: CallSettings,
): Promise<string> {
  const { workflowId, runId } = run;
  const wanted = typeof which === "object" && "id" in which
    ? { id: which.id }
    : { name: definitionName(which) };
  const open = run.pendingProcedures.filter(({ id, name }) =>
    "id" in wanted ? id === wanted.id : name === wanted.name
  );
  const [first] = open;
  if (first === undefined) throw new ProcedureNotFoundError(wanted, run);
  const address = { workflowId, runId, activityId: first.id };
  try {
    if ("value" in answer) await completeActivity(context, address, answer.value, settings);
    else await failUnstarted(context, address, answer.error, settings);
  } catch (error) {
    // Completed, timed out or canceled meanwhile. The next one of the same name is not used: this
    // call would complete a second procedure.
    if (error instanceof ActivityNotFoundError) {
      const pendingProcedures = run.pendingProcedures.filter((one) => one !== first);
      throw new ProcedureNotFoundError(wanted, { ...run, pendingProcedures }, { cause: error });
    }
    throw error;
  }
  return first.id;
}

/** Returns the run's pending procedures with their arguments from history, oldest first. */
export async function openProcedures(
  context: ClientContext,
  run: WorkflowDescription,
  settings: CallSettings,
): Promise<OpenProcedure[]> {
  const open = new Map(run.pendingProcedures.map((one) => [one.id, one]));
  const found = new Map<string, OpenProcedure>();
  if (open.size > 0) {
    for await (
      const { attributes } of readEvents(context, run.workflowId, run.runId, {
        ...settings,
        decode: true,
      })
    ) {
      if (attributes.case !== "activityTaskScheduledEventAttributes") continue;
      const { activityId, activityType, input } = attributes.value;
      const one = open.get(activityId);
      if (one === undefined || procedureOf(activityType?.name ?? "") !== one.name) continue;
      const args = (input?.payloads ?? []).map((payload) =>
        readableValue(payload, context.converter)
      );
      found.set(activityId, { ...one, args });
    }
  }
  return run.pendingProcedures.flatMap(({ id }) => found.get(id) ?? []);
}
