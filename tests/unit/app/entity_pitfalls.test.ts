// The pitfalls of the entity pattern: what the model refuses, what it does by itself, and what the
// linter finds (docs/entities.md).
import assert from "node:assert/strict";
import { test } from "node:test";
import { accountOf, openAccount, saveProfile } from "../../../examples/entity/accounts.ts";
import {
  changeEmail,
  getState,
  suspend,
  suspendNow,
  updateProfile,
} from "../../../examples/entity/workflow.ts";
import { externalStorage } from "../../../examples/external_storage/codec.ts";
import { Client, silentLogger } from "../../../ts/client/mod.ts";
import type { EngineLimits } from "../../../ts/engine/mod.ts";
import { continueAsNew, on, receive, signal, update, workflow } from "../../../ts/workflow/mod.ts";
import type { WorkerEvents } from "../../../ts/worker/mod.ts";
import {
  definitions,
  Gates,
  generations,
  health,
  stateOf,
  withAccounts,
} from "./entity_support.ts";
import { withEngine } from "../../support/services.ts";
import { until } from "../../support/until.ts";

type TaskFailure = Parameters<NonNullable<WorkerEvents["workflowTaskFailed"]>>[0];

test("pitfall: continue-as-new from any kind of handler is rejected with the handler's name", async () => {
  const go = signal("go");
  const ask = update<[], number>("ask");
  for (const kind of ["signal", "update"] as const) {
    // deno-lint-ignore no-explicit-any
    const wrong = (state: number): any => continueAsNew(state + 1);
    const w = workflow(
      "Wrong",
      () => receive(0, [on(go, (_, s) => wrong(s)), on(ask, (_, s) => wrong(s))]),
    );
    await withEngine("memory", {}, async (t) => {
      const failures: TaskFailure[] = [];
      await t.work({
        workflows: [w],
        events: { workflowTaskFailed: (failure) => void failures.push(failure) },
      }, async () => {
        const handle = await t.client.start(w, { id: "w" });
        if (kind === "signal") await handle.signal(go);
        else handle.update(ask).catch(() => {});
        await until("the task has failed", () => failures.length > 0);
        assert.match(
          failures[0]!.message,
          /continueAsNew cannot be used in a message handler \(handler of (signal "go"|update "ask")\); it belongs in the run function/,
        );
        assert.equal(
          (await handle.describe()).status,
          "RUNNING",
          "the run is there, for corrected code",
        );
        await handle.terminate();
      });
    });
  }
});

test("pitfall: not waiting for handlers before continue-as-new: accepted updates complete, and signals carry over", () =>
  withAccounts({ suggestContinueAsNewUpdates: 3 }, async ({ client, gates }) => {
    const account = await openAccount(client, "ada");
    gates.held.add("validateProfile");
    const results = [account.update(updateProfile, { name: "Ada 1" })];
    await gates.reached("validateProfile");
    // The suggestion comes with the third of them, while the first is at work.
    for (let i = 2; i <= 6; i++) {
      const sent = await account.startUpdate(updateProfile, {
        args: [{ name: `Ada ${i}` }],
        waitFor: "accepted",
      });
      results.push(sent.result());
    }
    await account.signal(suspend);
    assert.equal((await health(client, "ada")).generation, 1);
    gates.openAll();
    assert.deepEqual((await Promise.all(results)).map(({ operation }) => operation), [
      1,
      2,
      3,
      4,
      5,
      6,
    ]);
    await until(
      "the account was suspended",
      async () => (await stateOf(client, "ada")).status === "SUSPENDED",
    );
    assert.deepEqual(
      await health(client, "ada").then(({ generation, operations }) => [generation, operations]),
      [2, 7],
    );
    assert.equal((await generations(client, "ada")).length, 2);
  }));

test("pitfall: losing update ids over continue-as-new: a repeated id gets the first result, for a thousand updates", () =>
  withAccounts({ suggestContinueAsNewUpdates: 50 }, async ({ client, gates }) => {
    const account = await openAccount(client, "ada");
    const first = await saveProfile(client, "ada", { name: "Ada" }, "the-id");
    const refused = () =>
      account.executeUpdate(updateProfile, { args: [{ name: "" }], updateId: "the-refused-id" });
    const reason = (error: unknown) =>
      /a profile needs a name/.test(String(((error as Error).cause as Error).cause));
    await assert.rejects(refused(), reason);
    for (let round = 0; round < 4; round++) {
      for (let i = 0; i < 60; i++) await account.update(suspendNow);
      const before = await health(client, "ada");
      const validated = gates.calls.filter((name) => name === "validateProfile").length;
      assert.deepEqual(await saveProfile(client, "ada", { name: "Another name" }, "the-id"), first);
      await assert.rejects(refused(), reason);
      assert.equal((await stateOf(client, "ada")).profile?.name, "Ada");
      assert.equal((await health(client, "ada")).operations, before.operations);
      assert.equal(
        gates.calls.filter((name) => name === "validateProfile").length,
        validated,
        "no handler ran",
      );
    }
    assert.ok((await health(client, "ada")).generation >= 5);
  }));

