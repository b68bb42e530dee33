// Records the histories that the replay bench replays: each program runs once on an embedded engine
// in memory, with a worker in this thread, and its history is exported. `scale` makes them shorter.
import { Client, silentLogger } from "../../ts/client/mod.ts";
import { EmbeddedEngine, MemoryStore } from "../../ts/engine/mod.ts";
import { Worker } from "../../ts/worker/mod.ts";
import * as programs from "./programs.ts";
import type { History } from "./replaying.ts";

export const HISTORIES = ["sequential", "at_once", "signals", "timers_updates"] as const;
export type HistoryName = typeof HISTORIES[number];

export async function recordHistories(names: readonly string[], scale = 1): Promise<History[]> {
  const engine = await EmbeddedEngine.open({ store: new MemoryStore() });
  try {
    const common = { service: engine, taskQueue: "bench", logger: silentLogger };
    const client = new Client(common);
    const workflows = [
      programs.sequential,
      programs.atOnce,
      programs.entity,
      programs.timersAndUpdates,
    ];
    // Few slots and a moment's work, so that results come in groups, as they do from workers
    // elsewhere.
    const activities = {
      echo: async (value: number) => {
        await new Promise((resolve) => setTimeout(resolve, 1));
        return value;
      },
    };
    const worker = await Worker.create({
      ...common,
      workflows,
      activities,
      maxConcurrentActivities: 15,
    });
    return await worker.runUntil(async () => {
      const histories: History[] = [];
      for (const name of names) {
        histories.push({
          name,
          bytes: await record(client, name, Math.max(2, Math.round(1000 * scale))),
        });
      }
      return histories;
    });
  } finally {
    await engine.close();
  }
}

async function record(client: Client, name: string, n: number): Promise<Uint8Array> {
  switch (name) {
    case "sequential": {
      const handle = await client.start(programs.sequential, { id: name, args: [n] });
      await handle.result();
      return handle.historyBytes();
    }
    case "at_once": {
      const handle = await client.start(programs.atOnce, { id: name, args: [n] });
      await handle.result();
      return handle.historyBytes();
    }
    case "signals": {
      const handle = await client.start(programs.entity, { id: name, args: [2 * n] });
      // A few at a time, each few in a separate task (the query waits for it), as from a server
      // with several clients.
      for (let i = 0; i < 2 * n; i += 5) {
        await Promise.all(
          Array.from(
            { length: Math.min(5, 2 * n - i) },
            (_, k) => handle.signal(programs.add, i + k),
          ),
        );
        await handle.query(programs.total);
      }
      await handle.result();
      return handle.historyBytes();
    }
    case "timers_updates": {
      const updates = Math.round(n / 5);
      const handle = await client.start(programs.timersAndUpdates, {
        id: name,
        args: [n, updates],
      });
      for (let i = 0; i < updates; i++) await handle.update(programs.bump, i);
      await handle.result();
      return handle.historyBytes();
    }
    default:
      throw new Error(`no history named ${name}; there are: ${HISTORIES.join(", ")}`);
  }
}
