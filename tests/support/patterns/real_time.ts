// The parts of scenarios that need no virtual time, for patterns whose scenario skips hours. Waits
// that must end are short, and those that must not end last an hour, so that no step races a timer.
import assert from "node:assert/strict";
import type { Client } from "../../../ts/client/mod.ts";
import { checkCallback } from "./waits.ts";
import { until } from "../until.ts";
import { DAY, HOUR, type RealStage, rejection } from "./stage.ts";

type Scenario = (stage: RealStage) => Promise<void>;
type Attributes = { readonly case?: string; readonly value?: unknown };

/** Milliseconds of waits that must end. */
const SHORT = 20;

/** Waits for an event of a workflow; `accepts` sees its attributes. */
const untilEvent = (
  client: Client,
  workflowId: string,
  accepts: (attributes: Attributes) => boolean,
) =>
  until(`an event of ${workflowId}`, async () => {
    for await (const { attributes } of client.getHandle(undefined, workflowId).history()) {
      if (accepts(attributes)) return true;
    }
    return false;
  });

const approval: Scenario = async ({ client }) => {
  const decided = await client.start("approval", { id: "approval-decided", args: [["ada"], HOUR] });
  const decide = (by: string, approved: boolean) =>
    decided.executeUpdate("decide", { args: [{ by, approved }] });
  assert.equal(await rejection(decide("eve", true)), "NotAllowed: eve is not an approver");
  assert.equal(await decide("ada", false), "thank you, ada");
  assert.equal(await decided.result(), "rejected by ada");
  const late = client.execute("approval", { id: "approval-late", args: [["ada"], SHORT] });
  assert.equal(await late, "expired");
};

const updatableTimer: Scenario = async ({ client }) => {
  const began = Date.now();
  const start = (id: string, end: number) => client.start("auction", { id, args: [end] });
  const ended = async (handle: Awaited<ReturnType<typeof start>>) =>
    (await handle.result() as { moves: number }).moves;
  const moved = await start("auction-moved", began + DAY);
  await moved.signal("moveEnd", began);
  assert.equal(await ended(moved), 1);
  assert.equal(await ended(await start("auction-plain", Date.now() + SHORT)), 0);
};

const delayedRetry: Scenario = async ({ client }) => {
  const closed = client.execute("fetchReport", { id: "report-closed", args: ["closed"] });
  assert.equal(await closed, "no report: AccountClosed");
};

const earlyReturn: Scenario = async ({ client, calls }) => {
  const begin = (id: string, cents: number) =>
    client.startUpdateWithStart("payment", {
      id,
      args: ["ada", cents],
      idConflictPolicy: "FAIL",
      update: "authorized",
      waitFor: "accepted",
    });
  const good = await begin("payment-good", 500);
  assert.equal(await good.update.result(), "ada-500");
  assert.equal((await good.workflow.describe()).status, "RUNNING");
  await good.workflow.terminate(); // it settles after a day
  const poor = await begin("payment-poor", 50_000);
  assert.equal(await poor.update.result(), "declined");
  assert.equal(await poor.workflow.result(), "not paid");
  assert.deepEqual(calls, ["authorize(ada, 500)", "authorize(ada, 50000)"]);
};

const mutex: Scenario = async ({ client, calls }) => {
  const lock = await client.start("mutex", { id: "printer", args: [HOUR] });
  const print = (name: string) =>
    client.execute("printDocument", { id: `print-${name}`, args: [name, SHORT] });
  const uses = await Promise.all(["a", "b", "c"].map(print)) as { began: number; ended: number }[];
  uses.sort((one, other) => one.began - other.began);
  for (const [i, { began }] of uses.entries()) {
    assert.ok(i === 0 || began >= uses[i - 1]!.ended, "the uses do not overlap");
  }
  assert.deepEqual(calls.toSorted(), ["print(a)", "print(b)", "print(c)"]);
  await lock.terminate();
};

