// Abort signals of calls: nothing of a call stays behind when it is answered.
import assert from "node:assert/strict";
import { test } from "node:test";
import { EmbeddedEngine, MemoryStore } from "../../ts/engine/mod.ts";
import { typedService } from "../../ts/service/typed.ts";

/** A signal that counts its listeners, and the listeners on signals that those are tied to. */
function countedSignal(): { signal: AbortSignal; listeners(): number } {
  const { signal } = new AbortController();
  let count = 0;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = ((type: "abort", listener: () => void, options: object) => {
    count++;
    add(type, listener, options);
  }) as AbortSignal["addEventListener"];
  signal.removeEventListener = ((type: "abort", listener: () => void) => {
    count--;
    remove(type, listener);
  }) as AbortSignal["removeEventListener"];
  return { signal, listeners: () => count };
}

test("a signal has one listener while calls of it wait, and none after the last was answered", async () => {
  const engine = await EmbeddedEngine.open({ store: new MemoryStore() });
  const service = typedService(engine);
  const { signal, listeners } = countedSignal();
  const poll = { namespace: "default", taskQueue: { name: "q" } };
  const polls = [service.pollWorkflowTaskQueue(poll, { signal }), service.pollWorkflowTaskQueue(poll, { signal })];
  assert.equal(listeners(), 1);
  for (const workflowId of ["1", "2"]) {
    await service.startWorkflowExecution({
      namespace: "default",
      workflowId,
      requestId: workflowId,
      workflowType: { name: "W" },
      taskQueue: { name: "q" },
    }, { signal });
  }
  await Promise.all(polls);
  assert.equal(listeners(), 0);
  const last = countedSignal();
  const waiting = service.pollWorkflowTaskQueue(poll, { signal: last.signal });
  const refused = assert.rejects(waiting, { name: "ServiceError" });
  await engine.close();
  await refused;
  assert.equal(last.listeners(), 0);
});
