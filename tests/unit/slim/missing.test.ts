// "temporalex/slim" without a source for the half of the core that is needed: the error names the
// file and what needs it, and the other half is not asked for. What was missing can be given later.
// process: own (the core is not loaded)
import assert from "node:assert/strict";
import { test } from "node:test";
import { wasmBase64 } from "../../../ts/core/generated/engine_wasm.ts";
import { MemoryStore } from "../../../ts/engine/names.ts";
import {
  CoreLoadError,
  createWorkerRealm,
  EmbeddedEngine,
  open,
  silentLogger,
  useCore,
} from "../../../ts/slim/mod.ts";

const workflows = new URL("./modules/quick.ts", import.meta.url);

test("without sources, the errors name engine.wasm for an engine and worker.wasm for workflow code", async () => {
  const named = (start: RegExp) => (e: unknown) =>
    e instanceof CoreLoadError && start.test(e.message);
  const engine = named(
    /^the embedded engine needs engine\.wasm, but its source is not set: call useCore\({ engine: ... }\)/,
  );
  const worker = named(
    /^workflow code needs worker\.wasm, but its source is not set: call useCore\({ worker: ... }\)/,
  );
  await assert.rejects(EmbeddedEngine.open({ store: new MemoryStore() }), engine);
  await assert.rejects(createWorkerRealm({ workflows }), worker);
  useCore({ engine: Uint8Array.from(atob(wasmBase64), (c) => c.charCodeAt(0)) });
  await (await EmbeddedEngine.open({ store: new MemoryStore() })).close();
  await assert.rejects(open({ workflows, logger: silentLogger }), worker);
  // Activities alone run no workflow code.
  await (await open({ activities: { nothing: () => Promise.resolve() }, logger: silentLogger }))
    .close();
});
