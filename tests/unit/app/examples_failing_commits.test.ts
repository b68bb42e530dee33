// A store that fails its n-th commit, for every n, over every example (P1, P2).
// (tests/unit/engine/failing_commits.test.ts has commits that are kept but reported as failed: a
// task that such a commit loses waits for its timeout.) Clients and workers retry by themselves;
// every example has the same result, its history replays, and contains each message once.
// takes: 3 s
import assert from "node:assert/strict";
import { test } from "node:test";
import { activities, definitions, names, scenarios } from "../../../examples/scenarios.ts";
import { createInlineRealm } from "../../../ts/realm/mod.ts";
import { MemoryStore, open, silentLogger } from "../../../ts/mod.ts";
import { ProbeStore } from "../engine/support/probe_store.ts";

const SENT: {
  [name: string]: { readonly id: string; readonly signals?: number; readonly updates?: number };
} = {
  onboarding: { id: "onboarding" },
  counter: { id: "counter", signals: 5 },
  shopping_cart: { id: "cart", signals: 1, updates: 4 },
  batch_process: { id: "batch" },
  inventory: { id: "inventory", signals: 1, updates: 2 },
  order_processing: { id: "order" },
  event_collector: { id: "collector" },
};

/** Runs one example with its n-th commit failing; returns the result and the number of commits. */
async function once(name: string, n: number): Promise<{ result: unknown; commits: number }> {
  const probe = new ProbeStore(new MemoryStore());
  probe.onCommit = (k) => {
    if (k === n) throw new Error("the disk said no");
  };
  const app = await open({
    workflows: definitions,
    activities,
    logger: silentLogger,
    engine: { store: probe, onError: () => {} },
    worker: { realm: "inline" },
    client: { retry: { initialIntervalMs: 1, maximumIntervalMs: 5 } },
  });
  try {
    const result = await scenarios[name]!(app, () => {});
    const commits = probe.commits;
    const { id, signals = 0, updates = 0 } = SENT[name]!;
    const handle = app.client.getHandle(undefined, id);
    const { events } = await handle.fetchHistory();
    assert.deepEqual(
      events.map((e) => Number(e.eventId)),
      events.map((_, i) => i + 1),
      "event ids",
    );
    const count = (kind: string) => events.filter((e) => e.attributes.case === kind).length;
    if (name !== "event_collector") {
      assert.equal(
        count("workflowExecutionSignaledEventAttributes"),
        signals,
        "signals in history",
      );
      assert.equal(
        count("workflowExecutionUpdateAcceptedEventAttributes"),
        updates,
        "accepted updates in history",
      );
      assert.equal(
        count("workflowExecutionUpdateCompletedEventAttributes"),
        updates,
        "completed updates in history",
      );
    }
    const realm = await createInlineRealm({ workflows: definitions });
    const { verdict, error } = await realm.replay(id, await handle.historyBytes());
    await realm.dispose();
    assert.equal(verdict, "ok", error?.message);
    return { result, commits };
  } finally {
    await app.close();
  }
}

/**
 * The order number and the time of day are new in every run; keys come in the order in which
 * updates were asked for again.
 */
const plain = (result: unknown) =>
  JSON.parse(JSON.stringify(result).replace(/"orderNumber":\d+,"startedAt":"[^"]*"/, ""));

for (const name of names) {
  test(`${name}: its n-th commit fails, for every n`, async () => {
    const { result, commits } = await once(name, 0);
    assert.ok(commits >= 4, `${commits} commits`);
    for (let n = 1; n <= commits; n++) {
      const failed = await once(name, n);
      assert.deepEqual(plain(failed.result), plain(result), `commit ${n} of ${commits}`);
    }
  });
}