test("pitfall: a state over 2 MiB fails the task with its name before it is sent, and works with a codec", () =>
  withEngine(
    "memory",
    { limits: { suggestContinueAsNewUpdates: 2 } },
    async ({ service, taskQueue, work }) => {
      const blobs = new Map<string, Uint8Array>();
      const codec = externalStorage({
        put: async (name, bytes) => void blobs.set(name, bytes),
        get: async (name) => blobs.get(name),
      }, { aboveBytes: 100_000 });
      const client = new Client({ service, taskQueue, logger: silentLogger });
      await assert.rejects(
        saveProfile(client, "ada", { name: "Ada", about: "x".repeat(3_000_000) }),
        (error) => (error as Error).name === "PayloadTooLargeError",
        "where the value is at hand, its sender hears of it",
      );
      const failures: TaskFailure[] = [];
      const events = { workflowTaskFailed: (failure: TaskFailure) => void failures.push(failure) };
      const { activities } = new Gates();
      const second = await work({ workflows: definitions, activities, events }, async () => {
        const account = await openAccount(client, "ada");
        await account.update(updateProfile, { name: "Ada", about: "x".repeat(1_200_000) });
        const second = account.update(changeEmail, `${"x".repeat(1_200_000)}@example.com`);
        await until("the task has failed", () => failures.length > 0);
        assert.match(failures[0]!.message, /continue.*2[,.]?\d* ?(MiB|bytes|\d)/i);
        assert.match(failures[0]!.message, /2097152/);
        assert.equal((await account.describe()).status, "RUNNING");
        return { answer: second.catch((error: Error) => error) };
      });
      await work({ workflows: definitions, activities, codec }, async () => {
        assert.deepEqual(await second.answer, { status: "ACTIVE", operation: 2 });
        const coded = new Client({ service, taskQueue, logger: silentLogger, codec });
        const { profile, pendingEmail } = await accountOf(coded, "ada").query(getState);
        assert.deepEqual([profile?.about?.length, pendingEmail?.length], [1_200_000, 1_200_012]);
        assert.ok(blobs.size > 0);
        await accountOf(coded, "ada").terminate();
      });
    },
  ));

test("pitfall: a counter instead of the suggestion: the same code follows the service's limits of events, bytes or updates", async () => {
  const limits: [EngineLimits, atMost: { events?: number; bytes?: number; updates?: number }][] = [
    [{ suggestContinueAsNewEvents: 100 }, { events: 130 }],
    [{ suggestContinueAsNewBytes: 8_000 }, { bytes: 24_000 }],
    [{ suggestContinueAsNewUpdates: 7 }, { updates: 7 }],
  ];
  for (const [limit, { events = Infinity, bytes = Infinity, updates = Infinity }] of limits) {
    await withAccounts(limit, async ({ client }) => {
      const account = await openAccount(client, "ada");
      for (let i = 0; i < 40; i++) await account.update(updateProfile, { name: `Ada ${i}` });
      const runs = await generations(client, "ada");
      assert.ok(runs.length >= 3, `${JSON.stringify(limit)}: ${runs.length} generations`);
      for (const run of runs) {
        const { historyLength, historySizeBytes } = await run.describe();
        assert.ok(
          historyLength <= events && historySizeBytes <= bytes,
          `${historyLength} events, ${historySizeBytes} bytes`,
        );
        const { events: all } = await run.fetchHistory();
        const accepted = all.filter(({ attributes }) =>
          attributes.case === "workflowExecutionUpdateAcceptedEventAttributes"
        ).length;
        assert.ok(accepted <= updates, `${accepted} updates`);
      }
      assert.equal((await health(client, "ada")).operations, 40);
    });
  }
});

test("pitfall: losing state over continue-as-new: the next run gets the whole state, and the account's clock continues", () =>
  withAccounts({ suggestContinueAsNewUpdates: 2 }, async ({ client }) => {
    const account = await openAccount(client, "ada");
    await account.update(updateProfile, { name: "Ada" });
    const created = await stateOf(client, "ada");
    await account.update(changeEmail, "ada@example.com");
    await account.update(suspendNow);
    for (let i = 0; i < 6; i++) await account.update(changeEmail, `ada${i}@example.com`);
    const { updatedAt: _, ...user } = await stateOf(client, "ada");
    assert.deepEqual(user, {
      status: "SUSPENDED",
      profile: { name: "Ada" },
      pendingEmail: "ada5@example.com",
      createdAt: created.createdAt,
    });
    assert.deepEqual(
      await health(client, "ada").then(({ generation, operations }) => [generation, operations]),
      [5, 9],
    );
  }));
