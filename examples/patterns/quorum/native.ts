// A quorum: waits until enough different voters have agreed, at most until the deadline.
import { noreply, on, receive, signal, stop, workflow } from "temporalex/workflow";

export const agree = signal<[voter: string]>("agree");

export const quorum = workflow("quorum", async (needed: number, deadlineMs: number) => {
  const { state: voters } = await receive<string[]>([], [
    on(agree, ([voter], before) => {
      const all = [...new Set([...before, voter])];
      return all.length < needed ? noreply(all) : stop(all);
    }),
  ], { timeout: deadlineMs });
  return voters.length < needed ? "no quorum" : `agreed: ${voters.join(", ")}`;
});
