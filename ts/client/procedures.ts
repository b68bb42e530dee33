// Procedures: requested by workflows, completed by clients. They are pending activities of the run
// and are completed by id.
import type { OptionNames } from "../base/option_names.ts";
import { procedureOf } from "../converter/procedure_names.ts";
import { completeActivity, failUnstarted } from "./activity_completion.ts";
import type { CallSettings } from "./calls.ts";
import { type ClientContext, readableValue } from "./context.ts";
import { definitionName, type Procedure } from "./definitions.ts";
import type { PendingProcedure, WorkflowDescription } from "./descriptions.ts";
import { ActivityNotFoundError, ProcedureNotFoundError } from "./errors.ts";
import { readEvents } from "./history.ts";
import { CompletedWithKey, identityWithKey } from "./procedure_keys.ts";

/** A pending procedure with its arguments. */
export interface OpenProcedure extends PendingProcedure {
  /** Decoded arguments. */
  readonly args: readonly unknown[];
}

/**
 * A procedure by definition or name (the oldest pending one), or by id; with an idempotency key, see
 * {@link ProcedureAddress}.
 */
export type WhichProcedure<R = unknown> =
  // deno-lint-ignore no-explicit-any
  | Procedure<any, R>
  | string
  | { readonly id: string; readonly idempotencyKey?: string }
  // deno-lint-ignore no-explicit-any
  | { readonly name: Procedure<any, R> | string; readonly idempotencyKey: string };

/**
 * A procedure of a workflow; without a run id, of the current run. With an idempotency key, a repeated
 * call returns the id of the procedure that the first call completed, and does not complete the next
 * one of the same name.
 */
export type ProcedureAddress<R> =
  & { workflow: string; runId?: string; idempotencyKey?: string }
  // deno-lint-ignore no-explicit-any
  & ({ name: Procedure<any, R> | string; id?: never } | { id: string; name?: never });

export const PROCEDURE_ADDRESS: OptionNames<ProcedureAddress<unknown>> = {
  workflow: 1,
  runId: 1,
  name: 1,
  id: 1,
  idempotencyKey: 1,
};

/** Result or failure of a procedure. */
type Answer = { readonly value: unknown } | { readonly error: unknown };

export function whichOf<R>(
  { name, id, idempotencyKey }: ProcedureAddress<R>,
): WhichProcedure<R> {
  if ((name === undefined) === (id === undefined)) {
    throw new TypeError(
      'pass either `name` or `id` of the procedure: completeProcedure({ workflow: "fight-1", name: "compute_damage" }, 12)',
    );
  }
  if (idempotencyKey === undefined) return name ?? { id: id! };
  return name === undefined ? { id: id!, idempotencyKey } : { name, idempotencyKey };
}

function wantedOf(which: WhichProcedure): { id: string } | { name: string } {
  if (typeof which === "string" || "kind" in which) return { name: definitionName(which) };
  return "id" in which ? { id: which.id } : { name: definitionName(which.name) };
}

/** Returns the selected pending procedure. Throws a ProcedureNotFoundError. */
export function pickProcedure(run: WorkflowDescription, which: WhichProcedure): PendingProcedure {
  const wanted = wantedOf(which);
  const first = run.pendingProcedures.find(({ id, name }) =>
    "id" in wanted ? id === wanted.id : name === wanted.name
  );
  if (first === undefined) throw new ProcedureNotFoundError(wanted, run);
  return first;
}

/**
 * Returns the error of a procedure that was completed, timed out or was canceled after the run was
 * described. The next one of the same name is not used: the call would complete a second procedure.
 */
export function procedureGone(
  run: WorkflowDescription,
  which: WhichProcedure,
  first: PendingProcedure,
  cause: ActivityNotFoundError,
): ProcedureNotFoundError {
  const pendingProcedures = run.pendingProcedures.filter((one) => one !== first);
  return new ProcedureNotFoundError(wantedOf(which), { ...run, pendingProcedures }, { cause });
}

/**
 * Completes the procedure and returns its id. Throws a ProcedureNotFoundError if it is not pending.
 * With an idempotency key, returns the id of the procedure that was completed with it. `describe`:
 * of the workflow's current run, or of the only run that is meant.
 */
export async function answerProcedure(
  context: ClientContext,
  describe: () => Promise<WorkflowDescription>,
  which: WhichProcedure,
  answer: Answer,
  settings: CallSettings,
  isOnlyRun: boolean,
): Promise<string> {
  const key = typeof which === "object" && "idempotencyKey" in which
    ? which.idempotencyKey
    : undefined;
  if (key === undefined) {
    return await answerOnce(context, await describe(), which, answer, settings);
  }
  const keyed = { ...context, identity: identityWithKey(context.identity, key) };
  const completed = new CompletedWithKey(context, describe, key, settings, isOnlyRun);
  const { run, id } = await completed.find();
  if (id !== undefined) return id;
  try {
    return await answerOnce(keyed, run, which, answer, settings);
  } catch (error) {
    if (!(error instanceof ProcedureNotFoundError)) throw error;
    // Another call with this key may have completed it meanwhile.
    const again = await completed.find();
    if (again.id === undefined) throw error;
    return again.id;
  }
}

async function answerOnce(
  context: ClientContext,
  run: WorkflowDescription,
  which: WhichProcedure,
  answer: Answer,
  settings: CallSettings,
): Promise<string> {
  const { workflowId, runId } = run;
  const first = pickProcedure(run, which);
  const address = { workflowId, runId, activityId: first.id };
  try {
    if ("value" in answer) await completeActivity(context, address, answer.value, settings);
    else await failUnstarted(context, address, answer.error, settings);
  } catch (error) {
    throw error instanceof ActivityNotFoundError ? procedureGone(run, which, first, error) : error;
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
