// What a spare worker does while it waits for code: it replays the page's own samples, so that the engine has compiled core and executor
// when the user's code comes. The first replay of a fresh worker takes several times what a later one takes, and in the live loop every
// replay is the first one of its worker. Nothing of it is left: definitions and histories are the page's own, and runs are disposed.
import histories from "virtual:rehearsal";
import { silentLog } from "../../../../ts/executor/program/program.ts";
import { TaskRunner } from "../../../../ts/executor/tasks/task_runner.ts";
import { programsOf } from "../../../../ts/realm/programs.ts";
import type { WorkerCore } from "../../../../ts/core/worker_half.ts";
import * as workflows from "../../workflows.ts";

/** So often each sample is replayed; engines compile what has run some hundred times. */
const TIMES = 60;
/** Samples in a row between two looks at what has come. Milliseconds. */
const PIECE_MS = 8;

// The guard closes these for good before the rehearsal begins.
const now = performance.now.bind(performance);
const { port1, port2 } = new MessageChannel();
const all = histories.map((text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0)));

/** Replays until it is done or awaited. */
export async function rehearseInFrame(core: WorkerCore, isAwaited: () => boolean): Promise<void> {
  const programs = programsOf([workflows], "the samples");
  const runner = new TaskRunner({
    core,
    programs: (name) => programs.get(name),
    runOptions: {},
    cacheSize: 0,
    fetchHistory: () => Promise.reject(new Error("a sample has one page")),
    log: silentLog,
  });
  const turn = () =>
    new Promise<void>((resolve) => {
      port1.onmessage = () => resolve();
      port2.postMessage(0);
    });
  let began = now();
  try {
    for (let i = 0; i < TIMES; i++) {
      for (const history of all) {
        await runner.replay("rehearsal", history, { callSites: "never" });
        if (now() - began < PIECE_MS) continue;
        await turn();
        if (isAwaited()) return;
        began = now();
      }
    }
  } finally {
    port1.close();
  }
}
