// The practices of the entity pattern, each on the account of examples/entity and the embedded
// engine (docs/entities.md).
// takes: 4 s
import assert from "node:assert/strict";
import { test } from "node:test";
import { accountOf, block, openAccount, saveProfile } from "../../../examples/entity/accounts.ts";
import * as activities from "../../../examples/entity/activities.ts";
import {
  changeEmail,
  deleteAccount,
  getState,
  reactivate,
  reactivateNow,
  suspend,
  suspendNow,
  updateProfile,
  userAccount,
} from "../../../examples/entity/workflow.ts";
import { externalStorage } from "../../../examples/external_storage/codec.ts";
import {
  silentLogger,
  WorkflowExecutionAlreadyStartedError,
  WorkflowFailedError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRejectedError,
} from "../../../ts/client/mod.ts";
import { ApplicationFailure, TimeoutFailure } from "../../../ts/converter/mod.ts";
import { createInlineRealm } from "../../../ts/realm/mod.ts";
import { TestEnvironment } from "../../../ts/testing/mod.ts";
import { definitions, generations, health, stateOf, withAccounts } from "./entity_support.ts";
import { until } from "../../support/until.ts";

const isType = (type: string) => (error: unknown) => {
  assert.ok(
    error instanceof WorkflowUpdateRejectedError || error instanceof WorkflowUpdateFailedError,
    String(error),
  );
  let cause: unknown = error.cause;
  while (cause instanceof Error && !(cause instanceof ApplicationFailure)) cause = cause.cause;
  assert.equal((cause as ApplicationFailure)?.type, type);
  return true;
};

test("an account goes through every state and transition with the expected fields", () =>
  withAccounts({}, async ({ client, gates }) => {
    const before = Date.now();
    const account = await openAccount(client, "ada");
    const created = await stateOf(client, "ada");
    assert.equal(created.status, "ACTIVE");
    assert.ok(created.createdAt >= before - 1000 && created.updatedAt === created.createdAt);
    assert.deepEqual(await account.update(updateProfile, { name: "Ada" }), {
      status: "ACTIVE",
      operation: 1,
    });
    await account.signal(suspend);
    await until("the mail was sent", () => gates.notified.length === 1);
    assert.equal((await stateOf(client, "ada")).status, "SUSPENDED");
    assert.deepEqual(
      await account.update(suspendNow),
      { status: "SUSPENDED", operation: 2 },
      "suspended already: nothing happens",
    );
    assert.deepEqual(await account.update(reactivateNow), { status: "ACTIVE", operation: 3 });
    assert.deepEqual(await account.update(suspendNow), { status: "SUSPENDED", operation: 4 });
    await account.signal(reactivate);
    await account.signal(reactivate);
    assert.deepEqual(await account.update(changeEmail, "ada@example.com"), {
      status: "ACTIVE",
      operation: 6,
    });
    const { createdAt, updatedAt, ...rest } = await stateOf(client, "ada");
    assert.deepEqual(rest, {
      status: "ACTIVE",
      profile: { name: "Ada" },
      pendingEmail: "ada@example.com",
    });
    assert.ok(createdAt === created.createdAt && updatedAt >= createdAt);
    await account.signal(deleteAccount);
    const last = await account.result();
    assert.equal(last.status, "DELETED");
    assert.ok(last.deletedAt! >= updatedAt && last.updatedAt === last.deletedAt);
    assert.deepEqual(last.profile, { name: "Ada" });
    await until("all mails were sent", () => gates.notified.length === 4);
    assert.deepEqual(
      gates.notified.map((text) => text.replace("to ada: your account is ", "")).sort(),
      [
        ...["ACTIVE", "ACTIVE", "SUSPENDED", "SUSPENDED"],
      ],
    );
  }));

