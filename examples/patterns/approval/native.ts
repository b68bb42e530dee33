// An approval: waits for a decision of an approver, at most until the deadline.
import { ApplicationFailure, on, receive, stop, update, workflow } from "temporalex/workflow";

export interface Decision {
  readonly by: string;
  readonly approved: boolean;
}

export const decide = update<[decision: Decision], string>("decide");

export const approval = workflow("approval", {
  messages: { decide },
  async run(approvers: string[], deadlineMs: number) {
    const { state: outcome } = await receive("expired", [
      on(
        decide,
        ([{ by, approved }]) =>
          stop(`${approved ? "approved" : "rejected"} by ${by}`, `thank you, ${by}`),
        {
          validate: ([{ by }]) => {
            if (approvers.includes(by)) return;
            throw new ApplicationFailure(`${by} is not an approver`, { type: "NotAllowed" });
          },
        },
      ),
    ], { timeout: deadlineMs });
    return outcome;
  },
});
