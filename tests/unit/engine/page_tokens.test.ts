// Pages of lists and of histories read backwards: their sizes, and tokens that were never given
// out.
import assert from "node:assert/strict";
import { test } from "node:test";
import { EmbeddedEngine, MemoryStore } from "../../../ts/engine/mod.ts";
import { typedService } from "../../../ts/service/typed.ts";
import { Script } from "./support/script_worker.ts";

const utf8 = new TextEncoder();
const namespace = "default";
const unknown = /invalid nextPageToken/;

async function withRuns(
  body: (service: ReturnType<typeof typedService>, script: Script) => Promise<void>,
): Promise<void> {
  const engine = await EmbeddedEngine.open({ store: new MemoryStore() });
  const script = new Script(engine);
  script.startWorker();
  for (const id of ["a", "b", "c"]) await script.start(id, { steps: 1 });
  for (const id of ["a", "b", "c"]) await script.result(id);
  await body(typedService(engine), script);
  await script.stopWorker();
  await engine.close();
}

test("a history is read backward in pages of the requested size", () =>
  withRuns(async (service, script) => {
    const ids = (await script.history("a")).map(({ eventId }) => eventId).reverse();
    for (const maximumPageSize of [0, 1, 2, 1000]) {
      const got: bigint[] = [];
      let nextPageToken: Uint8Array = new Uint8Array(0);
      let pages = 0;
      do {
        const page = await service.getWorkflowExecutionHistoryReverse({
          ...{ namespace, execution: { workflowId: "a" }, maximumPageSize, nextPageToken },
        });
        got.push(...page.history!.events.map(({ eventId }) => eventId));
        nextPageToken = page.nextPageToken;
        pages++;
      } while (nextPageToken.length > 0);
      assert.deepEqual(got, ids);
      assert.equal(
        pages,
        maximumPageSize === 0 ? 1 : Math.ceil(ids.length / maximumPageSize),
        `pages of ${maximumPageSize}`,
      );
    }
  }));

test("page tokens that the engine did not issue are rejected", () =>
  withRuns(async (service) => {
    const [row] = (await service.listWorkflowExecutions({ namespace })).executions;
    const runId = row!.execution!.runId;
    for (
      const token of [5, null, {}, { runId }, { runId, to: 0 }, { runId, to: 1.5 }, {
        runId: 7,
        to: 2,
      }, { to: 2 }]
    ) {
      const nextPageToken = utf8.encode(JSON.stringify(token));
      await assert.rejects(
        service.getWorkflowExecutionHistoryReverse({
          namespace,
          execution: { workflowId: row!.execution!.workflowId },
          nextPageToken,
        }),
        unknown,
        JSON.stringify(token),
      );
    }
    const first = await service.listWorkflowExecutions({ namespace, pageSize: 1 });
    const { after, query } = JSON.parse(new TextDecoder().decode(first.nextPageToken));
    const list = (token: unknown) =>
      service.listWorkflowExecutions({
        namespace,
        pageSize: 1,
        nextPageToken: utf8.encode(JSON.stringify(token)),
      });
    assert.equal((await list({ after, query })).executions.length, 1);
    for (const wrong of [undefined, 5, [], [1], [1, 2, 3], [1, "x"], ["x", 1], [null, 1]]) {
      await assert.rejects(list({ after: wrong, query }), unknown, JSON.stringify(wrong));
    }
    await assert.rejects(
      list({ after, query: "another" }),
      /nextPageToken belongs to another query/,
    );
  }));
