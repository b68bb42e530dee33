// A commit that fails at every position in a series of transactions: each transaction is there as a
// whole or not at all, a rejected one can be repeated, and the messages are in the order of the rows.
import assert from "node:assert/strict";
import { test } from "node:test";
import { open, ServiceError, silentLogger, StoreError } from "../../../ts/mod.ts";
import { openInMemory } from "../../../ts/engine/sqlite/in_memory.ts";
import * as reducers from "./transactions/reducers.ts";
import { hears, listener, said } from "./transactions/workflows.ts";

const { migrations } = reducers;
/** Transactions of one run; two at a time share a commit. */
const TRANSACTIONS = 6;

/** A store whose commit number `failing` throws. `commits`: how many there were. */
async function failingStore(failing: number) {
  const inner = await openInMemory();
  const seen = { commits: 0, failed: false };
  const store = new Proxy(inner, {
    get(target, name) {
      const value = Reflect.get(target, name, target);
      if (name !== "commit") return typeof value === "function" ? value.bind(target) : value;
      return (...args: unknown[]) => {
        if (++seen.commits === failing) {
          seen.failed = true;
          throw new StoreError("the disk is full");
        }
        return Reflect.apply(value, target, args);
      };
    },
  });
  return { inner, store, seen };
}

/** Repeats a call that a failed commit has rejected. */
async function repeated<T>(call: () => Promise<T>): Promise<T> {
  for (let attempt = 0;; attempt++) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof ServiceError) || attempt === 3) throw error;
      assert.match(error.message, /the disk is full/);
    }
  }
}

test("a commit that fails at any position leaves transactions whole and in order", async () => {
  let reached = true;
  let positions = 0;
  for (let failing = 1; reached; failing++) {
    const { inner, store, seen } = await failingStore(failing);
    const app = await open({
      workflows: { listener, hears },
      reducers,
      migrations,
      logger: silentLogger,
      engine: { store },
    });
    try {
      const start = (workflow: typeof listener | typeof hears, ...args: string[]) =>
        repeated(() =>
          app.client.start<string>(workflow as never, {
            id: workflow.name,
            args,
            idConflictPolicy: "USE_EXISTING",
            searchAttributes: {
              WorkflowSubscription: workflow === hears ? ["said:", "said:north"] : [],
            },
          })
        );
      await start(listener);
      await start(hears, "north");
      const order: string[] = [];
      const write = (line: string) =>
        repeated(() =>
          app.transaction((db, workflows) => {
            db.run("INSERT INTO line (line) VALUES (?)", line);
            workflows.signal(listener.name, said, line);
            workflows.start(listener, { id: `started-${line}`, startDelay: "1 day" });
            workflows.broadcast(said, "north", line);
          })
        );
      for (let i = 0; i < TRANSACTIONS; i += 2) {
        await Promise.all([String(i), String(i + 1)].map(write));
      }
      order.push(
        ...app.engine.tables.all<{ line: string }>("SELECT line FROM line ORDER BY id")
          .map(({ line }) => line),
      );
      const expected = Array.from({ length: TRANSACTIONS }, (_, i) => String(i));
      assert.deepEqual(order.toSorted(), expected, `commit ${failing} failed`);
      for (const { name } of [listener, hears]) {
        await repeated(() => app.client.getHandle(undefined, name).signal(said as never, "end"));
        const result = await app.client.getHandle(undefined, name).result();
        assert.deepEqual(result, order, `${name}, commit ${failing} failed`);
      }
      assert.equal(await app.client.count(), TRANSACTIONS + 2);
      assert.deepEqual(app.engine.store.check(), []);
      reached = seen.failed;
      if (reached) positions++;
    } finally {
      await app.close();
      inner.close();
    }
  }
  assert.ok(positions >= 8, `${positions} positions`);
});
