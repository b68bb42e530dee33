// Scenarios of patterns for many items and repeated calls: fan-out, limits, a child per item, entities.
import assert from "node:assert/strict";
import * as texts from "../../../examples/patterns/fan_out/activities.ts";
import * as ledger from "../../../examples/patterns/idempotent_start/activities.ts";
import * as partner from "../../../examples/patterns/rate_limit/activities.ts";
import { until } from "../until.ts";
import { HOUR, MINUTE, type Pattern, rejection } from "./stage.ts";

const fanOut: Pattern = {
  activities: texts,
  async check({ client, calls }) {
    const documents = ["one two", "unreadable", "three", "four five six"];
    const result = await client.execute("countAll", { id: "count", args: [documents] });
    assert.deepEqual(result, { words: 6, failed: ["unreadable"] });
    assert.equal(calls.length, 4);
    assert.deepEqual(
      await client.execute("countAll", { id: "count-nothing", args: [[]] }),
      { words: 0, failed: [] },
    );
  },
};

const rateLimit: Pattern = {
  activities: partner,
  async check({ client, calls, now }) {
    const began = now();
    const recipients = ["a", "b", "moved", "c", "d", "e", "f"];
    const result = await client.execute("sendLetters", { id: "letters", args: [recipients, 3] });
    assert.deepEqual(result, { sent: 6, failed: ["moved"] });
    assert.equal(calls.length, 7);
    assert.equal(now() - began, 2 * MINUTE, "three letters per minute");
  },
};

const childPerItem: Pattern = {
  async check({ client }) {
    const order = await client.start("shipOrder", { id: "o-1", args: ["o-1", ["tea", "cup"]] });
    const tea = client.getHandle(undefined, "o-1-tea");
    const cup = client.getHandle(undefined, "o-1-cup");
    for (const child of [tea, cup]) {
      const isRunning = () =>
        child.describe().then(({ status }) => status === "RUNNING", () => false);
      await until("the child has started", isRunning);
    }
    await tea.signal("delivered", "Bern");
    assert.equal(await tea.result(), "tea is in Bern");
    await cup.cancel();
    assert.deepEqual(await order.result(), ["tea is in Bern", "cup is lost"]);
  },
};

const detachedChild: Pattern = {
  async check({ client }) {
    const close = (order: string, limitMs: number) =>
      client.execute("closeOrder", { id: `close-${order}`, args: [order, limitMs] });
    assert.equal(await close("o-1", HOUR), "survey-o-1");
    const rated = client.getHandle(undefined, "survey-o-1");
    assert.equal((await rated.describe()).status, "RUNNING", "the child outlives its parent");
    await rated.signal("rate", 5);
    assert.equal(await rated.result(), "5 stars");

    const ignored = client.getHandle(undefined, await close("o-2", 20) as string);
    assert.equal(await ignored.result(), "not rated");
  },
};

const idempotentStart: Pattern = {
  activities: ledger,
  async check({ client, calls, advance }) {
    const start = () =>
      client.start(
        "pay",
        {
          ...{ id: "payment-7", args: [{ number: 7, cents: 1200 }] },
          ...{ idConflictPolicy: "USE_EXISTING", idReusePolicy: "REJECT_DUPLICATE" },
        } as const,
      );
    const [first, second] = await Promise.all([start(), start()]);
    assert.equal(second!.runId, first!.runId, "the second start attaches");
    await advance(HOUR);
    assert.deepEqual(await Promise.all([first!.result(), second!.result()]), [
      ...["payment-7: 1200", "payment-7: 1200"],
    ]);
    assert.match(await rejection(start()), /^ServiceError: Workflow execution already finished/);
    assert.deepEqual(calls, ["bookPayment(payment-7, 1200)"]);
  },
};

const entity: Pattern = {
  async check({ client }) {
    const handle = await client.start("account", { id: "account-1", args: [100] });
    const current = client.getHandle(undefined, "account-1");
    const send = (name: "deposit" | "withdraw", amount: number) =>
      current.executeUpdate(name, { args: [amount] });
    assert.equal(await send("deposit", 20), 120);
    assert.match(await rejection(send("withdraw", 500)), /^Overdrawn: the balance is 120$/);
    const balances = [];
    for (let i = 0; i < 6; i++) balances.push(await send("withdraw", 10));
    assert.deepEqual(balances, [110, 100, 90, 80, 70, 60], "also over continue-as-new");
    assert.notEqual((await current.describe()).runId, handle.runId);
    await current.signal("closeAccount");
    assert.equal(await handle.result(), 60);
  },
};

export const workloads: { readonly [name: string]: Pattern } = {
  fan_out: fanOut,
  rate_limit: rateLimit,
  child_per_item: childPerItem,
  detached_child: detachedChild,
  idempotent_start: idempotentStart,
  entity,
};
