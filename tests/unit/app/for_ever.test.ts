// Timers and timeouts of any finite length are accepted.
import assert from "node:assert/strict";
import { test } from "node:test";
import { open, silentLogger } from "../../../ts/mod.ts";
import { forEver, wake } from "./workflows/for_ever.ts";

test("timers and timeouts that are too long for protobuf do not fail the workflow task", {
  timeout: 60_000,
}, async () => {
  const workflows = new URL("./workflows/for_ever.ts", import.meta.url);
  const app = await open({ workflows, activities: { one: () => 7 }, logger: silentLogger });
  try {
    const handle = await app.client.start(forEver, { id: "w" });
    await handle.signal(wake);
    assert.equal(await handle.result(), 7);
  } finally {
    await app.close();
  }
});
