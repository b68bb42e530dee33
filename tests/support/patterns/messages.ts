// Scenarios of patterns for messages: states, reminders, batches of signals, operators.
import assert from "node:assert/strict";
import * as garage from "../../../examples/patterns/cancellation_cleanup/activities.ts";
import * as target from "../../../examples/patterns/dead_letter/activities.ts";
import * as ledger from "../../../examples/patterns/deduplication/activities.ts";
import * as mail from "../../../examples/patterns/scheduled_reminder/activities.ts";
import { DAY, HOUR, MINUTE, type Pattern, rejection } from "./stage.ts";

const deadLetter: Pattern = {
  activities: target,
  async check({ client, calls, now, advance }) {
    const start = (id: string) => client.start("message", { id: `message-${id}`, args: [id] });
    assert.equal(await (await start("good")).result(), "delivered good");
    assert.deepEqual(calls.splice(0), ["deliver(good)"]);
    target.outage.active = true;
    const parked = await start("parked");
    const dropped = await start("dropped");
    const old = await start("old");
    await advance(MINUTE);
    target.outage.active = false;
    assert.equal(calls.filter((call) => call === "deliver(parked)").length, 3);
    assert.ok(calls.includes("park(parked, the target is down)"), calls.join(", "));
    await parked.signal("redrive");
    assert.equal(await parked.result(), "delivered parked");
    await dropped.signal("discard");
    assert.equal(await dropped.result(), "discarded");
    const began = now();
    assert.equal(await old.result(), "discarded");
    assert.ok(now() - began > 6 * DAY);
  },
};

const stateMachine: Pattern = {
  async check({ client }) {
    const order = await client.start("orderStates", { id: "order-states" });
    const move = (event: string) => order.executeUpdate("move", { args: [event] });
    assert.equal(await rejection(move("ship")), "NotPossible: ship is not possible when created");
    assert.equal(await move("pay"), "paid");
    assert.equal(await order.query("current"), "paid");
    const outcomes = await Promise.allSettled([move("ship"), move("refund")]);
    assert.deepEqual(outcomes.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
    const last = await order.result();
    assert.ok(last === "shipped" || last === "refunded", String(last));
    assert.equal(await order.query("current"), last);
  },
};

const scheduledReminder: Pattern = {
  activities: mail,
  async check({ client, calls, now, advance }) {
    const due = now() + 3 * DAY;
    const start = (id: string, user: string) =>
      client.start("remindUser", { id: `remind-${id}`, args: [user, due, [96, 24, 1]] });
    const all = await start("all", "ada");
    const done = await start("done", "bob");
    const lost = await start("lost", "");
    await advance(2 * DAY + HOUR);
    await done.signal("done");
    assert.deepEqual(await done.result(), { done: true, sent: 2 });
    assert.deepEqual(await all.result(), { done: false, sent: 3 });
    assert.equal(now(), due - HOUR);
    assert.deepEqual(await lost.result(), { done: false, sent: 0 }, "other reminders follow");
    assert.deepEqual(calls.filter((call) => call.includes("ada")), [
      ...["sendReminder(ada, 96 hours)", "sendReminder(ada, 24 hours)"],
      "sendReminder(ada, 1 hours)",
    ]);
    assert.equal(calls.filter((call) => call.startsWith("sendReminder(,")).length, 9);
  },
};

const deduplication: Pattern = {
  activities: ledger,
  async check({ client, calls, advance }) {
    const handle = await client.start("collect", { id: "collect", args: [2, HOUR] });
    for (const [id, amount] of [["a", 1], ["a", 1], ["b", 2], ["c", 3]] as const) {
      await handle.signal("add", id, amount);
    }
    await advance(MINUTE);
    assert.deepEqual(calls, ["store(1,2)"], "a full batch does not wait for the window");
    await handle.signal("add", "b", 2); // known from the run before
    await advance(2 * HOUR);
    assert.deepEqual(calls, ["store(1,2)", "store(3)"], "the window ends an incomplete batch");
    await handle.signal("add", "d", 4);
    await handle.signal("close");
    assert.equal(await handle.result(), 4);
    assert.deepEqual(calls, ["store(1,2)", "store(3)", "store(4)"]);
  },
};

const cancellationCleanup: Pattern = {
  activities: garage,
  async check({ client, calls, advance }) {
    const start = (car: string) =>
      client.start("rental", { id: `rental-${car}`, args: [car, DAY] });
    assert.equal(await (await start("bus")).result(), "returned");
    assert.deepEqual(calls.splice(0), ["handOver(bus)", "sendInvoice(bus)"]);
    const canceled = await start("van");
    await advance(HOUR);
    await canceled.cancel();
    assert.match(await rejection(canceled.result()), /cancel/i);
    assert.equal((await canceled.describe()).status, "CANCELED");
    assert.deepEqual(calls, ["handOver(van)", "fetchBack(van)", "sendInvoice(van)"]);
  },
};

export const messages: { readonly [name: string]: Pattern } = {
  dead_letter: deadLetter,
  state_machine: stateMachine,
  scheduled_reminder: scheduledReminder,
  deduplication,
  cancellation_cleanup: cancellationCleanup,
};
