// Broadcasts on the embedded engine: one transaction, exactly the subscriptions that were committed
// before, and nothing else is touched.
import assert from "node:assert/strict";
import { test } from "node:test";
import { BroadcastIncompleteError, Client, silentLogger } from "../../../ts/client/mod.ts";
import {
  EmbeddedEngine,
  type EngineLimits,
  MemoryStore,
  type Store,
  StoreError,
} from "../../../ts/engine/mod.ts";
import { Worker } from "../../../ts/worker/mod.ts";
import { openInMemory } from "../../../ts/engine/sqlite/in_memory.ts";
import { ProbeStore } from "./support/probe_store.ts";

const subscription = (...values: string[]) => ({ WorkflowSubscription: values });

/** Runs whose subscriptions came with their start: no worker is needed. */
async function withRuns(
  inner: Store,
  runs: { readonly [workflowId: string]: readonly string[] },
  body: (client: Client, store: ProbeStore, engine: EmbeddedEngine) => Promise<void>,
  limits: EngineLimits = {},
): Promise<void> {
  const store = new ProbeStore(inner);
  const engine = await EmbeddedEngine.open({ store, limits, onError: () => {} });
  try {
    const client = new Client({ service: engine, taskQueue: "q", logger: silentLogger });
    await Promise.all(
      Object.entries(runs).map(([id, values]) =>
        client.start("Quest", { id, searchAttributes: subscription(...values) })
      ),
    );
    await body(client, store, engine);
  } finally {
    await engine.close();
  }
}

const stores: { readonly [name: string]: () => Store } = {
  memory: () => new MemoryStore(),
  sqlite: () => openInMemory(),
};
const many = (n: number, value: string) =>
  Object.fromEntries(Array.from({ length: n }, (_, i) => [`${value}-${i}`, [value]]));

for (const [kind, open] of Object.entries(stores)) {
  test(`a broadcast is one transaction over all its receivers, and changes no other run (${kind})`, () =>
    // More than calls go into one batch otherwise.
    withRuns(
      open(),
      { ...many(400, "kill:orc"), ...many(300, "kill:elf") },
      async (client, store) => {
        store.sizes.length = 0;
        assert.equal(await client.broadcast("kill", "orc", { by: "ada" }), 400);
        assert.deepEqual(store.sizes, [400]);
        const signals = async (id: string) => {
          const { events } = await client.getHandle(undefined, id).fetchHistory();
          return events.filter(({ attributes: { case: name } }) =>
            name === "workflowExecutionSignaledEventAttributes"
          ).length;
        };
        assert.deepEqual([await signals("kill:orc-399"), await signals("kill:elf-0")], [1, 0]);
      },
    ));

  test(`a broadcast whose commit fails reaches no run, and can be sent again (${kind})`, () =>
    withRuns(open(), many(5, "kill:orc"), async (client, store) => {
      let failures = 0;
      store.onCommit = (_, writes) => {
        if (failures++ > 0) return;
        assert.equal(writes.length, 5);
        throw new StoreError("disk full");
      };
      // The client asks again, as for every call that was not recorded.
      assert.equal(await client.broadcast("kill", "orc"), 5);
      for (let i = 0; i < 5; i++) {
        const { historyLength } = await client.getHandle(undefined, `kill:orc-${i}`).describe();
        assert.equal(historyLength, 3, "started, task scheduled, signaled once");
      }
    }));

  test(`a broadcast sees earlier starts and closes of its batch, in order (${kind})`, () =>
    withRuns(open(), { old: ["kill"], ends: ["kill"], other: ["killed"] }, async (client) => {
      const [, , reached, , then] = await Promise.all([
        client.start("Quest", { id: "new", searchAttributes: subscription("kill:", "kill:orc") }),
        client.getHandle(undefined, "ends").terminate(),
        client.broadcast("kill", "orc"),
        client.start("Quest", { id: "late", searchAttributes: subscription("kill") }),
        client.broadcast("kill", undefined),
      ]);
      assert.deepEqual([reached, then], [2, 3], "old, new; and late");
    }));

  test(`subscriptions survive the engine, and are removed with their run (${kind})`, async () => {
    const store = open();
    await withRuns(store, { a: ["kill"], b: ["kill:", "kill:orc"] }, async (client) => {
      await client.getHandle(undefined, "a").terminate();
    });
    await withRuns(
      store,
      {},
      async (client) => assert.equal(await client.broadcast("kill", "orc"), 1),
    );
    assert.deepEqual(store.subscribers("WorkflowSubscription", ["kill"]), []);
    store.close();
  });
}

test("subscribers with a full inbox are reported, and the others receive the signal", () =>
  withRuns(new MemoryStore(), many(5, "kill:orc"), async (client) => {
    const full = client.getHandle(undefined, "kill:orc-3");
    for (let i = 0; i < 2; i++) await full.signal("other");
    await assert.rejects(client.broadcast("kill", "orc", 1), (error) => {
      assert.ok(error instanceof BroadcastIncompleteError, String(error));
      assert.equal(error.reached, 4);
      assert.deepEqual(error.missed.map(({ workflowId }) => workflowId), ["kill:orc-3"]);
      assert.match(error.missed[0]!.runId, /^[0-9a-f-]{36}$/);
      assert.match(
        error.message,
        /^the broadcast of signal "kill" reached 4 of 5 subscribers; not kill:orc-3 \(.*; resend the signal/,
      );
      return true;
    });
    const lengths = async () =>
      await Promise.all(
        Array.from({ length: 5 }, async (_, i) =>
          (await client.getHandle(undefined, `kill:orc-${i}`).describe()).historyLength),
      );
    assert.deepEqual(
      await lengths(),
      [3, 3, 3, 4, 3],
      "one run got two signals alone; every run got one of the broadcast",
    );
  }, { inbox: 2 }));

test("a broadcast from a workflow reaches committed subscriptions, not those of the same task", async () => {
  const { broadcast, payload, signals, subscribe, workflow } = await import(
    "../../../ts/workflow/mod.ts"
  );
  const { shout } = signals({ shout: payload<[word: string]>() });
  const lonely = workflow("Lonely", async () => {
    subscribe(shout, "me");
    return [await broadcast(shout, "me", "heard?"), await broadcast(shout, undefined, "heard?")];
  });
  const engine = await EmbeddedEngine.open({ store: new MemoryStore() });
  const worker = await Worker.create({
    service: engine,
    taskQueue: "q",
    workflows: [lonely],
    logger: silentLogger,
  });
  const client = new Client({ service: engine, taskQueue: "q", logger: silentLogger });
  assert.deepEqual(await worker.runUntil(() => client.execute(lonely, { id: "lonely" })), [0, 0]);
  await engine.close();
});

test("an invalid filter is rejected; a name with a colon is not read as a name with a filter", () =>
  withRuns(new MemoryStore(), { "a:b": ["a%3Ab"] }, async (client) => {
    await assert.rejects(
      client.broadcast("kill", ""),
      /a filter of subscriptions is a non-empty string/,
    );
    await assert.rejects(client.broadcast("kill", {} as never), /not object/);
    assert.equal(await client.broadcast("a", "b"), 0);
    assert.equal(await client.broadcast("a:b", undefined), 1);
  }));
