// Updates that a receive rejects because it ends by its `until`: the client resends them, under the
// same id, until the code after that receive completes them. On the embedded engine with endlessly
// overlapping handlers, and step by step on a scripted service.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  Client,
  ServiceError,
  silentLogger,
  WorkflowUpdateFailedError,
} from "../../../ts/client/mod.ts";
import {
  ApplicationFailure,
  defaultPayloadConverter,
  toFailure,
} from "../../../ts/converter/mod.ts";
import { Code } from "../../../ts/service/raw.ts";
import { UpdateWorkflowExecutionLifecycleStage as Stage } from "../../../ts/messages/generated/temporal/api/enums/v1/update_pb.ts";
import {
  continueAsNew,
  on,
  publishState,
  query,
  receive,
  sleep,
  spawnAsync,
  update,
  workflow,
  workflowInfo,
} from "../../../ts/workflow/mod.ts";
import { ScriptedService, waits } from "../../support/scripted_service.ts";
import { withEngine } from "../../support/services.ts";

const ending = toFailure(
  new ApplicationFailure("not now", { type: "ReceiveEnding" }),
  defaultPayloadConverter,
);
const updateRef = { updateId: "u", workflowExecution: { workflowId: "w", runId: "r" } };
const rejectedNow = {
  stage: Stage.COMPLETED,
  updateRef,
  outcome: { value: { case: "failure" as const, value: ending } },
};
const done = {
  stage: Stage.COMPLETED,
  updateRef,
  outcome: {
    value: {
      case: "success" as const,
      value: { payloads: [defaultPayloadConverter.toPayload("done")] },
    },
  },
};
const unknown = () => {
  throw new ServiceError(Code.NOT_FOUND, "no such update");
};
const clientOf = (service: ScriptedService) =>
  new Client({ service, taskQueue: "q", logger: silentLogger });

test("an update that is rejected only for now is sent again under its id, also with a start", async () => {
  const service = new ScriptedService()
    .on(
      "updateWorkflowExecution",
      (_request, _options, attempt) => attempt < 4 ? rejectedNow : done,
    )
    .on("executeMultiOperation", (_request, _options, attempt) => ({
      responses: [
        { response: { case: "startWorkflow", value: { runId: "r", started: attempt === 1 } } },
        { response: { case: "updateWorkflow", value: attempt < 3 ? rejectedNow : done } },
      ],
    }))
    .on("pollWorkflowExecutionUpdate", unknown);
  assert.equal(
    await clientOf(service).getHandle("W", "w").executeUpdate("add", { args: [1], updateId: "u" }),
    "done",
  );
  const ids = service.requests("updateWorkflowExecution").map(({ request }) =>
    request?.meta?.updateId
  );
  assert.deepEqual(ids, ["u", "u", "u", "u"]);
  assert.equal(
    await clientOf(service).executeUpdateWithStart("W", { id: "w", update: "add", updateId: "u" }),
    "done",
  );
  assert.equal(service.requests("executeMultiOperation").length, 3);
});

test("a handler's failure of the same type is not retried, and at the deadline the rejection is the result", async () => {
  const failed = new ScriptedService()
    .on("updateWorkflowExecution", () => rejectedNow)
    .on("pollWorkflowExecutionUpdate", () => rejectedNow);
  await assert.rejects(
    clientOf(failed).getHandle("W", "w").update("add"),
    WorkflowUpdateFailedError,
  );
  assert.equal(failed.requests("updateWorkflowExecution").length, 1);
  const always = new ScriptedService().on("updateWorkflowExecution", () => rejectedNow).on(
    "pollWorkflowExecutionUpdate",
    unknown,
  );
  const handle = clientOf(always).getHandle("W", "w").with({ timeout: 500 });
  await assert.rejects(handle.update("add"), /not now|deadline/);
  assert.ok(always.requests("updateWorkflowExecution").length > 2);
  const given = new AbortController();
  const waiting = new ScriptedService().on("updateWorkflowExecution", () => rejectedNow)
    .on("pollWorkflowExecutionUpdate", (_request, options, attempt) => {
      if (attempt < 3) return unknown();
      setTimeout(() => given.abort(new Error("enough")), 10);
      return waits(options);
    });
  await assert.rejects(
    clientOf(waiting).getHandle("W", "w").with({ signal: given.signal }).update("add"),
    /enough/,
  );
});

const add = update<[n: number], number>("add");
const count = query<{ generation: number; sum: number }>("count");
/** Its updates take a while, concurrently. */
const busy = workflow("Busy", {
  messages: { add, count },
  queries: { count: (published: { generation: number; sum: number }) => published },
  async run(generation: number, start: number) {
    publishState({ generation, sum: start });
    const { state: sum } = await receive(start, [
      on(add, ([n], now) =>
        spawnAsync(async (change) => {
          await sleep(1 + n % 5);
          return await change((sum) => {
            publishState({ generation, sum: sum + 1 });
            return [n, sum + 1];
          });
        }, now)),
    ], { until: () => workflowInfo().continueAsNewSuggested });
    return continueAsNew(generation + 1, sum);
  },
});

test("continuously overlapping updates all complete, each once, over many continued runs", () =>
  withEngine("memory", { limits: { suggestContinueAsNewUpdates: 20 } }, async (t) => {
    const handle = await t.client.start(busy, { id: "b", args: [1, 0] });
    await t.work({ workflows: [busy] }, async () => {
      let next = 0;
      const caller = async () => {
        for (let n = next++; n < 1000; n = next++) assert.equal(await handle.update(add, n), n);
      };
      await Promise.all(Array.from({ length: 8 }, caller));
      const { generation, sum } = await handle.query(count);
      assert.equal(sum, 1000);
      assert.ok(generation >= 8, `${generation} generations, of at most 20 + 100 + 8 updates`);
    });
  }));
