// Every call of the client on the embedded engine, and its limits.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ServiceError } from "../../ts/client/mod.ts";
import { signal, waitForSignal, workflow } from "../../ts/workflow/mod.ts";
import { clientSuite } from "../suites/client_suite.ts";
import { onBothStores, withEngine } from "../support/services.ts";

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
    await assert.rejects(handle.signal(finish, "one too many"), (error) => error instanceof ServiceError && error.code === 8);
  }));
