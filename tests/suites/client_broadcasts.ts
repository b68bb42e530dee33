// Subscriptions and broadcasts on any service (docs/dev/semantics/database.md#subscriptions).
import assert from "node:assert/strict";
import {
  broadcast,
  continueAsNew,
  noreply,
  on,
  payload,
  receive,
  signal,
  signals,
  stop,
  subscribe,
  unsubscribe,
  workflow,
} from "../../ts/workflow/mod.ts";

import { until } from "../support/until.ts";
import type { Setting, Suite } from "../support/services.ts";

const quest = signals({
  enemyKilled: payload<[enemy: string]>(),
  itemFound: payload<[item: number]>(),
});
const settle = signal("settle");
const leave = signal("leave");
const again = signal("again");

/** What was heard. `kinds`: enemies that it is subscribed to; none: to all. */
const hunter = workflow(
  "Hunter",
  async (kinds: readonly string[], heard: readonly string[] = []) => {
    if (heard.length === 0) {
      if (kinds.length === 0) subscribe(quest.enemyKilled);
      for (const kind of kinds) subscribe(quest.enemyKilled, kind);
    }
    let next = false;
    const all = await receive(heard, [
      on(quest.enemyKilled, ([enemy], list) => noreply([...list, enemy])),
      on(leave, (_, list) => {
        unsubscribe(quest.enemyKilled, kinds[0]);
        return noreply([...list, "left"]);
      }),
      on(again, (_, list) => {
        next = true;
        return stop([...list, "again"]);
      }),
      on(settle, (_, list) => stop(list)),
    ]);
    return next ? continueAsNew<[readonly string[], readonly string[]]>(kinds, all) : all;
  },
);

const herald = workflow(
  "Herald",
  async (kind: string | null) => await broadcast(quest.enemyKilled, kind ?? undefined, "by herald"),
);

const workflows = [hunter, herald];

/** A cluster lists what has happened some time later. */
async function hunters(t: Setting, wanted: { readonly [name: string]: readonly string[] }) {
  const handles = await Promise.all(
    Object.entries(wanted).map(([name, kinds]) =>
      t.client.start(hunter, { id: t.id(name), args: [kinds] })
    ),
  );
  await subscribers(t, handles.length);
  return handles;
}

const subscribers = (t: Setting, count: number) =>
  until(
    "they are subscribed",
    async () =>
      await t.client.count(
        `TaskQueue = "${t.taskQueue}" AND ExecutionStatus = "Running" AND WorkflowSubscription IS NOT NULL`,
      ) === count,
  );

export const broadcastsTests: Suite = {
  "a broadcast reaches those with its filter and those without one; without a filter everyone of the signal":
    (t) =>
      t.work({ workflows }, async () => {
        const handles = await hunters(t, {
          orcs: ["orc"],
          both: ["orc", "elf"],
          elves: ["elf"],
          all: [],
        });
        assert.equal(await t.client.broadcast(quest.enemyKilled, "orc", "orc 1"), 3);
        assert.equal(await t.client.broadcast(quest.enemyKilled, "elf", "elf 1"), 3);
        assert.equal(await t.client.broadcast(quest.enemyKilled, "or", "all of them"), 1);
        assert.equal(await t.client.broadcast(quest.enemyKilled, undefined, "boss"), 4);
        assert.equal(await t.client.broadcast(quest.itemFound, undefined, 1), 0);
        await Promise.all(handles.map((handle) => handle.signal(settle)));
        assert.deepEqual(await Promise.all(handles.map((handle) => handle.result())), [
          ["orc 1", "boss"],
          ["orc 1", "elf 1", "boss"],
          ["elf 1", "boss"],
          ["orc 1", "elf 1", "all of them", "boss"],
        ]);
      }),

  "unsubscribe, the end of a run and continue-as-new: the recipients afterwards": (t) =>
    t.work({ workflows }, async () => {
      const [first, second, third] = await hunters(t, {
        first: ["orc"],
        second: ["orc"],
        third: ["orc"],
      });
      await first!.signal(leave);
      await second!.signal(settle);
      await third!.signal(again);
      await second!.result();
      await until(
        "the third continues",
        async () =>
          (await t.client.getHandle(undefined, third!.workflowId).describe()).runId !==
            third!.runId,
      );
      await subscribers(t, 1);
      assert.equal(await t.client.broadcast(quest.enemyKilled, "orc", "orc"), 1);
      await Promise.all([first!.signal(settle), third!.signal(settle)]);
      assert.deepEqual(await first!.result(), ["left"]);
      assert.deepEqual(await third!.result(), ["again", "orc"]);
    }),

  "workflow code broadcasts, and gets the number of recipients": (t) =>
    t.work({ workflows }, async () => {
      const handles = await hunters(t, { one: ["orc"], two: ["elf"] });
      assert.equal(await t.client.execute(herald, { id: t.id("herald-1"), args: ["orc"] }), 1);
      assert.equal(await t.client.execute(herald, { id: t.id("herald-2"), args: [null] }), 2);
      await Promise.all(handles.map((handle) => handle.signal(settle)));
      assert.deepEqual(await Promise.all(handles.map((handle) => handle.result())), [[
        "by herald",
        "by herald",
      ], ["by herald"]]);
    }),
};
