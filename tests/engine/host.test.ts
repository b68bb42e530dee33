// The host around the core: calls, batches, time, the service's own methods. On the memory store unless the file matters.
import assert from "node:assert/strict";
import { test } from "node:test";
import { EmbeddedEngine, MemoryStore } from "../../ts/engine/mod.ts";
import { Script } from "./support/script_worker.ts";

test("a workflow runs to its end", async () => {
  const engine = await EmbeddedEngine.open({ store: new MemoryStore() });
  const script = new Script(engine);
  script.startWorker();
  await script.start("wf", { steps: 5, timers: true, signals: 1 });
  await script.signal("wf", "hello");
  assert.deepEqual(await script.result("wf"), { steps: [1, 2, 3, 4, 5], signals: ["hello"] });
  await script.stopWorker();
  await engine.close();
});
