// What is asked while a run is caught up
// (docs/dev/semantics/activations.md#a-query-runs-after-the-catch-up), and what is asked
// twice (docs/dev/semantics/updates.md#an-update-is-carried-out-once).
import {
  ApplicationFailure,
  noreply,
  on,
  publishState,
  query,
  receive,
  reply,
  signal,
  stop,
  update,
  workflow,
} from "../../ts/workflow/mod.ts";
import { deepEqual, equal, match } from "./assert.ts";
import type { Case } from "./case.ts";
import { drive } from "./driver.ts";

const add = update<[number], number>("add");
const go = signal<[number]>("go");
const end = signal("end");
const sum = query<number>("sum");

/** Every sum that a query handler, and an update handler, was given. */
const asked: number[] = [];
const handled: number[] = [];

const adding = workflow("Adding", {
  messages: { sum },
  queries: {
    sum: (published: number) => {
      asked.push(published);
      return published;
    },
  },
  async run() {
    publishState(0);
    return await receive(0, [
      on(go, ([n], total) => {
        publishState(total + n);
        return noreply(total + n);
      }),
      on(add, ([n], total) => {
        handled.push(n);
        publishState(total + n);
        return reply(total + n, total + n);
      }, {
        validate: ([n]) => {
          if (n < 0) throw new ApplicationFailure("only forwards");
        },
      }),
      on(end, (_, total) => stop(total)),
    ]);
  },
});

export const cases: Case[] = [
  {
    name: "a query of a run that must be replayed first runs once, after the last event",
    async run() {
      // Nothing is cached and pages are short: every task and every query replays the whole
      // history, over many fetches.
      const d = await drive(adding, { cached: false, pageSize: 2 });
      for (const n of [1, 2, 3]) {
        d.server.signal("go", n);
        await d.task();
      }
      asked.length = 0;
      deepEqual(await d.query("sum"), { ok: true, value: 6, message: "" });
      deepEqual(asked, [6], "no state from the middle of the replay was shown");
      // The same for a query that comes with a task: it is put after what is new in it.
      d.server.signal("go", 4);
      asked.length = 0;
      await d.task({ queries: { q: { type: "sum", args: [] } } });
      deepEqual(asked, [10]);
      deepEqual(d.server.queryAnswers["q"], { ok: true, value: 10, message: "" });
      d.server.signal("end");
      await d.task();
      asked.length = 0;
      equal((await d.query("sum")).value, 10, "and of a closed run");
      deepEqual(asked, [10]);
      equal(await d.finish(), 10);
    },
  },
  {
    name:
      "an update that is sent twice runs once: in one task, in two, and after its run was reloaded",
    async run() {
      for (const cached of [true, false]) {
        handled.length = 0;
        const d = await drive(adding, { cached });
        await d.task();
        d.server.update("u1", "add", 5);
        d.server.update("u1", "add", 5);
        await d.task();
        equal(d.server.updates.get("u1")!.stage, "completed");
        equal(d.server.updates.get("u1")!.result, 5);
        // The server delivers it again, as it may after a reset: the run knows it, and no caller
        // gets a second result.
        const again = d.server.update("u1", "add", 5);
        d.server.update("u2", "add", 1);
        await d.task();
        equal(again.stage, "sent");
        equal(d.server.updates.get("u2")!.result, 6);
        deepEqual(new Set(handled), new Set([5, 1]));
        equal(handled.filter((n) => n === 1).length, 1, "handled once in the task that brought it");
        d.server.signal("end");
        await d.task();
        equal(await d.finish(), 6);
      }
    },
  },
  {
    name: "a rejected update leaves no trace, so its id can be used again",
    async run() {
      const d = await drive(adding);
      await d.task();
      const first = d.server.update("u1", "add", -1);
      await d.task();
      equal(first.stage, "rejected");
      match(first.failure!.message, /only forwards/);
      const second = d.server.update("u1", "add", 3);
      await d.task();
      equal(second.result, 3);
      d.server.signal("end");
      await d.task();
      equal(await d.finish(), 3);
    },
  },
];
