// An approval: waits for a decision of an approver, at most until the deadline.
import {
  allHandlersFinished,
  ApplicationFailure,
  condition,
  defineUpdate,
  setHandler,
} from "@temporalio/workflow";

export interface Decision {
  readonly by: string;
  readonly approved: boolean;
}

export const decide = defineUpdate<string, [decision: Decision]>("decide");

export async function approval(approvers: string[], deadlineMs: number): Promise<string> {
  let decision: Decision | undefined;
  let open = true;
  const check = ({ by }: Decision) => {
    if (!open || decision !== undefined) {
      throw ApplicationFailure.nonRetryable("the request is closed", "Closed");
    }
    if (!approvers.includes(by)) {
      throw ApplicationFailure.nonRetryable(`${by} is not an approver`, "NotAllowed");
    }
  };
  setHandler(decide, (made) => {
    check(made); // another decision of the same task may have been accepted before
    decision = made;
    return `thank you, ${made.by}`;
  }, { validator: check });

  await condition(() => decision !== undefined, deadlineMs);
  open = false;
  await condition(allHandlersFinished);
  if (decision === undefined) return "expired";
  return `${decision.approved ? "approved" : "rejected"} by ${decision.by}`;
}
