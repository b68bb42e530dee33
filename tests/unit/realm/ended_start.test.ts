// A realm that is ended while it starts: what is at the top level of its modules may compute for
// long.
import assert from "node:assert/strict";
import { test } from "node:test";
import { RealmDisposedError } from "../../../ts/realm/realm.ts";
import { createWorkerRealm } from "../../../ts/realm/mod.ts";

const NEVER_MS = 600_000;

test("a realm can be disposed at any point while its modules load", async () => {
  for (const afterMs of [undefined, 0, 300]) {
    const ended = new AbortController();
    if (afterMs === undefined) ended.abort();
    const starting = createWorkerRealm({
      workflows: "spins.ts",
      sources: { "spins.ts": "export const n = 1;\nfor (let i = 0; i < 5e9; i++);\n" },
      startupMs: NEVER_MS,
      signal: ended.signal,
    });
    if (afterMs !== undefined) setTimeout(() => ended.abort(), afterMs);
    await assert.rejects(starting, RealmDisposedError);
  }
});
