// The workflows of one patrol, with buttons that open them in the debugger and fire manual timers.
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { TIMERS as BY_HAND } from "../../../../ts/converter/belonging_names.ts";
import type { Debug } from "../part.ts";
import type { OpenWorld } from "./open.ts";

interface Run {
  readonly workflowId: string;
  readonly runId: string;
  readonly type: string;
  readonly status: string;
  /** Open timers that are fired manually. */
  readonly timers: readonly { readonly timer_id: string; readonly name: string | null }[];
}

const AGAIN_MS = 1000;
const TIMERS = "SELECT timer_id, name FROM workflow_timer WHERE run_id = ? ORDER BY fires_ms";

export function Workflows(
  { world, npc, debug, fail }: {
    world: OpenWorld;
    npc: number;
    debug: Debug;
    fail: (wrong: string) => void;
  },
): JSX.Element {
  const [runs, setRuns] = useState<readonly Run[]>([]);
  const tell = (e: Error) => fail(`${e.name}: ${e.message}`);
  const read = async () => {
    const found: Run[] = [];
    for await (
      const { workflowId, runId, type, status, searchAttributes } of world.client.workflows({
        entityId: String(npc),
      }).list()
    ) {
      const isByHand = status === "RUNNING" && String(searchAttributes[BY_HAND]) === "manual";
      const timers = isByHand
        ? await world.app.tables.all<Run["timers"][number]>(TIMERS, runId)
        : [];
      found.push({ workflowId, runId, type, status, timers });
      if (found.length === 10) break;
    }
    return found;
  };
  useEffect(() => {
    let isOver = false;
    let timer: ReturnType<typeof setTimeout>;
    const again = async () => {
      if (!document.hidden) await read().then((found) => isOver || setRuns(found), tell);
      if (!isOver) timer = setTimeout(() => void again(), AGAIN_MS);
    };
    void again();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [world, npc]);
  const fire = async ({ workflowId, runId }: Run, timer: string) => {
    await world.app.fireTimer(workflowId, timer, runId);
    setRuns(await read());
  };
  const open = async ({ workflowId, runId }: Run) =>
    await debug(
      `${workflowId}, run ${runId}`,
      await world.client.getHandle(undefined, workflowId, runId).historyBytes(),
    );
  return (
    <section class="panel" aria-labelledby="entity-title">
      <h2 id="entity-title">Entity {npc}</h2>
      <ul class="goods">
        {runs.map((run) => (
          <li key={run.runId}>
            <span class="what">
              {run.type} <span class="fine">{run.workflowId}, {run.status.toLowerCase()}</span>
            </span>
            {run.timers.map(({ timer_id: id, name }) => (
              <button
                key={id}
                type="button"
                class="fire"
                onClick={() => void fire(run, id).catch(tell)}
                aria-label={`Fire timer ${name ?? id} of ${run.workflowId}`}
              >
                Fire {name ?? id}
              </button>
            ))}
            <button
              type="button"
              onClick={() => void open(run).catch(tell)}
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
