// A half of the core is compiled when something needs it, once, and the other one is not.
// process: own (the core is not loaded)
import assert from "node:assert/strict";
import { test } from "node:test";
import { EmbeddedEngine, MemoryStore } from "../../../ts/engine/mod.ts";
import { createInlineRealm, createWorkerRealm } from "../../../ts/realm/mod.ts";
import { workflow } from "../../../ts/workflow/mod.ts";

const workflows = { quick: workflow("Quick", () => Promise.resolve("done")) };
const marks = { run_new: "worker", engine_new: "engine" };

/** The halves that are compiled in this thread while `body` runs. */
async function compiled(body: () => Promise<void>): Promise<string[]> {
  const { Module, compile } = WebAssembly;
  const made: string[] = [];
  const noted = (module: WebAssembly.Module) => {
    for (const { name } of Module.exports(module)) {
      if (Object.hasOwn(marks, name)) made.push(marks[name as keyof typeof marks]);
    }
    return module;
  };
  WebAssembly.Module = new Proxy(Module, {
    construct: (target, args) => noted(Reflect.construct(target, args)),
  });
  WebAssembly.compile = async (...args) => noted(await compile(...args));
  try {
    await body();
  } finally {
    Object.assign(WebAssembly, { Module, compile });
  }
  return made;
}

const openEngine = async () => {
  const engine = await EmbeddedEngine.open({ store: new MemoryStore() });
  await engine.close();
};

// In this order, in one process: what was compiled once stays.
test("an engine compiles only engine.wasm", async () => {
  assert.deepEqual(await compiled(openEngine), ["engine"]);
});

test("the host of a realm compiles only worker.wasm, and an inline realm uses the same module", async () => {
  const made = await compiled(async () => {
    const realm = await createWorkerRealm({
      workflows: new URL("./modules/quick.ts", import.meta.url),
    });
    await realm.dispose();
    await (await createInlineRealm({ workflows })).dispose();
  });
  assert.deepEqual(made, ["worker"]);
});

test("compiled modules are reused", async () => {
  assert.deepEqual(await compiled(openEngine), []);
});
