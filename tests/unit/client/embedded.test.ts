// Every call of the client on the embedded engine, and its limits.
// takes: 5 s
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  Client,
  ServiceError,
  silentLogger,
  WorkflowUpdateLimitError,
} from "../../../ts/client/mod.ts";
import {
  on,
  receive,
  reply,
  signal,
  spawnAsync,
  stop,
  update,
  waitForSignal,
  workflow,
} from "../../../ts/workflow/mod.ts";
import { clientSuite } from "../../suites/client_suite.ts";
import { onBothStores, withEngine } from "../../support/services.ts";

clientSuite(onBothStores);

const finish = signal<[by?: string]>("finish");
const named = workflow("Named", async () => void await waitForSignal(finish));
test("limits: open runs, inbox, payloads", () =>
  withEngine("memory", { limits: { openRuns: 2, inbox: 3, payloadBytes: 1000 } }, async (t) => {
    await t.client.start(named, { id: "1" });
    const handle = await t.client.start(named, { id: "2" });
    await assert.rejects(t.client.start(named, { id: "3" }), (error) => {
      assert.ok(error instanceof ServiceError);
      assert.equal(error.code, 8);
      assert.match(error.message, /limit of 2 open runs/);
      return true;
    });
    await assert.rejects(
      handle.signal(finish, "x".repeat(2000)),
      (error) => error instanceof ServiceError && /1000|bytes/i.test(error.message),
    );
    for (let i = 0; i < 3; i++) await handle.signal(finish, "ok");
    await assert.rejects(
      handle.signal(finish, "one too many"),
      (error) => error instanceof ServiceError && error.code === 8,
    );
  }));

const later = update<[n: number], number>("later");
const go = signal("go");
/** Its updates complete on a signal. */
const crowd = workflow("Crowd", () =>
  receive(0, [
    on(later, ([n], sum) =>
      spawnAsync(async (change) => {
        await waitForSignal(go);
        return await change((now: number) => [n, now + n]);
      }, sum)),
    on(finish, (_, sum) => stop(sum)),
  ]));
const quick = workflow(
  "Quick",
  () =>
    receive(0, [
      on(later, ([n], sum) => reply(n, sum + n)),
      on(finish, (_, sum) => stop(sum)),
    ]),
);

test("an update waits while its workflow has the maximum number in flight, then runs", () =>
  withEngine("memory", {}, async (t) => {
    const handle = await t.client.start(crowd, { id: "c" });
    await t.work({ workflows: [crowd] }, async () => {
      const results = Promise.all(
        Array.from({ length: 12 }, (_, n) => handle.update(later, n)),
      );
      for (let i = 0; i < 12; i++) await handle.signal(go);
      assert.deepEqual(await results, Array.from({ length: 12 }, (_, n) => n));
      await handle.signal(finish);
      assert.equal(await handle.result(), 66);
    });
  }));

test("updates beyond a limit are rejected with the limit's name and how to change it", () =>
  withEngine(
    "memory",
    { limits: { updatesInFlight: 2, updates: 3 } },
    async (t) => {
      const hasty = new Client({
        service: t.service,
        taskQueue: t.taskQueue,
        logger: silentLogger,
        retry: { maximumAttempts: 2 },
      });
      const refused = (limit: "inFlight" | "total", text: RegExp) => (error: unknown) => {
        assert.ok(error instanceof WorkflowUpdateLimitError, String(error));
        assert.deepEqual([error.limit, error.workflowId, error.updateId], [
          limit,
          limit,
          "over",
        ]);
        assert.match(error.message, text);
        assert.ok(error.cause instanceof ServiceError);
        return true;
      };
      await t.work({ workflows: [crowd, quick] }, async () => {
        const crowded = await hasty.start(crowd, { id: "inFlight" });
        const accepted = [1, 2].map((n) =>
          crowded.startUpdate(later, { args: [n], waitFor: "accepted" })
        );
        const waiting = (await Promise.all(accepted)).map((one) => one.result());
        await assert.rejects(
          crowded.executeUpdate(later, { args: [3], updateId: "over" }),
          refused(
            "inFlight",
            /update "later" was not accepted: .*\(2\).*raise limits\.updatesInFlight/,
          ),
        );
        for (let i = 0; i < 2; i++) await crowded.signal(go);
        assert.deepEqual(await Promise.all(waiting), [1, 2]);
        const many = await hasty.start(quick, { id: "total" });
        for (let n = 0; n < 3; n++) {
          assert.equal(await many.update(later, n), n);
        }
        await assert.rejects(
          many.executeUpdate(later, { args: [3], updateId: "over" }),
          refused(
            "total",
            /update "later" was not accepted: .*\(3\).*continueAsNewSuggested/,
          ),
        );
      });
    },
  ));

test("an update-with-start waits while its workflow has the maximum number of updates in flight", () =>
  withEngine("memory", { limits: { updatesInFlight: 1 } }, async (t) => {
    await t.work({ workflows: [crowd] }, async () => {
      const handle = await t.client.start(crowd, { id: "c" });
      const first = await handle.startUpdate(later, { args: [1], waitFor: "accepted" });
      const second = t.client.executeUpdateWithStart(crowd, {
        id: "c",
        update: later,
        updateArgs: [2],
      });
      // It is refused at least once before there is room.
      await new Promise((resolve) => setTimeout(resolve, 100));
      await handle.signal(go);
      assert.equal(await first.result(), 1);
      await handle.signal(go);
      assert.equal(await second, 2);
    });
  }));
