// An endless wait in a test is reported with what it waits for; a wait that may still end is not.
import assert from "node:assert/strict";
import { test } from "node:test";
import { activityInfo, completeAsync } from "../../../ts/activity/mod.ts";
import type { Logger } from "../../../ts/base/logger.ts";
import { silentLogger } from "../../../ts/client/mod.ts";
import {
  EndlessWaitError,
  type EndlessWaits,
  KeepsFailingError,
  TestEnvironment,
} from "../../../ts/testing/mod.ts";
import {
  activities,
  executeChild,
  on,
  procedure,
  receive,
  reply,
  signal,
  sleep,
  stop,
  update,
  waitForSignal,
  workflow,
} from "../../../ts/workflow/mod.ts";
import { ManualTimers } from "../../support/manual_timers.ts";
import { until } from "../../support/until.ts";

interface Shop {
  charge(): Promise<string>;
}
const go = signal("go");
const slow = update<[], string>("slow");
const patient = workflow("Patient", async () => void await waitForSignal(go));
const parent = workflow("Parent", () => executeChild(patient, { id: "child" }));
const server = workflow("Server", async () => {
  await receive(0, [
    on(slow, async (_, state) => {
      await waitForSignal(go);
      return reply("replied", state);
    }),
  ]);
});
const napper = workflow("Napper", async () => {
  await receive(0, [
    on(slow, async (_, state) => {
      await sleep("30 days");
      return reply("rested", state);
    }),
    on(go, (_, state) => stop(state)),
  ]);
});
const { charge } = activities<Shop>({ startToClose: "1m", retry: { maximumAttempts: 1 } });
const misdirected = workflow("Misdirected", () => charge.with({ taskQueue: "nowhere" })());
const pays = workflow("Pays", () => charge());
const asks = workflow("Asks", () => procedure<string>("approve", []));
const workflows = [patient, parent, server, napper, misdirected, pays, asks];

interface Watched {
  readonly env: TestEnvironment;
  readonly warnings: string[];
  /** Two seconds pass, again and again, until there is a warning or `done`. */
  report(done?: () => boolean): Promise<string>;
}

async function withWatchedWaits(
  body: (watched: Watched) => Promise<void>,
  endlessWaits?: EndlessWaits,
): Promise<void> {
  const timers = new ManualTimers();
  const warnings: string[] = [];
  const logger: Logger = { ...silentLogger, warn: (message) => void warnings.push(message) };
  const env = await TestEnvironment.create({
    logger,
    ...(endlessWaits !== undefined && { endlessWaits }),
  }, timers);
  const report = async (done = () => warnings.length > 0) => {
    await until("a report", async () => {
      await timers.advance(2000);
      return done();
    });
    return warnings[0] ?? "";
  };
  try {
    await body({ env, warnings, report });
  } finally {
    await env.dispose();
  }
}

const HERE = String.raw`at .*endless_waits\.test\.[jt]s:\d+:\d+`;

test("a signal that the test never sends: one warning with the run, the signal and the line, and the wait continues", () =>
  withWatchedWaits(async ({ env, warnings, report }) => {
    await env.runWorker({ workflows }, async () => {
      const handle = await env.client.start(patient, { id: "p-1" });
      const result = handle.result();
      const warning = await report();
      assert.match(
        warning,
        /^the wait for the result of workflow "p-1" does not end by itself: no task is running and no timer is due/,
      );
      assert.match(
        warning,
        new RegExp(
          `workflow "p-1" \\(type "Patient", run ${handle.runId}\\)\n.*waitForSignal "go"\n\\s+${HERE}`,
        ),
      );
      const looks = { n: 0 };
      await report(() => ++looks.n === 20);
      assert.equal(warnings.length, 1);
      await handle.signal(go);
      await result;
    });
  }));

test('endlessWaits "error" rejects the waiting call with the same facts and does not log', () =>
  withWatchedWaits(async ({ env, warnings, report }) => {
    await env.runWorker({ workflows }, async () => {
      const handle = await env.client.start(parent, { id: "p-1" });
      let error: unknown;
      handle.result().catch((thrown) => (error = thrown));
      await report(() => error !== undefined);
      assert.ok(error instanceof EndlessWaitError, String(error));
      assert.deepEqual([error.workflowId, error.awaited], ["p-1", "the result"]);
      assert.match(error.waitsFor, new RegExp(`child workflow "Patient" \\(child\\)\n\\s+${HERE}`));
      assert.match(
        error.waitsFor,
        new RegExp(
          `workflow "child" \\(type "Patient", run .*\\)\n.*waitForSignal "go"\n\\s+${HERE}`,
        ),
      );
      assert.ok(error.message.includes("does not end by itself"));
      assert.deepEqual(warnings, []);
    });
  }, "error"));