test("practice: use the entity id as the workflow id: starts use one run, and a deleted entity is not created again", () =>
  withAccounts({}, async ({ client }) => {
    const handles = await Promise.all(Array.from({ length: 10 }, () => openAccount(client, "ada")));
    assert.equal(new Set(handles.map(({ runId }) => runId)).size, 1);
    await block(client, "ada");
    await saveProfile(client, "ada", { name: "Ada" });
    assert.equal(
      (await generations(client, "ada")).length,
      1,
      "signal-with-start and update-with-start take the run that is there",
    );
    await block(client, "bob");
    await until(
      "one that is not there begins",
      async () => (await stateOf(client, "bob")).status === "SUSPENDED",
    );
    assert.equal((await saveProfile(client, "eve", { name: "Eve" })).operation, 1);
    await assert.rejects(
      client.start(userAccount, { id: "user-ada", args: ["ada"], idConflictPolicy: "FAIL" }),
      WorkflowExecutionAlreadyStartedError,
    );
    await handles[0]!.signal(deleteAccount);
    await handles[0]!.result();
    for (
      const again of [
        openAccount,
        block,
        (c: typeof client, id: string) => saveProfile(c, id, { name: "A" }),
      ]
    ) {
      await assert.rejects(again(client, "ada"), WorkflowExecutionAlreadyStartedError);
    }
  }));

test("practice: implement continue-as-new: after 1,000 operations, by the engine's suggestion, with the whole state", () =>
  withAccounts(
    { suggestContinueAsNewUpdates: 1000, suggestContinueAsNewEvents: 40_000 },
    async ({ client }) => {
      const account = await openAccount(client, "ada");
      const { createdAt } = await stateOf(client, "ada");
      await account.update(changeEmail, "ada@example.com");
      await account.update(suspendNow);
      let next = 2;
      const caller = async () => {
        while (next < 990) await account.update(updateProfile, { name: `Ada ${++next}` });
      };
      await Promise.all(Array.from({ length: 8 }, caller));
      while (next < 999) await account.update(updateProfile, { name: `Ada ${++next}` });
      assert.deepEqual(
        await health(client, "ada").then(({ generation, operations }) => [generation, operations]),
        [1, 999],
      );
      await account.update(updateProfile, { name: "Ada 1000" });
      assert.deepEqual(
        await health(client, "ada").then(({ generation, operations }) => [generation, operations]),
        [2, 1000],
      );
      const { updatedAt, ...user } = await stateOf(client, "ada");
      assert.deepEqual(user, {
        status: "SUSPENDED",
        profile: { name: "Ada 1000" },
        pendingEmail: "ada@example.com",
        createdAt,
      });
      assert.ok(updatedAt >= createdAt);
      const runs = await generations(client, "ada");
      assert.deepEqual(
        await Promise.all(runs.map((run) => run.describe().then(({ status }) => status))),
        [
          "CONTINUED_AS_NEW",
          "RUNNING",
        ],
      );
      assert.deepEqual(await account.update(reactivateNow), { status: "ACTIVE", operation: 1001 });
    },
  ));

test("practice: validate in updates: a rejection by an activity changes no state, and a deleted account accepts no update", () =>
  withAccounts({}, async ({ client, gates }) => {
    const account = await openAccount(client, "ada");
    await account.update(updateProfile, { name: "Ada" });
    await assert.rejects(account.update(updateProfile, { name: " " }), isType("InvalidProfile"));
    await assert.rejects(account.update(changeEmail, "nowhere"), isType("InvalidEmail"));
    assert.deepEqual((await stateOf(client, "ada")).profile, { name: "Ada" });
    assert.equal((await health(client, "ada")).operations, 1);
    // While its data is erased, the account is there to say that it is gone: the validator does,
    // and history gets nothing of it.
    gates.held.add("eraseData");
    await account.signal(deleteAccount);
    await gates.reached("eraseData");
    const { historyLength } = await account.describe();
    for (
      const refused of [
        account.update(updateProfile, { name: "A" }),
        account.update(suspendNow),
        account.update(changeEmail, "a@b"),
      ]
    ) {
      await assert.rejects(
        refused,
        (error) => error instanceof WorkflowUpdateRejectedError && isType("AccountDeleted")(error),
      );
    }
    assert.equal((await account.describe()).historyLength, historyLength);
    await gates.open("eraseData");
    await account.result();
    await assert.rejects(account.update(updateProfile, { name: "A" }), WorkflowNotFoundError);
  }));

