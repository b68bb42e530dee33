// Scenarios of patterns for operations: votes, alarms, plans, escalations, billing, outages.
import assert from "node:assert/strict";
import * as billing from "../../../examples/patterns/billing_cycle/activities.ts";
import * as parcels from "../../../examples/patterns/circuit_breaker/activities.ts";
import * as people from "../../../examples/patterns/escalation/activities.ts";
import * as steps from "../../../examples/patterns/interpreter/activities.ts";
import * as devices from "../../../examples/patterns/watchdog/activities.ts";
import { DAY, HOUR, MINUTE, type Pattern, rejection } from "./stage.ts";

const quorum: Pattern = {
  async check({ client }) {
    const vote = await client.start("quorum", { id: "quorum-yes", args: [2, HOUR] });
    for (const voter of ["ada", "ada", "alan"]) await vote.signal("agree", voter);
    assert.equal(await vote.result(), "agreed: ada, alan");

    const late = await client.start("quorum", { id: "quorum-no", args: [2, HOUR] });
    await late.signal("agree", "ada");
    assert.equal(await late.result(), "no quorum");
  },
};

const watchdog: Pattern = {
  activities: devices,
  async check({ client, calls, advance }) {
    const pump = await client.start("watchdog", { id: "watchdog-pump", args: ["pump", MINUTE] });
    for (let i = 0; i < 2; i++) {
      await advance(MINUTE / 2);
      await pump.signal("alive");
    }
    assert.equal(await pump.result(), "silent after 2 signals");
    assert.deepEqual(calls.splice(0), ["alarm(pump)"]);

    const fan = await client.start("watchdog", { id: "watchdog-fan", args: ["fan", HOUR] });
    await fan.signal("alive");
    await fan.signal("retire");
    assert.equal(await fan.result(), "retired after 1 signals");
    assert.deepEqual(calls, []);
  },
};

const interpreter: Pattern = {
  activities: steps,
  async check({ client, calls, now }) {
    const run = (id: string, plan: unknown) => client.execute("interpreter", { id, args: [plan] });
    const began = now();
    const both = { all: [{ sequence: [{ wait: HOUR }, { step: "b" }] }, { step: "c" }] };
    const plan = { sequence: [{ step: "a" }, both, { step: "d" }] };
    assert.deepEqual(await run("plan-good", plan), ["A", "B", "C", "D"]);
    assert.ok(now() - began >= HOUR);
    assert.deepEqual(calls.splice(0).map((call) => call.slice(8, -1)), ["a", "c", "b", "d"]);

    const bad = { sequence: [{ all: [{ step: "bad" }, { step: "e" }] }, { step: "f" }] };
    assert.equal(await rejection(run("plan-bad", bad)), "BadStep: bad step");
    assert.deepEqual(calls.map((call) => call.slice(8, -1)).sort(), ["bad", "e"]);
  },
};

const escalation: Pattern = {
  activities: people,
  async check({ client, calls, advance }) {
    const all = ["ada", "alan", "grace"];
    const fire = await client.start("incident", { id: "incident-fire", args: [all, HOUR] });
    await advance(HOUR + MINUTE);
    await fire.signal("take", "alan");
    assert.equal(await fire.result(), "taken by alan");
    assert.deepEqual(calls.splice(0), ["notify(ada)", "notify(alan)"]);

    const noise = await client.start("incident", { id: "incident-noise", args: [all, MINUTE] });
    assert.equal(await noise.result(), "not taken");
    assert.equal(calls.length, 3);
  },
};

const billingCycle: Pattern = {
  activities: billing,
  async check({ client, calls, advance }) {
    const ada = await client.start("subscription", { id: "subscription-ada", args: ["ada", DAY] });
    await advance(2 * DAY + HOUR);
    await ada.signal("unsubscribe");
    assert.equal(await ada.result(), "ended in period 3");
    assert.deepEqual(
      calls.splice(0),
      [1, 2, 3].map((period) => `chargePeriod(ada, ${period})`),
    );

    const ended = await client.start("subscription", { id: "subscription-new", args: ["b", DAY] });
    await ended.signal("unsubscribe");
    assert.equal(await ended.result(), "ended in period 1");
    assert.deepEqual(calls, ["chargePeriod(b, 1)"]);
  },
};

let rounds = 0;
const circuitBreaker: Pattern = {
  activities: parcels,
  async check({ client, calls, now }) {
    const began = now();
    const round = ++rounds;
    const away = { [`x${round}`]: 2, [`y${round}`]: 2, [`z${round}`]: 0 };
    const args = [away, HOUR];
    const id = "delivery-away";
    // x, y: two failures; z works, so that the count begins again; x, y again; then both work.
    assert.equal(await client.execute("deliverAll", { id, args }), "delivered after 0 pauses");
    assert.equal(calls.splice(0).length, 7);
    assert.ok(now() - began < HOUR);

    const dead = { [`dead${round}`]: 4 };
    const late = await client.execute("deliverAll", { id: "delivery-dead", args: [dead, HOUR] });
    assert.equal(late, "delivered after 1 pauses");
    assert.ok(now() - began >= HOUR);
    assert.equal(calls.length, 5);
  },
};

export const operations: { readonly [folder: string]: Pattern } = {
  billing_cycle: billingCycle,
  circuit_breaker: circuitBreaker,
  escalation,
  interpreter,
  quorum,
  watchdog,
};
