// A quorum: waits until enough different voters have agreed, at most until the deadline.
import { condition, defineSignal, setHandler } from "@temporalio/workflow";

export const agree = defineSignal<[voter: string]>("agree");

export async function quorum(needed: number, deadlineMs: number): Promise<string> {
  const voters = new Set<string>();
  setHandler(agree, (voter) => {
    if (voters.size < needed) voters.add(voter);
  });
  const reached = await condition(() => voters.size >= needed, deadlineMs);
  return reached ? `agreed: ${[...voters].join(", ")}` : "no quorum";
}