const requestResponse: Scenario = async ({ client }) => {
  const expert = await client.start("expert", { id: "expert" });
  const ask = (who: string) => client.execute("asker", { id: `asker-${who}`, args: [who, ["?"]] });
  assert.deepEqual(await ask("absent"), ["absent is not available"]);
  // The asker waits ten seconds, so the response goes to a workflow without such a limit.
  const caller = await client.start("watchdog", { id: "caller", args: ["caller", HOUR] });
  await expert.signal("ask", { id: 1, from: "caller", question: "" });
  await untilEvent(
    client,
    "caller",
    ({ case: type, value }) =>
      type === "workflowExecutionSignaledEventAttributes" &&
      (value as { signalName: string }).signalName === "answer",
  );
  await expert.signal("retire");
  assert.equal(await expert.result(), 1);
  await caller.terminate();
};

const frequentPolling: Scenario = async ({ client }) => {
  const soon = client.execute("pollOften", { id: "often-soon", args: [1] });
  assert.equal(await soon, "done after 1 polls");
};

const infrequentPolling: Scenario = async ({ client }) => {
  const soon = client.execute("pollRarely", { id: "rarely-soon", args: [1] });
  assert.equal(await soon, "done after 1 polls");
};

const pickFirst: Scenario = async ({ client }) => {
  const ask = (id: string, given: { [name: string]: number }, limit: number) =>
    client.execute("firstQuote", { id, args: [given, limit] });
  assert.equal(await ask("first-quick", { slow: 3000, quick: 0 }, HOUR), "quote of quick");
  assert.equal(await ask("first-none", { slow: 3000 }, SHORT), "no quote");
};

const slidingWindow: Scenario = async ({ client }) => {
  const items = ["a", "bad 1", "b", "c", "d"].map((name) => ({ name, ms: SHORT }));
  const all = client.execute("processAll", { id: "window-all", args: [items, 2] });
  assert.deepEqual(await all, { processed: 4, failed: ["bad 1"] });
};

const deadLetter: Scenario = async ({ client, calls }) => {
  const good = client.execute("message", { id: "message-good", args: ["good"] });
  assert.equal(await good, "delivered good");
  assert.deepEqual(calls, ["deliver(good)"]);
};

const scheduledReminder: Scenario = async ({ client, calls }) => {
  const remind = (user: string, due: number) =>
    client.start("remindUser", { id: `remind-${user}`, args: [user, due, [96, 1]] });
  assert.deepEqual(await (await remind("ada", Date.now())).result(), { done: false, sent: 2 });
  const done = await remind("bob", Date.now() + 3 * DAY);
  await until("the first reminder", () => calls.includes("sendReminder(bob, 96 hours)"));
  await done.signal("done");
  assert.deepEqual(await done.result(), { done: true, sent: 1 });
};

const deduplication: Scenario = async ({ client, calls }) => {
  const handle = await client.start("collect", { id: "collect", args: [2, HOUR] });
  for (const [id, amount] of [["a", 1], ["a", 1], ["b", 2], ["b", 2], ["c", 3]] as const) {
    await handle.signal("add", id, amount);
  }
  await until("a full batch is stored", () => calls.includes("store(1,2)"));
  await handle.signal("close");
  assert.equal(await handle.result(), 3);
  assert.deepEqual(calls, ["store(1,2)", "store(3)"]);
};

const cancellationCleanup: Scenario = async ({ client, calls }) => {
  const start = (car: string, ms: number) =>
    client.start("rental", { id: `rental-${car}`, args: [car, ms] });
  assert.equal(await (await start("bus", SHORT)).result(), "returned");
  assert.deepEqual(calls.splice(0), ["handOver(bus)", "sendInvoice(bus)"]);
  const canceled = await start("van", DAY);
  await untilEvent(client, "rental-van", (event) => event.case === "timerStartedEventAttributes");
  await canceled.cancel();
  assert.match(await rejection(canceled.result()), /cancel/i);
  assert.deepEqual(calls, ["handOver(van)", "fetchBack(van)", "sendInvoice(van)"]);
};

const rateLimit: Scenario = async ({ client, calls }) => {
  const args = [["a", "moved", "b"], 3];
  const result = await client.execute("sendLetters", { id: "letters", args });
  assert.deepEqual(result, { sent: 2, failed: ["moved"] });
  assert.equal(calls.length, 3);
};

const idempotentStart: Scenario = async ({ client }) => {
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
  await first!.terminate(); // it books after an hour
  assert.match(await rejection(start()), /already/);
};

