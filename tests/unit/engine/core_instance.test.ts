// A trap leaves the stack pointer of a core module's instance where it was. Handles created
// afterwards use a new instance; earlier ones keep theirs. The other half of the core has separate
// memory and is not affected. The traps are real: the core is called at the end of its stack.
// process: own (it traps the core)
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type CoreEngine,
  CorePanicError,
  type EngineCore,
  loadCore,
} from "../../../ts/core/mod.ts";
import { workerTrap } from "../../../ts/core/worker_half.ts";
import { EmbeddedEngine, MemoryStore } from "../../../ts/engine/mod.ts";
import { insist, Script } from "./support/script_worker.ts";

/** Calls near the end of the stack, one frame higher each time, until the handle is broken. */
function withoutRoom(engine: CoreEngine, flush: () => unknown = () => engine.flush()): void {
  const dive = (): void => {
    try {
      dive();
    } catch (e) {
      if (engine.poisoned) throw e;
      flush();
    }
  };
  try {
    dive();
  } catch {
    // A CorePanicError, or a RangeError if the stack had no room even for that.
  }
}

/** Counts the instances that are made while `body` runs. */
async function instances(body: () => unknown): Promise<number> {
  const { Instance } = WebAssembly;
  let made = 0;
  WebAssembly.Instance = class extends Instance {
    constructor(...args: ConstructorParameters<typeof Instance>) {
      super(...args);
      made++;
    }
  };
  try {
    await body();
  } finally {
    WebAssembly.Instance = Instance;
  }
  return made;
}

const engineOf = (core: EngineCore) =>
  core.createEngine({ namespace: "default", seed: new Uint8Array(32).fill(7) });

test("handles created after a trap use a new instance; earlier handles keep the old one", async () => {
  const core = await loadCore("engine");
  for (let round = 0; round < 3; round++) {
    const before = engineOf(core);
    const engine = engineOf(core);
    assert.equal(await instances(() => engineOf(core).dispose()), 0, "no trap, no new instance");
    withoutRoom(engine);
    assert.ok(engine.poisoned, "the stack ended inside the core");
    assert.throws(() => engine.flush(), /this handle of the core is poisoned/);
    const other: { engine?: CoreEngine } = {};
    assert.equal(await instances(() => other.engine = engineOf(core)), 1);
    assert.equal(
      await instances(() => engineOf(core).dispose()),
      0,
      "one new instance for all that follows",
    );
    other.engine!.flush();
    before.flush();
    engine.dispose();
    before.dispose();
    other.engine!.dispose();
  }
});

test("a trap in the engine's half does not affect the worker's half: its runs continue in the same instance", async () => {
  const [worker, core] = [await loadCore("worker"), await loadCore("engine")];
  const before = worker.createRun({ namespace: "default" });
  const engine = engineOf(core);
  withoutRoom(engine);
  assert.ok(engine.poisoned);
  assert.equal(typeof before.random(), "number");
  assert.equal(await instances(() => worker.createRun({ namespace: "default" }).dispose()), 0);
  assert.equal(workerTrap(), undefined, "a realm in this thread would not replace itself");
  engine.dispose();
  before.dispose();
});

test("an engine whose core traps continues with a core in a new instance", async () => {
  const real = await loadCore("engine");
  let armed = false;
  const core: EngineCore = {
    ...real,
    createEngine(options) {
      const engine = real.createEngine(options);
      const flush = engine.flush.bind(engine);
      engine.flush = () => {
        if (armed) {
          armed = false;
          withoutRoom(engine, flush);
        }
        return flush();
      };
      return engine;
    },
  };
  const errors: Error[] = [];
  const engine = await EmbeddedEngine.open({
    store: new MemoryStore(),
    core,
    onError: (e) => errors.push(e),
  });
  const script = new Script(engine);
  script.startWorker(2);
  const made = await instances(async () => {
    for (const id of ["a", "b", "c"]) {
      await insist(() => script.start(id, { steps: 2, signals: 1 }));
      armed = true;
      await insist(() => script.signal(id, id, `signal ${id}`));
      assert.deepEqual(await insist(() => script.result(id)), { steps: [1, 2], signals: [id] });
    }
  });
  await script.stopWorker();
  await engine.close();
  assert.equal(errors.length, 3, String(errors));
  assert.ok(
    errors.every((e) => e instanceof CorePanicError || /poisoned/.test(e.message)),
    String(errors),
  );
  assert.equal(made, 3);
});
