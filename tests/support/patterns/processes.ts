// Scenarios of patterns for processes: steps, decisions, retries and batches.
import assert from "node:assert/strict";
import * as batch from "../../../examples/patterns/batch_iterator/activities.ts";
import * as reports from "../../../examples/patterns/delayed_retry/activities.ts";
import * as travel from "../../../examples/patterns/saga/activities.ts";
import { DAY, HOUR, type Pattern, rejection } from "./stage.ts";

const saga: Pattern = {
  activities: travel,
  async check({ client, calls }) {
    assert.equal(
      await client.execute("bookTrip", { id: "saga-good", args: ["Rome", 50_000] }),
      "receipt for Rome",
    );
    const booked = ["reserveHotel(Rome)", "reserveFlight(Rome)", "charge(Rome, 50000)"];
    assert.deepEqual(calls.splice(0), booked);
    assert.equal(
      await rejection(client.execute("bookTrip", { id: "saga-poor", args: ["Oslo", 200_000] })),
      "CardDeclined: the card was declined",
    );
    assert.deepEqual(calls, [
      ...["reserveHotel(Oslo)", "reserveFlight(Oslo)", "charge(Oslo, 200000)"],
      ...["cancelFlight(Oslo)", "cancelHotel(Oslo)"],
    ]);
  },
};

const approval: Pattern = {
  async check({ client, advance }) {
    const start = (id: string) => client.start("approval", { id, args: [["ada"], 3 * DAY] });
    const decided = await start("approval-decided");
    const decide = (by: string, approved: boolean) =>
      decided.executeUpdate("decide", { args: [{ by, approved }] });
    assert.equal(await rejection(decide("eve", true)), "NotAllowed: eve is not an approver");
    assert.equal(await decide("ada", false), "thank you, ada");
    assert.equal(await decided.result(), "rejected by ada");

    const twice = await start("approval-twice");
    const outcomes = await Promise.allSettled(
      [true, false].map((approved) =>
        twice.executeUpdate("decide", { args: [{ by: "ada", approved }] })
      ),
    );
    assert.deepEqual(outcomes.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
    assert.match(await twice.result() as string, /^(approved|rejected) by ada$/);

    const late = await start("approval-late");
    await advance(3 * DAY);
    assert.equal(await late.result(), "expired");
  },
};

const updatableTimer: Pattern = {
  async check({ client, now, advance }) {
    const began = now();
    const plain = await client.start("auction", { id: "auction-plain", args: [began + HOUR] });
    const moved = await client.start("auction", { id: "auction-moved", args: [began + HOUR] });
    await moved.signal("moveEnd", began + 4 * HOUR);
    await advance(2 * HOUR);
    assert.equal((await moved.describe()).status, "RUNNING", "the first end has passed");
    await moved.signal("moveEnd", began + 3 * HOUR);
    const ends = await Promise.all([plain.result(), moved.result()]) as { ended: number }[];
    assert.deepEqual(ends, [{ ended: began + HOUR, moves: 0 }, {
      ended: began + 3 * HOUR,
      moves: 2,
    }]);

    const past = await client.start("auction", { id: "auction-past", args: [now() + DAY] });
    await past.signal("moveEnd", began);
    assert.deepEqual(await past.result(), { ended: now(), moves: 1 });
    assert.ok(now() < began + DAY, "an end in the past ends the auction at once");
  },
};

const batchIterator: Pattern = {
  activities: batch,
  async check({ client, calls }) {
    const all = await client.start("processTable", { id: "table-all", args: [0] });
    assert.deepEqual(await all.result(), { runs: 4, processed: 8, failed: ["bad 1", "bad 2"] });
    assert.deepEqual(calls.filter((call) => call.startsWith("readPage")), [
      ...["readPage(0)", "readPage(3)", "readPage(6)", "readPage(9)"],
    ]);
    assert.equal(calls.filter((call) => call.startsWith("processRecord")).length, 10);
  },
};

const delayedRetry: Pattern = {
  activities: reports,
  async check({ client, now }) {
    const began = now();
    assert.equal(
      await client.execute("fetchReport", { id: "report-busy", args: ["ada"] }),
      "report of ada at attempt 3",
    );
    assert.equal(now() - began, 2 * HOUR, "the service's delays, not those of the policy");
    assert.equal(
      await client.execute("fetchReport", { id: "report-closed", args: ["closed"] }),
      "no report: AccountClosed",
    );
    assert.equal(now() - began, 2 * HOUR, "a final failure is not retried");
  },
};

export const processes: { readonly [name: string]: Pattern } = {
  saga,
  approval,
  updatable_timer: updatableTimer,
  batch_iterator: batchIterator,
  delayed_retry: delayedRetry,
};
