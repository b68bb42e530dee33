// Other runs of a chain, for the page's timeline: only runs that a served history refers to.
import { openRun } from "../../../debug/run/model.ts";
import type { HistoryFile } from "../../../history_files/history_file.ts";
import { type DataRoute, refusePageRequest, sendBytes } from "../../page/page_server.ts";
import type { ServedHistory } from "./served_histories.ts";

/** Returns the current history of a run. Rejects with the service's error. */
export type LinkedRuns = (workflowId: string, runId: string) => Promise<HistoryFile>;

/** Maximum number of runs that one page may fetch. */
const MOST_RUNS = 2000;

/** `GET data/linked?workflowId=...&runId=...`: returns the history's bytes. */
export function linkedRoute(served: readonly ServedHistory[], fetch: LinkedRuns): DataRoute {
  const named = new Set<string>();
  const fetched: HistoryFile[] = [];
  /** Histories whose links are in `named`. */
  const read = new WeakSet<HistoryFile>();
  const keyOf = (workflowId: string, runId: string) => JSON.stringify([workflowId, runId]);
  const isNamed = async (key: string) => {
    for (const file of [...served.map(({ file }) => file), ...fetched]) {
      if (read.has(file)) continue;
      read.add(file);
      for (const { workflowId, runId } of (await openRun(file)).facts.links) {
        named.add(keyOf(workflowId, runId));
      }
    }
    return named.has(key);
  };
  return {
    method: "GET",
    async handle(_, request, response) {
      const asked = new URL(request.url!, "http://localhost").searchParams;
      const [workflowId, runId] = [asked.get("workflowId") ?? "", asked.get("runId") ?? ""];
      if (!await isNamed(keyOf(workflowId, runId))) {
        return refusePageRequest(request, response, 404, "no history names this run");
      }
      if (fetched.length >= MOST_RUNS) {
        return refusePageRequest(request, response, 429, `${MOST_RUNS} runs were fetched already`);
      }
      try {
        const file = await fetch(workflowId, runId);
        fetched.push(file);
        sendBytes(response, file.bytes);
      } catch (error) {
        refusePageRequest(request, response, 404, (error as Error).message);
      }
    },
  };
}
