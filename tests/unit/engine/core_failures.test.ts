// The engine replaces a core that fails (an internal error) and continues; calls in flight get an
// error. A run that crashes the core each time is quarantined while the others continue. The
// failures are injected into the real core's handle.
import { create, toBinary } from "@bufbuild/protobuf";
import assert from "node:assert/strict";
import { test } from "node:test";
import { delay } from "@std/async/delay";
import {
  type CoreEngine,
  CorePanicError,
  type EngineCore,
  loadCore,
} from "../../../ts/core/mod.ts";
import { EmbeddedEngine, MemoryStore } from "../../../ts/engine/mod.ts";
import type { TransactionCall } from "../../../ts/engine/transaction_messages.ts";
import { SignalWorkflowExecutionRequestSchema } from "../../../ts/messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { ServiceError } from "../../../ts/service/raw.ts";
import { insist, Script } from "./support/script_worker.ts";

type Method = keyof CoreEngine;

/**
 * A core whose engines panic when `fails` says so. As with a real panic, the handle refuses
 * everything afterwards.
 */
async function faulty(
  fails: (method: Method, args: unknown[]) => boolean,
): Promise<EngineCore & { made: number; disposed: number }> {
  const core = await loadCore("engine");
  const made = {
    ...core,
    made: 0,
    disposed: 0,
    createEngine(options: Parameters<EngineCore["createEngine"]>[0]): CoreEngine {
      made.made++;
      const real = core.createEngine(options);
      let poisoned = false;
      return new Proxy(real, {
        get(target, name) {
          if (name === "poisoned") return poisoned;
          const value = target[name as keyof CoreEngine] as unknown;
          if (typeof value !== "function") return value;
          return (...args: unknown[]) => {
            if (name === "dispose") made.disposed++;
            else {
              if (poisoned) throw new Error("this handle of the core is poisoned");
              if (fails(name as Method, args)) {
                poisoned = true;
                throw new CorePanicError(`injected into ${String(name)}`);
              }
            }
            return value.apply(target, args);
          };
        },
      });
    },
  };
  return made;
}

for (const method of ["request", "tick", "flush", "committed", "cancelRequest"] as const) {
  test(`a core failure in ${method} fails its callers and no workflow is lost`, async () => {
    let count = 0;
    // Early, in the middle and late in the scenario.
    const at = method === "tick" || method === "cancelRequest" ? [2] : [3, 30, 60];
    const core = await faulty((name) => name === method && at.includes(++count));
    const store = new MemoryStore();
    const errors: Error[] = [];
    const engine = await EmbeddedEngine.open({ store, core, onError: (e) => errors.push(e) });
    const script = new Script(engine);
    script.startWorker(2);
    const giveUp = async () => {
      for (let i = 0; i < 3; i++) {
        await script.service.pollActivityTaskQueue({
          namespace: "default",
          taskQueue: { name: "unpolled" },
        }, { timeoutMs: 5 })
          .catch(() => {});
      }
    };
    await Promise.all([
      giveUp(),
      ...["a", "b", "c", "d"].map(async (id) => {
        await insist(() => script.start(id, { steps: 4, timers: true, signals: 1 }));
        await insist(() => script.signal(id, id, `signal ${id}`));
        assert.deepEqual(await insist(() => script.result(id)), {
          steps: [1, 2, 3, 4],
          signals: [id],
        });
      }),
    ]);
    await script.stopWorker();
    await engine.close();
    assert.ok(
      errors.length >= 1 && errors.every((e) => e instanceof CorePanicError),
      String(errors),
    );
    assert.equal(core.made, errors.length + 1);
    assert.equal(core.disposed, core.made, "memory of a core that failed is given back");
    assert.equal(store.count(), 4);
  });
}

