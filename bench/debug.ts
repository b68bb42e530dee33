// What moving in a debug session costs: histories of about 10,000 events, opened in a worker realm,
// then stepped and jumped through. Aims: a step under 16 ms (a frame), a jump under 150 ms. Run it
// with `npm run bench -- debug`.
import { openSession } from "../ts/debug/mod.ts";
import { createWorkerRealm } from "../ts/realm/mod.ts";
import { HISTORIES, recordHistories } from "./lib/recording.ts";

const ms = (value: number) => `${value.toFixed(2)} ms`;

const realm = await createWorkerRealm({ workflows: new URL("./lib/programs.ts", import.meta.url) });
try {
  for (const { name, bytes } of await recordHistories(HISTORIES, 1.7)) {
    const opened = performance.now();
    const session = await openSession(bytes, { realm });
    const openMs = performance.now() - opened;
    if (session.problem !== undefined) throw new Error(session.problem.message);
    const steps: number[] = [];
    const timed = (move: () => void, into: number[]) => {
      const from = performance.now();
      move();
      into.push(performance.now() - from);
    };
    while (session.position < session.length) timed(() => session.forward(), steps);
    while (session.position > 1) timed(() => session.back(), steps);
    const jumps: number[] = [];
    for (let i = 0; i < 500; i++) timed(() => session.goTo(1 + (i * 7919) % session.length), jumps);
    const sorted = (list: number[]) => list.toSorted((a, b) => a - b);
    const p = (list: number[], part: number) =>
      ms(sorted(list)[Math.min(list.length - 1, Math.floor(list.length * part))]!);
    console.log(
      `${name}: ${session.length} events, opened in ${ms(openMs)}; step p50 ${p(steps, 0.5)}, p99 ${
        p(steps, 0.99)
      }, ` +
        `max ${p(steps, 1)}; jump p99 ${p(jumps, 0.99)}`,
    );
  }
} finally {
  await realm.dispose();
}
