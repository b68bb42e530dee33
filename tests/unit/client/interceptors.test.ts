// Interceptors of the client: what they see and may change of each operation, their order, and that
// a repeated one stays one.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type AnyClientInput,
  Client,
  type ClientInterceptor,
  silentLogger,
} from "../../../ts/client/mod.ts";
import { defaultPayloadConverter } from "../../../ts/converter/mod.ts";
import { UpdateWorkflowExecutionLifecycleStage as Stage } from "../../../ts/messages/generated/temporal/api/enums/v1/update_pb.ts";
import { ScriptedService, unavailable } from "../../support/scripted_service.ts";

const payload = (value: unknown) => defaultPayloadConverter.toPayload(value);
const payloads = (...values: unknown[]) => ({ payloads: values.map(payload) });
const RUN = { runId: "r", firstExecutionRunId: "r", started: true };

function scripted(): ScriptedService {
  return new ScriptedService()
    .on("startWorkflowExecution", () => RUN)
    .on("signalWithStartWorkflowExecution", () => RUN)
    .on("signalWorkflowExecution", () => ({}))
    .on("requestCancelWorkflowExecution", () => ({}))
    .on("terminateWorkflowExecution", () => ({}))
    .on("queryWorkflow", () => ({ queryResult: payloads("answer") }))
    .on(
      "updateWorkflowExecution",
      () => ({
        stage: Stage.COMPLETED,
        outcome: { value: { case: "success", value: payloads(3) } },
      }),
    )
    .on(
      "describeWorkflowExecution",
      () => ({ workflowExecutionInfo: { execution: { workflowId: "w", runId: "r" } } }),
    )
    .on("listWorkflowExecutions", (_request, _options, attempt) => ({
      executions: [{ execution: { workflowId: `w${attempt}` } }],
      nextPageToken: new Uint8Array(attempt < 2 ? 1 : 0),
    }))
    .on("countWorkflowExecutions", () => ({ count: 7n }));
}
const client = (service: ScriptedService, ...interceptors: ClientInterceptor[]) =>
  new Client({
    service,
    taskQueue: "q",
    logger: silentLogger,
    interceptors,
    retry: { initialIntervalMs: 1, maximumIntervalMs: 2 },
  });

test("headers that interceptors set travel with starts, signals, queries and updates", async () => {
  const service = scripted();
  const tenant: ClientInterceptor = {
    any(call, next) {
      if ("headers" in call.input) call.input.headers["tenant"] = payload(call.operation);
      return next();
    },
  };
  const handle = await client(service, tenant).start("Order", { id: "w" });
  await client(service, tenant).signalWithStart("Order", { id: "w", signal: "go" });
  await handle.signal("go");
  assert.equal(await handle.query("state"), "answer");
  assert.equal(await handle.update("add", 1), 3);
  const value = (header: { fields: { [name: string]: ReturnType<typeof payload> } } | undefined) =>
    defaultPayloadConverter.fromPayload(header!.fields["tenant"]!);
  assert.equal(value(service.requests("startWorkflowExecution")[0]!.header), "start");
  assert.equal(
    value(service.requests("signalWithStartWorkflowExecution")[0]!.header),
    "signalWithStart",
  );
  assert.equal(value(service.requests("signalWorkflowExecution")[0]!.header), "signal");
  assert.equal(value(service.requests("queryWorkflow")[0]!.query?.header), "query");
  assert.equal(
    value(service.requests("updateWorkflowExecution")[0]!.request?.input?.header),
    "update",
  );
});

test("without headers no request has any", async () => {
  const service = scripted();
  const handle = await client(service).start("Order", { id: "w" });
  await handle.signal("go");
  assert.equal(service.requests("startWorkflowExecution")[0]!.header, undefined);
  assert.equal(service.requests("signalWorkflowExecution")[0]!.header, undefined);
});

test("`any` sees every operation, outermost first, around the operation's own method", async () => {
  const service = scripted();
  const seen: string[] = [];
  const named = (name: string): ClientInterceptor => ({
    async any(call: AnyClientInput, next) {
      seen.push(`${name} ${call.operation}`);
      const answer = await next();
      seen.push(`${name} after`);
      return answer;
    },
    signal(input, next) {
      seen.push(`${name}'s own ${input.signalName}`);
      return next(input);
    },
  });
  const both = client(service, named("outer"), named("inner"));
  const handle = both.getHandle("Order", "w", "r");
  await handle.signal("go");
  assert.deepEqual(seen, [
    "outer signal",
    "outer's own go",
    "inner signal",
    "inner's own go",
    "inner after",
    "outer after",
  ]);
  seen.length = 0;
  await handle.cancel("why");
  await handle.terminate("why", 1);
  assert.equal((await handle.describe()).workflowId, "w");
  assert.equal(await both.count("x"), 7);
  const ids = [];
  for await (const run of both.list("x")) ids.push(run.workflowId);
  assert.deepEqual(ids, ["w1", "w2"]);
  const operations = seen.filter((line) => /^outer (?!after)/.test(line)).map((line) =>
    line.slice(6)
  );
  assert.deepEqual(operations, ["cancel", "terminate", "describe", "count", "list", "list"]);
});

