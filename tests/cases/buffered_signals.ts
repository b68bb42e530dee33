// Signals that came before anything waited for them
// (docs/dev/semantics/messages.md).
import {
  on,
  parallel,
  select,
  signal,
  sleep,
  waitForSignal,
  workflow,
} from "../../ts/workflow/mod.ts";
import { deepEqual, equal } from "./assert.ts";
import type { Case } from "./case.ts";
import { drive } from "./driver.ts";

const go = signal<[number]>("go");

export const cases: Case[] = [
  {
    name: "the trace of a replay shows from which task to which task signals were buffered",
    async run() {
      const w = workflow("W", async () => {
        await sleep(1);
        const n = await waitForSignal(go);
        await sleep(1);
        return n;
      });
      const d = await drive(w);
      await d.task();
      d.server.signal("go", 7);
      await d.task();
      d.server.fireTimer("1");
      await d.task();
      d.server.fireTimer("2");
      await d.task();
      equal(await d.finish(), 7);
      const { trace, events, activations } = await d.replay({ record: true, trace: true });
      equal(events, d.server.events.length);
      equal(activations, 4);
      deepEqual(trace!.buffered, [{ from: 1, value: { go: 1 } }, { from: 2, value: {} }]);
    },
  },
  {
    name: "buffered signals go to the longest waiter, not to a later select",
    async run() {
      const w = workflow("W", async () => {
        const results = await parallel([
          async () => [await waitForSignal(go), await select([on(go, ([n]) => n)])],
          () => waitForSignal(go),
          () => waitForSignal(go),
        ]);
        return results.map((r) => r.ok && r.value);
      });
      const d = await drive(w);
      await d.task();
      for (const n of [1, 2, 3, 4]) d.server.signal("go", n);
      await d.task();
      deepEqual(await d.finish(), [[1, 4], 2, 3]);
    },
  },
  {
    name:
      "signals that arrived before the first turn go to the waiters of that turn in the order of their calls",
    async run() {
      const w = workflow("W", async () => {
        const first = waitForSignal(go);
        const second = waitForSignal(go);
        const third = select([on(go, ([n]) => n)]);
        return [await first, await second, await third];
      });
      const d = await drive(w);
      for (const n of [1, 2, 3]) d.server.signal("go", n);
      await d.task();
      deepEqual(await d.finish(), [1, 2, 3]);
    },
  },
];