test("practice: validate in updates: an update accepted before a queued deletion fails in its handler", () =>
  withAccounts({}, async ({ client, gates }) => {
    const account = await openAccount(client, "ada");
    gates.held.add("validateProfile");
    const first = account.update(updateProfile, { name: "Ada" });
    await gates.reached("validateProfile");
    await account.signal(deleteAccount);
    const late = await account.startUpdate(updateProfile, {
      args: [{ name: "Late" }],
      waitFor: "accepted",
    });
    gates.openAll();
    assert.deepEqual(await first, { status: "ACTIVE", operation: 1 });
    await assert.rejects(late.result(), isType("AccountDeleted"));
    assert.deepEqual((await account.result()).profile, { name: "Ada" });
  }));

test("practice: use signals for events: they need no response and no running worker", async () => {
  const env = await TestEnvironment.create({ logger: silentLogger });
  try {
    await block(env.client, "ada");
    const account = accountOf(env.client, "ada");
    await account.signal(reactivate);
    await account.signal(suspend);
    await account.signal(deleteAccount);
    await env.runWorker({ workflows: definitions, activities }, async () => {
      const { status, deletedAt } = await account.result();
      assert.deepEqual([status, typeof deletedAt], ["DELETED", "number"]);
    });
  } finally {
    await env.dispose();
  }
});

test("practice: keep state minimal: large data is stored elsewhere, and history contains references", async () => {
  const blobs = new Map<string, Uint8Array>();
  const store = {
    put: async (name: string, bytes: Uint8Array) => void blobs.set(name, bytes),
    get: async (name: string) => blobs.get(name),
  };
  const codec = externalStorage(store, { aboveBytes: 1000 });
  const env = await TestEnvironment.create({
    logger: silentLogger,
    codec,
    limits: { suggestContinueAsNewUpdates: 5 },
  });
  try {
    await env.runWorker({ workflows: definitions, activities }, async () => {
      for (let i = 0; i < 12; i++) {
        await saveProfile(env.client, "ada", { name: `Ada ${i}`, about: "x".repeat(1_000_000) });
      }
      const account = accountOf(env.client, "ada");
      assert.equal((await health(env.client, "ada")).generation, 3);
      assert.equal((await stateOf(env.client, "ada")).profile?.about?.length, 1_000_000);
      for (const run of await generations(env.client, "ada")) {
        const { historySizeBytes } = await run.describe();
        assert.ok(historySizeBytes < 20_000, `${historySizeBytes} bytes`);
      }
      assert.ok(blobs.size >= 12);
      await account.terminate();
    });
  } finally {
    await env.dispose();
  }
});

test("practice: add queries: they read the current account in every generation and after its end, and change nothing", () =>
  withAccounts({ suggestContinueAsNewUpdates: 3 }, async ({ client }) => {
    const account = await openAccount(client, "ada");
    for (let i = 1; i <= 7; i++) {
      await account.update(updateProfile, { name: `Ada ${i}` });
      assert.equal((await stateOf(client, "ada")).profile?.name, `Ada ${i}`);
    }
    const { historyLength } = await account.describe();
    for (let i = 0; i < 5; i++) await stateOf(client, "ada");
    assert.equal((await account.describe()).historyLength, historyLength);
    const [first] = await generations(client, "ada");
    assert.equal(
      (await first!.query(getState)).profile?.name,
      "Ada 3",
      "a closed generation returns its last state",
    );
    await account.signal(deleteAccount);
    await account.result();
    assert.equal((await stateOf(client, "ada")).status, "DELETED");
  }));

