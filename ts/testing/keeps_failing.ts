// Which waits end when a workflow task or an activity keeps failing: those for its workflow, and
// those for parents that can only wait for it.
import type { WorkflowHandle } from "../client/mod.ts";

/**
 * The awaited workflow cannot progress: a workflow task or an activity fails repeatedly. Retries
 * would move virtual time forever.
 */
export class KeepsFailingError extends Error {
  override name = "KeepsFailingError";
}

/**
 * Yields `workflowId` and then its parents as far as each can only wait for a failing child. A
 * parent that has an open timer, an activity or another child may progress without this one.
 */
export async function* blockedBy(
  workflowId: string,
  handleOf: (workflowId: string) => WorkflowHandle,
  keepsFailing: ReadonlySet<string>,
): AsyncGenerator<string> {
  const blocked = new Set(keepsFailing);
  for (let next: string | undefined = workflowId; next !== undefined;) {
    blocked.add(next);
    yield next;
    const { parent } = await handleOf(next).describe();
    if (parent === undefined || blocked.has(parent.workflowId)) return;
    next = await canOnlyWait(handleOf(parent.workflowId), blocked) ? parent.workflowId : undefined;
  }
}

async function canOnlyWait(handle: WorkflowHandle, blocked: ReadonlySet<string>): Promise<boolean> {
  const { status, pendingActivities, pendingProcedures, pendingChildren } = await handle.describe();
  if (status !== "RUNNING" || pendingActivities.length > 0 || pendingProcedures.length > 0) {
    return false;
  }
  if (pendingChildren.some((child) => !blocked.has(child.workflowId))) return false;
  const timers = new Set<string>();
  for await (const { attributes } of handle.history()) {
    if (attributes.case === "timerStartedEventAttributes") timers.add(attributes.value.timerId);
    else if (
      attributes.case === "timerFiredEventAttributes" ||
      attributes.case === "timerCanceledEventAttributes"
    ) {
      timers.delete(attributes.value.timerId);
    }
  }
  return timers.size === 0;
}
