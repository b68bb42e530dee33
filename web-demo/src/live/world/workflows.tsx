// What runs for one patrol: the workflows of its entity, each to be opened in the debugger.
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Debug } from "../part.ts";
import type { OpenWorld } from "./open.ts";

interface Run {
  readonly workflowId: string;
  readonly runId: string;
  readonly type: string;
  readonly status: string;
}

export function Workflows(
  { world, npc, debug, fail }: { world: OpenWorld; npc: number; debug: Debug; fail: (wrong: string) => void },
): JSX.Element {
  const [runs, setRuns] = useState<readonly Run[]>([]);
  useEffect(() => {
    let isOver = false;
    const read = async () => {
      const found: Run[] = [];
      for await (const { workflowId, runId, type, status } of world.client.workflows({ entityId: String(npc) }).list()) {
        found.push({ workflowId, runId, type, status });
        if (found.length === 10) break;
      }
      if (!isOver) setRuns(found);
    };
    read().catch((e: Error) => fail(`${e.name}: ${e.message}`));
    return () => {
      isOver = true;
    };
  }, [world, npc]);
  const open = async ({ workflowId, runId }: Run) =>
    await debug(`${workflowId}, run ${runId}`, await world.client.getHandle(undefined, workflowId, runId).historyBytes());
  return (
    <section class="panel" aria-labelledby="entity-title">
      <h2 id="entity-title">Entity {npc}</h2>
      <ul class="goods">
        {runs.map((run) => (
          <li key={run.runId}>
            <span class="what">
              {run.type} <span class="fine">{run.workflowId}, {run.status.toLowerCase()}</span>
            </span>
            <button
              type="button"
              onClick={() => void open(run).catch((e: Error) => fail(`${e.name}: ${e.message}`))}
              aria-label={`Open ${run.workflowId} in the debugger`}
            >
              Debug
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
