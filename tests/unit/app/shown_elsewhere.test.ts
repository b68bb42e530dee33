// `phase` and `state` of the view `workflow` where the worker is in another process than the
// engine.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { Connection } from "../../../ts/grpc/mod.ts";
import { startDevServer } from "../../../ts/dev/server.ts";
import { Client, open, silentLogger, Worker } from "../../../ts/mod.ts";
import {
  askingForShown,
  shownField,
  shownOf,
  withoutShown,
} from "../../../ts/messages/shown_run.ts";
import type { RawService } from "../../../ts/service/raw.ts";
import { readWorkflowTask } from "../../../ts/messages/workflow_task.ts";
import { concat } from "../../../ts/messages/wire.ts";
import { nextLine, startModule } from "../engine/support/child.ts";
import { inFolder } from "../engine/support/stores.ts";
import { invertingCodec } from "../../support/codecs.ts";
import { until } from "../../support/until.ts";
import { go, told } from "./elsewhere/workflows.ts";

const child = new URL(
  import.meta.url.endsWith(".js") ? "elsewhere/worker.js" : "elsewhere/worker.ts",
  import.meta.url,
);
const ROWS = "SELECT phase, state FROM workflow ORDER BY started_ms, run_id";

for (const coded of [false, true]) {
  test(`through the store's socket${coded ? ", with a codec: the phase alone" : ""}`, () =>
    inFolder(async (folder) => {
      const path = join(folder, "game.sqlite");
      const codec = coded ? { codec: invertingCodec() } : {};
      // A holder without a worker for the queue.
      const app = await open({
        path,
        workflows: { told },
        taskQueue: "other",
        logger: silentLogger,
        ...codec,
      });
      await app.served;
      const elsewhere = startModule(child, [path, ...(coded ? ["codec"] : [])]);
      try {
        assert.equal(await nextLine(elsewhere), "working");
        const handle = await app.client.start(told, { id: "w", args: [], taskQueue: "default" });
        await until("its first await is passed", () => app.engine.sql(ROWS)[0]?.["phase"] === 1);
        for (
          const [i, [state, text]]
            of ([[{ hp: 7 }, '{"hp":7}'], ["ä", '"ä"'], [null, "null"]] as const).entries()
        ) {
          await handle.signal(go, state);
          await until("it is shown", () => app.engine.sql(ROWS)[0]?.["phase"] === 2 + i);
          assert.deepEqual(app.engine.sql(ROWS), [{ phase: 2 + i, state: coded ? null : text }]);
        }
        await handle.signal(go, "end");
        assert.equal(await handle.result(), 3);
        assert.deepEqual(app.engine.sql(ROWS), [{ phase: 5, state: coded ? null : "null" }]);
      } finally {
        elsewhere.process.kill("SIGTERM");
        await elsewhere.exited;
        await app.close();
      }
    }));
}

test("temporalex dev with a file shows phase and state; a server that does not request them gets neither", () =>
  inFolder(async (folder) => {
    for (const path of [join(folder, "dev.sqlite"), undefined]) {
      const server = await startDevServer({
        port: 0,
        namespaces: ["default"],
        storeOf: () => path,
        logger: silentLogger,
      });
      const service = await Connection.connect({ address: `127.0.0.1:${server.port}` });
      const completions: Uint8Array[] = [];
      const noting: RawService = {
        losesCancelledPolls: true,
        call(method, request, options) {
          if (method === "respondWorkflowTaskCompleted") completions.push(request);
          return service.call(method, request, options);
        },
      };
      const worker = await Worker.create({
        service: noting,
        taskQueue: "q",
        workflows: { told },
        logger: silentLogger,
      });
      await worker.runUntil(async () => {
        const handle = await new Client({ service, taskQueue: "q", logger: silentLogger }).start(
          told,
          { id: "w", args: [] },
        );
        await handle.signal(go, { hp: 7 });
        await handle.signal(go, "end");
        assert.equal(await handle.result(), 1);
      });
      assert.ok(completions.length > 0);
      if (path === undefined) {
        assert.deepEqual(completions.map(shownOf).filter((shown) => shown !== undefined), []);
      } else {
        assert.deepEqual(server.namespaces.engineOf("default")!.sql(ROWS), [{
          phase: 3,
          state: '{"hp":7}',
        }]);
        assert.equal(shownOf(completions.at(-1)!)?.phase, 3);
      }
      await service.close();
      await server.close();
    }
  }));

test("unreadable phase and state are not shown, and the rest of the request is unchanged", () => {
  const request = new Uint8Array([0x0a, 1, 7]);
  for (
    const shown of [{ runId: "r", phase: 2 }, { runId: "r", phase: 0, state: null }, {
      runId: "r",
      phase: 1,
      state: '"ä"',
    }]
  ) {
    const whole = concat([request.subarray(0, 0), shownField(shown), request]);
    assert.deepEqual(shownOf(whole), shown);
    assert.deepEqual(withoutShown(whole), request);
  }
  for (
    const bad of [{ runId: "r" }, { runId: 7, phase: 1 }, { runId: "r", phase: -1 }, {
      runId: "r",
      phase: 1,
      state: "{",
    }, null]
  ) {
    assert.equal(shownOf(shownField(bad as never)), undefined, JSON.stringify(bad));
  }
  assert.equal(shownOf(request), undefined);
  assert.equal(withoutShown(request), request);
  assert.equal(readWorkflowTask(askingForShown(request)).head.asksForShown, true);
  assert.equal(readWorkflowTask(new Uint8Array(0)).head.asksForShown, undefined);
  assert.equal(askingForShown(new Uint8Array(0)).length, 0, "an empty poll stays one");
});