test("a run that crashes the core on each load is quarantined, and the others continue", async () => {
  const store = new MemoryStore();
  const first = await EmbeddedEngine.open({ store });
  const before = new Script(first);
  for (const id of ["a", "poison", "b"]) await before.start(id, { steps: 2 });
  await first.close();
  const core = await faulty((name, args) => {
    const record = args[0] as { found: boolean; row?: { workflowId: string } };
    return name === "load" && record.found && record.row?.workflowId === "poison";
  });
  const errors: Error[] = [];
  const engine = await EmbeddedEngine.open({ store, core, onError: (e) => errors.push(e) });
  const script = new Script(engine);
  script.startWorker();
  for (const id of ["a", "b"]) {
    assert.deepEqual((await insist(() => script.result(id))).steps, [1, 2]);
  }
  for (let i = 0; i < 2; i++) {
    await assert.rejects(script.signal("poison", 1), (e: unknown) => {
      assert.ok(e instanceof ServiceError && e.code === 14, String(e));
      assert.match(
        e.message,
        /crashes the engine core \(.*injected into load\); the run is quarantined until restart/,
      );
      return true;
    });
  }
  const failures = errors.length;
  assert.ok(failures >= 1 && failures <= 3, String(failures));
  await script.start("c", { steps: 1 });
  assert.deepEqual((await script.result("c")).steps, [1]);
  assert.equal(errors.length, failures);
  await script.stopWorker();
  await engine.close();
  // Nothing of it was touched: a core without the bug takes it up.
  const healed = await EmbeddedEngine.open({ store });
  const after = new Script(healed);
  after.startWorker();
  assert.deepEqual((await after.result("poison")).steps, [1, 2]);
  await after.stopWorker();
  await healed.close();
});

for (const method of ["beginTrial", "tryRequest", "entered", "endTrial"] as const) {
  for (const caught of [false, true]) {
    const name = `a core failure in ${method}${caught ? ", which the function catches," : ""}`;
    test(`${name} rejects the transaction, and the next one works`, async () => {
      let failures = 1;
      const core = await faulty((each) => each === method && failures-- > 0);
      const engine = await EmbeddedEngine.open({
        store: new MemoryStore(),
        core,
        workflows: ({ call }) => ({ call }),
        onError: () => {},
      });
      const script = new Script(engine);
      await script.start("wf", { steps: 1 });
      failures = 1;
      const request = toBinary(
        SignalWorkflowExecutionRequestSchema,
        create(SignalWorkflowExecutionRequestSchema, {
          namespace: "default",
          workflowExecution: { workflowId: "wf" },
          signalName: "x",
        }),
      );
      const send = () =>
        engine.transact((db) => {
          const { call } = db.workflows as { call: TransactionCall };
          try {
            call("signalWorkflowExecution", request);
          } catch (error) {
            if (!caught) throw error;
          }
        });
      await assert.rejects(send(), (e: unknown) => {
        assert.ok(e instanceof ServiceError && e.reason === "CoreFailed", String(e));
        return true;
      });
      await insist(send);
      await engine.close();
    });
  }
}

test("a core that always fails stops the engine with its reason instead of a loop", async () => {
  let broken = false;
  const core = await faulty((name) => broken && (name === "flush" || name === "request"));
  const engine = await EmbeddedEngine.open({ store: new MemoryStore(), core, onError: () => {} });
  const script = new Script(engine);
  await script.start("wf", { steps: 0 });
  broken = true;
  for (let i = 0; i < 200 && engine.failure === undefined; i++) {
    await script.signal("wf", i).catch(() => {});
    await delay(1);
  }
  assert.ok(engine.failure instanceof CorePanicError);
  await assert.rejects(
    script.signal("wf", 0),
    (e: unknown) => e instanceof ServiceError && e.code === 14 && e.reason === "CorePanicError",
  );
  await engine.close();
});

test("an engine whose core fails on every call stops", async () => {
  const core = await faulty((name) => name === "tick");
  const open = EmbeddedEngine.open({ store: new MemoryStore(), core, onError: () => {} });
  await assert.rejects(open, CorePanicError);
  assert.equal(core.made, 101);
});