test("an interceptor changes requests and responses", async () => {
  const service = scripted();
  const changing: ClientInterceptor = {
    start: (input, next) =>
      next({
        ...input,
        args: ["other"],
        options: { ...input.options, id: "elsewhere", memo: { by: "interceptor" } },
      }),
    signal: (input, next) =>
      next({ ...input, workflowId: "s", runId: "run-s", args: [...input.args, 2] }),
    query: async (input, next) => `${await next(input)}!`,
    count: () => Promise.resolve({ count: 42, groups: [] }),
  };
  const changed = client(service, changing);
  const handle = await changed.start("Order", { id: "w", args: ["mine"] });
  assert.equal(handle.workflowId, "elsewhere");
  const [start] = service.requests("startWorkflowExecution");
  assert.equal(start!.workflowId, "elsewhere");
  assert.equal(defaultPayloadConverter.fromPayload(start!.input!.payloads[0]!), "other");
  assert.equal(defaultPayloadConverter.fromPayload(start!.memo!.fields["by"]!), "interceptor");
  await handle.signal("go", 1);
  const [signal] = service.requests("signalWorkflowExecution");
  assert.deepEqual([signal!.workflowExecution!.workflowId, signal!.workflowExecution!.runId], [
    "s",
    "run-s",
  ]);
  assert.equal(signal!.input!.payloads.length, 2);
  assert.equal(await handle.query("state"), "answer!");
  assert.equal(await changed.count(), 42);
  assert.equal(service.requests("countWorkflowExecutions").length, 0);
});

test("an operation that an interceptor repeats keeps its ids, so it is applied once", async () => {
  let refused = 0;
  const service = scripted()
    .on("startWorkflowExecution", () => refused++ < 1 ? unavailable() : RUN)
    .on("signalWorkflowExecution", () => refused++ < 3 ? unavailable() : {});
  const again: ClientInterceptor["any"] = (_call, next) => next().catch(next);
  const once = new Client({
    service,
    taskQueue: "q",
    interceptors: [{ any: again }],
    retry: { maximumAttempts: 1 },
  });
  const handle = await once.start("Order", { id: "w" });
  refused = 2;
  await handle.signal("go");
  for (const method of ["startWorkflowExecution", "signalWorkflowExecution"] as const) {
    const ids = service.requests(method).map((request) => request.requestId);
    assert.equal(ids.length, 2);
    assert.equal(ids[0], ids[1]);
    assert.notEqual(ids[0], "");
  }
});

test("an error of an interceptor reaches the caller, also a synchronous one, and nothing is sent", async () => {
  const service = scripted();
  const guarded = client(service, {
    start(): never {
      throw new Error("not for this tenant");
    },
  });
  await assert.rejects(guarded.start("Order", { id: "w" }), /not for this tenant/);
  assert.equal(service.calls.length, 0);
});

test("a misspelled interceptor method is rejected with the nearest name; helper methods are not", () => {
  const call = (_input: unknown, next: (input: unknown) => Promise<unknown>) => next(_input);
  const rejected: [method: string, near: string][] = [
    ["signalWithstart", "signalWithStart"],
    ["terminat", "terminate"],
    ["describeSchedul", "describeSchedule"],
  ];
  for (const [method, near] of rejected) {
    const misspelled = { [method]: call } as ClientInterceptor;
    const message = `interceptors[1] of Client has no method "${method}"; did you mean ${near}?`;
    assert.throws(() => client(scripted(), {}, misspelled), { name: "TypeError", message });
  }
  class Traced implements ClientInterceptor {
    spans = 0;
    get strat(): never {
      throw new Error("a getter is not called");
    }
    start: ClientInterceptor["start"] = (input, next) => this.traced("start", () => next(input));
    traced<T>(_name: string, work: () => Promise<T>): Promise<T> {
      this.spans++;
      return work();
    }
    // The right name is there as well, so this is a helper.
    starts(): number {
      return this.spans;
    }
  }
  client(scripted(), new Traced());
  class Misspelled extends Traced {
    qurey(): void {}
  }
  assert.throws(
    () => client(scripted(), new Misspelled() as ClientInterceptor),
    /has no method "qurey"; did you mean query\?$/,
  );
});
