// The account as a program of `@temporalio/workflow` (examples/entity/temporal_workflow.ts), on the
// embedded engine and our worker: the same life, practices and pitfalls as in the native one.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Client, WorkflowUpdateRejectedError } from "../../../ts/client/mod.ts";
import type { EngineLimits } from "../../../ts/engine/mod.ts";
import { createWorkerRealm } from "../../../ts/realm/mod.ts";
import { until } from "../../support/until.ts";
import { withEngine } from "../../support/services.ts";
import type { Health, Receipt, User } from "../../../examples/entity/workflow.ts";
import { Gates } from "./entity_support.ts";

const workflows = new URL("../../../examples/entity/temporal_workflow.ts", import.meta.url);
const options = (userId: string) => ({
  id: `user-${userId}`,
  args: [userId],
  idConflictPolicy: "USE_EXISTING" as const,
  idReusePolicy: "REJECT_DUPLICATE" as const,
});

interface Account {
  readonly client: Client;
  readonly gates: Gates;
  update(name: string, args: unknown[], updateId?: string): Promise<Receipt>;
  signal(name: string): Promise<void>;
  state(): Promise<User>;
  health(): Promise<Health>;
}

function withAccount(
  limits: EngineLimits,
  body: (account: Account) => Promise<void>,
): Promise<void> {
  return withEngine("memory", { limits }, async ({ client, work }) => {
    const gates = new Gates();
    const handle = client.getHandle("userAccount", "user-ada");
    try {
      await work({ workflows, activities: gates.activities }, async () => {
        await client.start("userAccount", options("ada"));
        await body({
          client,
          gates,
          update: (name, args, updateId) =>
            handle.executeUpdate(name, {
              args,
              ...(updateId !== undefined && { updateId }),
            }) as Promise<Receipt>,
          signal: (name) => handle.signal(name),
          state: () => handle.query("getState") as Promise<User>,
          health: () => handle.query("getHealth") as Promise<Health>,
        });
      });
    } finally {
      gates.openAll();
    }
  });
}

test("as a Temporal program: an account is started by a message, changed and deleted", () =>
  withAccount({}, async ({ client, gates, update, signal, state }) => {
    await client.signalWithStart("userAccount", { ...options("ada"), signal: "suspend" });
    await until("it is suspended", async () => (await state()).status === "SUSPENDED");
    assert.deepEqual(await update("reactivate", []), { status: "ACTIVE", operation: 2 });
    const joined = await client.executeUpdateWithStart("userAccount", {
      ...options("ada"),
      update: "updateProfile",
      updateArgs: [{ name: "Ada" }],
    });
    assert.deepEqual(joined, { status: "ACTIVE", operation: 3 });
    assert.deepEqual(await update("changeEmail", ["ada@example.com"]), {
      status: "ACTIVE",
      operation: 4,
    });
    await assert.rejects(update("updateProfile", [{ name: "" }]));
    assert.deepEqual(await update("suspend", []), { status: "SUSPENDED", operation: 5 });
    gates.held.add("eraseData");
    await signal("delete");
    await gates.reached("eraseData");
    await assert.rejects(
      update("changeEmail", ["a@b"]),
      (error) => error instanceof WorkflowUpdateRejectedError && /deleted/.test(error.message),
    );
    gates.openAll();
    const last = await client.getHandle("userAccount", "user-ada").result() as User;
    assert.deepEqual([last.status, last.profile, last.pendingEmail, typeof last.deletedAt], [
      ...["DELETED", { name: "Ada" }, "ada@example.com", "number"],
    ]);
    await assert.rejects(client.start("userAccount", options("ada")), /already exists/);
  }));

test("as a Temporal program: runs continue as new when suggested, keep the whole state, and replay", () =>
  withAccount(
    { suggestContinueAsNewUpdates: 10 },
    async ({ client, update, signal, state, health }) => {
      const { createdAt } = await state();
      await update("changeEmail", ["ada@example.com"]);
      await update("suspend", []);
      for (let i = 0; i < 28; i++) await update("updateProfile", [{ name: `Ada ${i}` }]);
      assert.deepEqual(
        await health().then(({ generation, operations }) => [generation, operations]),
        [4, 30],
      );
      const { updatedAt: _, ...user } = await state();
      assert.deepEqual(user, {
        status: "SUSPENDED",
        profile: { name: "Ada 27" },
        pendingEmail: "ada@example.com",
        createdAt,
      });
      await signal("delete");
      const handle = client.getHandle("userAccount", "user-ada");
      await handle.result();
      const realm = await createWorkerRealm({ workflows });
      try {
        let replayed = 0;
        for await (const { runId } of client.list('WorkflowId = "user-ada"')) {
          const history = await client.getHandle("userAccount", "user-ada", runId).historyBytes();
          const { verdict, error } = await realm.replay("user-ada", history);
          assert.equal(verdict, "ok", error?.message);
          replayed++;
        }
        assert.equal(replayed, 4);
      } finally {
        await realm.dispose();
      }
    },
  ));

test("as a Temporal program: accepted updates complete before continue-as-new; later runs know their ids", () =>
  withAccount({ suggestContinueAsNewUpdates: 5 }, async ({ gates, update, health, state }) => {
    gates.held.add("validateProfile");
    const results = Array.from(
      { length: 8 },
      (_, i) => update("updateProfile", [{ name: `Ada ${i}` }], `id-${i}`),
    );
    await gates.reached("validateProfile");
    gates.openAll();
    const first = await Promise.all(results);
    assert.deepEqual(first.map(({ operation }) => operation).sort(), [1, 2, 3, 4, 5, 6, 7, 8]);
    for (let i = 0; i < 40; i++) await update("suspend", []);
    const { generation } = await health();
    assert.ok(generation >= 8, `${generation} generations`);
    const { profile } = await state();
    for (let i = 0; i < 8; i++) {
      assert.deepEqual(
        await update("updateProfile", [{ name: "Another name" }], `id-${i}`),
        first[i],
      );
    }
    assert.deepEqual((await state()).profile, profile);
    assert.equal((await health()).operations, 9);
  }));