test("an endless update handler and an activity on a queue without a worker are reported", () =>
  withWatchedWaits(async ({ env, report }) => {
    await env.runWorker({ workflows }, async () => {
      const errors: Error[] = [];
      const handle = await env.client.start(server, { id: "s-1" });
      handle.update(slow).catch((error) => errors.push(error));
      await report(() => errors.length === 1);
      assert.match(errors[0]!.message, /^the wait for update "slow" of workflow "s-1"/);
      assert.match(
        errors[0]!.message,
        new RegExp(`handler of update "slow": waitForSignal "go"\n\\s+${HERE}`),
      );
      const lost = await env.client.start(misdirected, { id: "l-1" });
      lost.result().catch((error) => errors.push(error));
      await report(() => errors.length === 2);
      assert.match(
        errors[1]!.message,
        /virtual time does not move while a task waits for a worker/,
      );
      assert.match(
        errors[1]!.message,
        /activity "charge" \(id 1\) of "l-1": waits in task queue "nowhere", which no worker polls for activities; workers: "test" \(workflows Patient, /,
      );
      assert.match(errors[1]!.message, new RegExp(`activity "charge"\n\\s+${HERE}`));
    });
  }, "error"));

test("a workflow without a worker and a workflow of an unknown type are reported", () =>
  withWatchedWaits(async ({ env, report }) => {
    const handle = await env.client.start(patient, { id: "p-1" });
    let error: Error | undefined;
    handle.result().catch((thrown) => (error = thrown));
    await report(() => error !== undefined);
    assert.match(
      error!.message,
      /workflow task of "p-1": waits in task queue "test", which no worker polls for workflows$/,
    );
    await handle.terminate();
    await env.runWorker(
      { workflows: [patient], logger: silentLogger },
      () =>
        assert.rejects(env.client.execute("Nope", { id: "n-1" }), (thrown) => {
          assert.ok(thrown instanceof KeepsFailingError);
          assert.match(
            thrown.message,
            /workflow type "Nope" is not known to this worker; it has "Patient"/,
          );
          return true;
        }),
    );
  }, "error"));

test("no report while an activity runs, awaits completion from outside, or a procedure can be completed", () =>
  withWatchedWaits(async ({ env, warnings, report }) => {
    let finish: ((result: string) => void) | undefined;
    let token: Uint8Array | undefined;
    const real = (): Promise<string> => new Promise((resolve) => (finish = resolve));
    const outside = (): string => {
      token = activityInfo().taskToken;
      return completeAsync();
    };
    let mode: () => string | Promise<string> = real;
    await env.runWorker({ workflows, activities: { charge: () => mode() } }, async () => {
      const looks = async () => {
        let n = 0;
        await report(() => ++n === 15);
        assert.deepEqual(warnings, []);
      };
      const running = await env.client.start(pays, { id: "a-1" });
      const result = running.result();
      await until("the activity runs", () => finish !== undefined);
      await looks();
      finish!("paid");
      assert.equal(await result, "paid");
      mode = outside;
      const completed = await env.client.start(pays, { id: "a-2" });
      const late = completed.result();
      await until("the activity has run", () => token !== undefined);
      await looks();
      await env.client.completeActivity(token!, "from outside");
      assert.equal(await late, "from outside");
      const asking = await env.client.start(asks, { id: "a-3" });
      const asked = asking.result();
      await until(
        "the procedure is open",
        async () => (await asking.describe()).pendingProcedures.length === 1,
      );
      await looks();
      await env.client.completeProcedure({ workflow: "a-3", name: "approve" }, "yes");
      assert.equal(await asked, "yes");
    });
  }));

test("time moves while a test waits for an update-with-start", () =>
  withWatchedWaits(async ({ env }) => {
    await env.runWorker({ workflows }, async () => {
      const began = env.now();
      const options = { id: "w-1", update: slow, updateArgs: [] as [] };
      assert.equal(await env.client.executeUpdateWithStart(napper, options), "rested");
      assert.equal(env.now() - began, 30 * 86_400_000);
      await env.client.getHandle(napper, "w-1").signal(go);
    });
  }));

test("another value of endlessWaits is rejected", async () => {
  await assert.rejects(TestEnvironment.create({ endlessWaits: "fail" as EndlessWaits }), {
    name: "TypeError",
    message: 'endlessWaits must be "warn" or "error", not "fail"',
  });
});
