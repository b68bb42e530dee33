// The description of the watched run: pending activities with attempts and heartbeats. Requested
// again at intervals while the panel is open and the run is open.
import { type Signal, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { WorkflowDescription } from "temporalex/client";
import { client, isServerGone } from "./state.ts";
import type { Watched } from "./watched_run.ts";

const AGAIN_MS = 2000;
const ASK_MS = 5000;

export const described: Signal<WorkflowDescription | undefined> = signal<
  WorkflowDescription | undefined
>(undefined);

/** Requests the description at once. */
export async function describeRun({ workflowId, runId }: Watched): Promise<void> {
  const handle = client!.getHandle(undefined as string | undefined, workflowId, runId);
  const description = await handle.with({ timeout: ASK_MS }).describe();
  if (description.runId === runId) described.value = description;
}

/** `isOpen`: a closed run is described once. */
export function useDescription(run: Watched, isOpen: boolean): void {
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isOver = false;
    if (described.peek()?.runId !== run.runId) described.value = undefined;
    const again = async () => {
      // The list reports a server that is gone.
      if (document.visibilityState === "visible" && !isServerGone.peek()) {
        await describeRun(run).catch(() => {});
      }
      if (!isOver && isOpen) timer = setTimeout(() => void again(), AGAIN_MS);
    };
    void again();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [run.workflowId, run.runId, isOpen]);
}
