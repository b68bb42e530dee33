// The register of waiting calls: deadlines, long polls, signals, ids.
import assert from "node:assert/strict";
import { test } from "node:test";
import { delay } from "@std/async/delay";
import { create, toBinary } from "@bufbuild/protobuf";
import {
  PollWorkflowExecutionUpdateRequestSchema,
  UpdateWorkflowExecutionRequestSchema,
} from "../../../ts/messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { Calls } from "../../../ts/engine/calls.ts";
import { EmbeddedEngine, MemoryStore } from "../../../ts/engine/mod.ts";
import type { CallOptions, MethodName, ServiceError } from "../../../ts/service/raw.ts";
import { typedService } from "../../../ts/service/typed.ts";
import { until } from "../../support/until.ts";

const EMPTY = new Uint8Array(0);

function register() {
  const log: string[] = [];
  const calls = new Calls({
    cancel: (id) => log.push(`cancel ${id}`),
    expire: (id) => log.push(`expire ${id}`),
  }, {
    pollActivityTaskQueue: 20,
  });
  const add = (method: MethodName, options: CallOptions = {}) =>
    calls.add(
      method,
      EMPTY,
      options,
      () => log.push("resolved"),
      (e: ServiceError) => log.push(`rejected ${e.code}`),
    );
  return { calls, log, add };
}

test("a deadline rejects the call once and notifies the engine", async () => {
  const { calls, log, add } = register();
  const never = add("queryWorkflow", { timeoutMs: 3_600_000 });
  const soon = add("queryWorkflow", { timeoutMs: 10 });
  const done = add("queryWorkflow", { timeoutMs: 10 });
  calls.take(done)!.resolve(EMPTY);
  await until("the first deadline", () => log.length === 3);
  assert.deepEqual(log, ["resolved", "rejected 4", `cancel ${soon}`]);
  assert.equal(calls.take(soon), undefined);
  // The order is the same if the process is suspended until both deadlines have passed.
  const first = add("queryWorkflow", { timeoutMs: 10 });
  const second = add("queryWorkflow", { timeoutMs: 30 });
  await until("the others", () => log.length === 7);
  assert.deepEqual(log.slice(3), [
    "rejected 4",
    `cancel ${first}`,
    "rejected 4",
    `cancel ${second}`,
  ]);
  assert.equal(calls.size, 1);
  assert.ok(calls.take(never));
  calls.close();
});

test("a long poll expires once and stays pending until it gets a response", async () => {
  const { calls, log, add } = register();
  const id = add("pollActivityTaskQueue", { timeoutMs: 3_600_000 });
  add("queryWorkflow");
  await until("the poll is expired", () => log.length > 0);
  await delay(40);
  assert.deepEqual(log, [`expire ${id}`]);
  calls.take(id)!.resolve(EMPTY);
  assert.deepEqual(log, [`expire ${id}`, "resolved"]);
  calls.rejectAll({ code: 14 } as ServiceError);
  calls.close();
});

test("an abort signal cancels all of its calls and no other call", async () => {
  const { calls, log, add } = register();
  const one = new AbortController();
  const ids = [1, 2, 3].map(() => add("queryWorkflow", { signal: one.signal }));
  const other = add("queryWorkflow", { signal: new AbortController().signal });
  calls.take(ids[1]!)!.resolve(EMPTY);
  one.abort();
  assert.deepEqual(log, [
    "resolved",
    "rejected 1",
    `cancel ${ids[0]}`,
    "rejected 1",
    `cancel ${ids[2]}`,
  ]);
  assert.equal(calls.size, 1);
  assert.ok(calls.take(other));
  calls.close();
});

test("a closed register leaves no listener on its callers' signals", async () => {
  const { calls, log, add } = register();
  const one = new AbortController();
  add("queryWorkflow", { signal: one.signal });
  calls.rejectAll({ code: 14 } as ServiceError);
  calls.close();
  one.abort();
  await delay(5);
  assert.deepEqual(log, ["rejected 14"]);
});

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

test("a signal has one listener while its calls are pending, and no listener after the last response", async () => {
  const engine = await EmbeddedEngine.open({ store: new MemoryStore() });
  const service = typedService(engine);
  const { signal, listeners } = countedSignal();
  const poll = { namespace: "default", taskQueue: { name: "q" } };
  const polls = [
    service.pollWorkflowTaskQueue(poll, { signal }),
    service.pollWorkflowTaskQueue(poll, { signal }),
  ];
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

test("the shutdown call of a worker completes its own polls and no other worker's", async () => {
  const engine = await EmbeddedEngine.open({ store: new MemoryStore() });
  try {
    const service = typedService(engine);
    const { namespaceInfo } = await service.describeNamespace({ namespace: "default" });
    assert.equal(namespaceInfo?.capabilities?.workerPollCompleteOnShutdown, true);
    const taskQueue = { name: "q" };
    const ended: string[] = [];
    const poll = (name: string, workerInstanceKey: string, signal?: AbortSignal) =>
      [
        service.pollWorkflowTaskQueue({ namespace: "default", taskQueue, workerInstanceKey }, {
          ...(signal && { signal }),
        }),
        service.pollActivityTaskQueue({ namespace: "default", taskQueue, workerInstanceKey }, {
          ...(signal && { signal }),
        }),
      ].map((answer) =>
        answer.then(({ taskToken }) => void ended.push(`${name} ${taskToken.length}`), () =>
          void ended.push(`${name} refused`))
      );
    const stop = new AbortController();
    const mine = poll("mine", "me");
    const others = [...poll("other", "other", stop.signal), ...poll("nameless", "", stop.signal)];
    await service.shutdownWorker({ namespace: "default", workerInstanceKey: "me", taskQueue: "q" });
    await Promise.all(mine);
    assert.deepEqual(ended, ["mine 0", "mine 0"]);
    // Without a worker key the call completes no polls.
    await service.shutdownWorker({ namespace: "default", taskQueue: "q" });
    await delay(20);
    assert.equal(ended.length, 2);
    stop.abort();
    await Promise.all(others);
  } finally {
    await engine.close();
  }
});

test("canceling an update call or a poll for one names the id of the update, which continues", async () => {
  const { calls } = register();
  const workflowExecution = { workflowId: "wf" };
  const sent = create(UpdateWorkflowExecutionRequestSchema, {
    workflowExecution,
    request: { meta: { updateId: "u" } },
  });
  const polled = create(PollWorkflowExecutionUpdateRequestSchema, {
    updateRef: { updateId: "u", workflowExecution },
  });
  const errors = await Promise.all([
    ["updateWorkflowExecution", toBinary(UpdateWorkflowExecutionRequestSchema, sent)] as const,
    [
      "pollWorkflowExecutionUpdate",
      toBinary(PollWorkflowExecutionUpdateRequestSchema, polled),
    ] as const,
    ["signalWorkflowExecution", EMPTY] as const,
  ].map(([method, request]) =>
    new Promise<string>((resolve) =>
      calls.add(method, request, { timeoutMs: 1 }, () => {}, (e) => resolve(e.message))
    )
  ));
  const goesOn = '; update "u" of workflow "wf" continues; poll its result with this id';
  assert.deepEqual(errors, [
    `updateWorkflowExecution timed out after 1 ms${goesOn}`,
    `pollWorkflowExecutionUpdate timed out after 1 ms${goesOn}`,
    "signalWorkflowExecution timed out after 1 ms",
  ]);
  calls.close();
});