test("practice: handle deletion: work in flight completes first, and the account's mails continue without it", () =>
  withAccounts({}, async ({ client, gates }) => {
    const account = await openAccount(client, "ada");
    gates.held.add("sendNotification").add("validateProfile");
    await account.signal(suspend);
    await gates.reached("sendNotification");
    const changing = account.update(updateProfile, { name: "Ada" });
    await gates.reached("validateProfile");
    await account.signal(deleteAccount);
    await account.signal(deleteAccount);
    await gates.open("validateProfile");
    assert.equal((await changing).operation, 2);
    assert.equal((await account.result()).status, "DELETED");
    assert.equal(
      gates.calls.filter((name) => name === "eraseData").length,
      1,
      "two signals are one deletion",
    );
    const mail = client.getHandle("NotifyUser", "user-ada-mail-0");
    assert.equal(
      (await mail.describe()).status,
      "RUNNING",
      "ABANDON: the parent's end does not end it",
    );
    gates.openAll();
    assert.equal(await mail.result(), "to ada: your account is SUSPENDED");
  }));

test("practice: version carefully: every generation replays, so that a code change can be checked before its deployment", () =>
  withAccounts({ suggestContinueAsNewUpdates: 10 }, async ({ client }) => {
    const account = await openAccount(client, "ada");
    for (let i = 0; i < 25; i++) await account.update(i % 5 === 0 ? suspendNow : reactivateNow);
    await account.signal(deleteAccount);
    await account.result();
    const runs = await generations(client, "ada");
    assert.equal(runs.length, 3);
    const realm = await createInlineRealm({ workflows: definitions });
    try {
      for (const run of runs) {
        const { verdict, error } = await realm.replay("user-ada", await run.historyBytes());
        assert.equal(verdict, "ok", error?.message);
      }
    } finally {
      await realm.dispose();
    }
    assert.equal(
      userAccount.versioningBehavior,
      "AUTO_UPGRADE",
      "tests/system/interop/entity.test.ts upgrades it on a server",
    );
  }));

test("practice: set timeouts: the execution timeout covers all generations, a run timeout covers one", async () => {
  const env = await TestEnvironment.create({
    logger: silentLogger,
    limits: { suggestContinueAsNewUpdates: 2 },
  });
  try {
    await env.runWorker({ workflows: definitions, activities }, async () => {
      const { client } = env;
      const account = await openAccount(client, "ada");
      for (let i = 0; i < 5; i++) {
        await account.update(updateProfile, { name: `Ada ${i}` });
        await env.advance("600 days");
      }
      assert.equal((await health(client, "ada")).generation, 3);
      await env.advance("649 days");
      assert.equal((await accountOf(client, "ada").describe()).status, "RUNNING");
      await env.advance("2 days");
      await assert.rejects(
        account.result(),
        (error) => error instanceof WorkflowFailedError && error.cause instanceof TimeoutFailure,
      );
      // A generation that waits for its next message for longer than a run may take is lost: an
      // entity wants none, or a long one.
      const short = await client.start(userAccount, {
        id: "user-eve",
        args: ["eve"],
        runTimeout: "10 days",
      });
      for (let i = 0; i < 4; i++) {
        await env.advance("4 days");
        await short.update(updateProfile, { name: `Eve ${i}` });
      }
      assert.equal((await health(client, "eve")).generation, 3);
      await env.advance("11 days");
      await assert.rejects(short.result(), WorkflowFailedError);
    });
  } finally {
    await env.dispose();
  }
});

test("practice: monitor the history size: the account and the service report how near the next generation is", () =>
  withAccounts({ suggestContinueAsNewEvents: 200 }, async ({ client }) => {
    const account = await openAccount(client, "ada");
    const seen: number[] = [];
    for (let i = 0; i < 60; i++) {
      await account.update(updateProfile, { name: `Ada ${i}` });
      const { generation, historyEvents, historyBytes } = await health(client, "ada");
      if (generation > 1) break;
      const described = await account.describe();
      assert.ok(
        historyEvents <= described.historyLength && described.historyLength - historyEvents < 20,
      );
      assert.ok(historyBytes > 0 && historyBytes <= described.historySizeBytes);
      seen.push(historyEvents);
    }
    assert.ok(seen.some((events) => events >= 160), "an alert at four fifths has its moment");
    assert.ok(seen.every((events, i) => i === 0 || events > seen[i - 1]!));
    const { generation, historyEvents } = await health(client, "ada");
    assert.ok(generation === 2 && historyEvents < 20, `${generation} ${historyEvents}`);
  }));
