// The way to a place where code waits. Not among the cases, because in a browser's bundle our
// frames and the user's are in one file.
import assert from "node:assert/strict";
import { test } from "node:test";
import { sleep, workflow } from "../../../ts/workflow/mod.ts";
import { drive } from "../../cases/driver.ts";

async function inner(): Promise<void> {
  await sleep(1000);
}
const outer = async () => void (await inner());

test("__stack_trace shows the complete call path to a wait, not only its last frame", async () => {
  const d = await drive(workflow("W", () => outer()));
  await d.task();
  const { ok, value, message } = await d.query("__stack_trace");
  assert.ok(ok, message);
  assert.match(String(value), /\binner\b[^]*\bouter\b/);
  d.parts.runner.dispose();
});
