// Fetches a linked run from the store or the cluster of the command that serves this page.
import type { RunLink } from "temporalex/debug";
import { readRun } from "../store/run_model.ts";
import { makeRun, openedRuns, type OpenRun } from "../store/state.ts";
import { dataAddress, served } from "./about.ts";
import { takeServed } from "./open_served.ts";

/** Whether the page can fetch runs that are not open. */
export const isFetched: boolean = served?.by === "ui" ||
  (served?.by === "debug" && served.linked === true);

/**
 * Fetches the current history of a run. An opened run is returned as it is. Rejects with the error
 * of the service.
 */
export async function fetchRun(
  { workflowId, runId }: Pick<RunLink, "workflowId" | "runId">,
): Promise<OpenRun> {
  const key = `run:${runId}/${workflowId}`;
  const bytes = served?.by === "ui"
    ? await fromService(workflowId, runId)
    : await fromCommand(workflowId, runId);
  const model = await readRun(bytes);
  const known = openedRuns.peek().find((run) => run.key === key || run.model.facts.runId === runId);
  return known ?? takeServed(makeRun(key, workflowId, bytes, model));
}

async function fromService(workflowId: string, runId: string): Promise<Uint8Array> {
  const { client } = await import("../runs/state.ts");
  return await client!.getHandle(undefined as string | undefined, workflowId, runId).historyBytes({
    decode: true,
  });
}

async function fromCommand(workflowId: string, runId: string): Promise<Uint8Array> {
  const address = dataAddress("linked");
  address.search = new URLSearchParams({ workflowId, runId }).toString();
  const response = await fetch(address);
  if (!response.ok) {
    throw new Error(
      (await response.text()).trim() || `the command responded with status ${response.status}`,
    );
  }
  return new Uint8Array(await response.arrayBuffer());
}