const quorum: Scenario = async ({ client }) => {
  const vote = await client.start("quorum", { id: "quorum-yes", args: [2, HOUR] });
  for (const voter of ["ada", "ada", "alan"]) await vote.signal("agree", voter);
  assert.equal(await vote.result(), "agreed: ada, alan");
  assert.equal(await client.execute("quorum", { id: "quorum-no", args: [2, SHORT] }), "no quorum");
};

const watchdog: Scenario = async ({ client, calls }) => {
  const pump = client.execute("watchdog", { id: "watchdog-pump", args: ["pump", SHORT] });
  assert.equal(await pump, "silent after 0 signals");
  const fan = await client.start("watchdog", { id: "watchdog-fan", args: ["fan", HOUR] });
  await fan.signal("alive");
  await fan.signal("retire");
  assert.equal(await fan.result(), "retired after 1 signals");
  assert.deepEqual(calls, ["alarm(pump)"]);
};

const escalation: Scenario = async ({ client, calls }) => {
  const args = [["ada", "alan"], SHORT];
  assert.equal(await client.execute("incident", { id: "incident-noise", args }), "not taken");
  assert.deepEqual(calls.splice(0), ["notify(ada)", "notify(alan)"]);
  const fire = await client.start("incident", { id: "incident-fire", args: [["grace"], HOUR] });
  await fire.signal("take", "alan");
  assert.equal(await fire.result(), "taken by alan");
};

const billingCycle: Scenario = async ({ client, calls }) => {
  const ada = await client.start("subscription", { id: "subscription-ada", args: ["ada", SHORT] });
  await until("two periods are charged", () => calls.includes("chargePeriod(ada, 2)"));
  await ada.signal("unsubscribe");
  const period = Number(/^ended in period (\d+)$/.exec(await ada.result() as string)?.[1]);
  assert.ok(period >= 2);
  assert.equal(calls.length, period, "each period is charged once");
};

const circuitBreaker: Scenario = async ({ client, calls }) => {
  const deliver = (id: string, parcels: object, pauseMs: number) =>
    client.execute("deliverAll", { id, args: [parcels, pauseMs] });
  const away = { realX: 2, realY: 2, realZ: 0 };
  assert.equal(await deliver("delivery-away", away, HOUR), "delivered after 0 pauses");
  assert.equal(calls.splice(0).length, 7);
  assert.equal(await deliver("delivery-dead", { gone: 4 }, SHORT), "delivered after 1 pauses");
  assert.equal(calls.length, 5);
};

const interpreter: Scenario = async ({ client, calls }) => {
  const run = (id: string, plan: unknown) => client.execute("interpreter", { id, args: [plan] });
  const both = { all: [{ sequence: [{ wait: SHORT }, { step: "b" }] }, { step: "c" }] };
  const plan = { sequence: [{ step: "a" }, both, { step: "d" }] };
  assert.deepEqual(await run("plan-good", plan), ["A", "B", "C", "D"]);
  assert.equal(calls.splice(0).length, 4);
  const bad = { sequence: [{ all: [{ step: "bad" }, { step: "e" }] }, { step: "f" }] };
  assert.equal(await rejection(run("plan-bad", bad)), "BadStep: bad step");
  assert.deepEqual(calls.toSorted(), ["perform(bad)", "perform(e)"]);
};

/** By folder. Scenarios of the other patterns run as they are. */
export const inRealTime: { readonly [folder: string]: Scenario } = {
  approval,
  updatable_timer: updatableTimer,
  delayed_retry: delayedRetry,
  early_return: earlyReturn,
  mutex,
  request_response: requestResponse,
  frequent_polling: frequentPolling,
  infrequent_polling: infrequentPolling,
  pick_first: pickFirst,
  sliding_window: slidingWindow,
  dead_letter: deadLetter,
  scheduled_reminder: scheduledReminder,
  deduplication,
  cancellation_cleanup: cancellationCleanup,
  rate_limit: rateLimit,
  idempotent_start: idempotentStart,
  quorum,
  watchdog,
  escalation,
  billing_cycle: billingCycle,
  circuit_breaker: circuitBreaker,
  interpreter,
  callback: checkCallback,
};
