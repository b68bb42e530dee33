// The work of a spare worker until its code comes: it replays the page's samples, so that the
// JavaScript engine has compiled core and executor. The first replay of a new worker takes several
// times longer than later ones, and each edit is replayed in a new worker. Only definitions and
// histories of the page are used, and runs are disposed.
import histories from "virtual:rehearsal";
import { silentLog } from "../../../../ts/executor/program/program.ts";
import { TaskRunner } from "../../../../ts/executor/tasks/task_runner.ts";
import { programsOf } from "../../../../ts/realm/programs.ts";
import type { WorkerCore } from "../../../../ts/core/worker_half.ts";
import * as workflows from "../../workflows.ts";

/** Replays of each sample. JavaScript engines compile functions after some hundred calls. */
const TIMES = 60;
/** Milliseconds of replays between two checks for messages. */
const PIECE_MS = 8;

// The guard removes these before the rehearsal begins.
const now = performance.now.bind(performance);
const { port1, port2 } = new MessageChannel();
const all = histories.map((text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0)));

/** Replays until all samples are done or the worker is needed. */
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
