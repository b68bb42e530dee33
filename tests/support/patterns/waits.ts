// Scenarios of patterns for waits: early returns, polling, and the first of several responses.
import assert from "node:assert/strict";
import { ApplicationFailure } from "../../../ts/converter/mod.ts";
import * as partner from "../../../examples/patterns/callback/activities.ts";
import * as bank from "../../../examples/patterns/early_return/activities.ts";
import * as often from "../../../examples/patterns/frequent_polling/activities.ts";
import * as rarely from "../../../examples/patterns/infrequent_polling/activities.ts";
import * as providers from "../../../examples/patterns/pick_first/activities.ts";
import { until } from "../until.ts";
import { DAY, HOUR, MINUTE, type Pattern, type RealStage } from "./stage.ts";

const earlyReturn: Pattern = {
  activities: bank,
  async check({ client, calls, now }) {
    const begin = (id: string, cents: number) =>
      client.startUpdateWithStart("payment", {
        id,
        args: ["ada", cents],
        idConflictPolicy: "FAIL",
        update: "authorized",
        waitFor: "accepted",
      });
    const began = now();
    const { workflow: good, update } = await begin("payment-good", 500);
    assert.equal(await update.result(), "ada-500");
    assert.ok(now() - began < MINUTE, "the caller has its response, and the workflow continues");
    assert.equal(await good.result(), "paid");
    assert.ok(now() - began >= DAY);
    assert.deepEqual(calls.splice(0), ["authorize(ada, 500)", "settle(ada-500)"]);

    const poor = await begin("payment-poor", 50_000);
    assert.equal(await poor.update.result(), "declined");
    assert.equal(await poor.workflow.result(), "not paid");
    assert.deepEqual(calls.splice(0), ["authorize(ada, 50000)"]);

    const plain = await client.start("payment", { id: "payment-plain", args: ["ada", 500] });
    assert.equal(await plain.result(), "not paid", "no caller waits for the authorization");
    assert.deepEqual(calls, []);
  },
};

const frequentPolling: Pattern = {
  activities: often,
  async check({ client, calls, now }) {
    const began = now();
    assert.equal(
      await client.execute("pollOften", { id: "often-soon", args: [30] }),
      "done after 30 polls",
    );
    assert.ok(now() - began < MINUTE);
    assert.deepEqual(
      calls.splice(0),
      ["awaitJob(30)", "awaitJob(30)"],
      "the second attempt continues",
    );
    assert.equal(
      await client.execute("pollOften", { id: "often-never", args: [1e9] }),
      "not done in time",
    );
  },
};

const infrequentPolling: Pattern = {
  activities: rarely,
  async check({ client, calls, now }) {
    const began = now();
    const handle = await client.start("pollRarely", { id: "rarely-soon", args: [4] });
    assert.equal(await handle.result(), "done after 4 polls");
    assert.equal(now() - began, 3 * HOUR);
    assert.equal(calls.length, 4);
    let events = 0;
    for await (const _ of handle.history()) events++;
    assert.ok(events <= 11, `${events} events: polls are not in history`);
    assert.equal(
      await client.execute("pollRarely", { id: "rarely-never", args: [1e9] }),
      "not done in time",
    );
    assert.ok(now() - began <= 3 * HOUR + DAY);
  },
};

const pickFirst: Pattern = {
  activities: providers,
  async check({ client, now }) {
    const began = now();
    const ask = (id: string, given: { [name: string]: number }) =>
      client.execute("firstQuote", { id, args: [given, MINUTE] });
    assert.equal(await ask("first-quick", { slow: 3000, quick: 2, other: 2000 }), "quote of quick");
    assert.ok(now() - began < MINUTE);
    assert.equal(await ask("first-none", { slow: 3000, slower: 3500 }), "no quote");
    assert.ok(now() - began < 3 * MINUTE);
  },
};

/** The partner responds; a deadline of a day needs virtual time. */
export async function checkCallback({ client, calls }: RealStage): Promise<void> {
  partner.requested.clear();
  const begin = async (customer: string) => {
    const handle = await client.start("openAccount", { id: `open-${customer}`, args: [customer] });
    await until("the check is requested", () => partner.requested.has(customer));
    return { handle, token: partner.requested.get(customer)! };
  };
  const good = await begin("ada");
  await client.completeActivity(good.token, "a short check");
  assert.equal(await good.handle.result(), "opened after a short check");
  const bad = await begin("eve");
  const embargo = new ApplicationFailure("eve is on a list", { type: "Embargo" });
  await client.failActivity(bad.token, embargo);
  assert.equal(await bad.handle.result(), "refused: Embargo");
  assert.deepEqual(calls.splice(0), ["checkCustomer(ada)", "checkCustomer(eve)"]);
}

const callback: Pattern = {
  activities: partner,
  async check(stage) {
    await checkCallback(stage);
    const late = await stage.client.start("openAccount", { id: "open-late", args: ["late"] });
    await until("the check is requested", () => partner.requested.has("late"));
    await stage.advance(DAY + MINUTE);
    assert.equal(await late.result(), "no response");
  },
};

export const waits: { readonly [name: string]: Pattern } = {
  callback,
  early_return: earlyReturn,
  frequent_polling: frequentPolling,
  infrequent_polling: infrequentPolling,
  pick_first: pickFirst,
};
