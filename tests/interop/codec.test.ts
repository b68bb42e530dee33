// Payload codecs on a real Temporal server: every value arrives, and the official command line sees nothing readable.
import { execFileSync } from "node:child_process";
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Client, createWorkerRealm, decodeHistory, silentLogger, Worker, WorkflowFailedError } from "../../ts/mod.ts";
import { GrpcService } from "../../ts/temporal/grpc.ts";
import * as activities from "../codec/activities.ts";
import { EXPECTED, live } from "../codec/live.ts";
import { SECRET, secrets } from "../codec/workflows/secrets.ts";
import { invertingCodec } from "../support/codecs.ts";
import { DevServer, noServer, temporalCli } from "./support/dev_server.ts";

let server: DevServer;
let service: GrpcService;
const workflows = new URL("../codec/workflows/secrets.ts", import.meta.url);

before(async () => {
  if (noServer !== false) return;
  server = await DevServer.start();
  service = new GrpcService({ address: server.address });
});
after(async () => {
  service?.close();
  await server?.stop();
});

test("a cluster keeps nothing readable, and what it exports replays", { skip: noServer }, async () => {
  const common = { service, taskQueue: "secrets", codec: invertingCodec(), encodeCommonAttributes: true, logger: silentLogger };
  const client = new Client(common);
  const worker = await Worker.create({ ...common, workflows, activities });
  await worker.runUntil(async () => {
    const { handle, first } = await live(client, "secrets", "done");
    assert.deepEqual(await handle.result(), EXPECTED);
    const failed = await live(client, "bad", "fail");
    await assert.rejects(failed.handle.result(), (error) => {
      assert.ok(error instanceof WorkflowFailedError);
      assert.match(error.message, new RegExp(`${SECRET} workflow failure`));
      return true;
    });
    for (const run of [first, failed.second]) {
      const { runId } = await run.describe();
      const show = ["workflow", "show", "-w", run.workflowId, "-r", runId, "-o", "json", "--address", server.address];
      const theirs = execFileSync(temporalCli()!, show, { encoding: "utf8" });
      assert.ok(theirs.includes("workflowTaskCompletedEventAttributes"), "the history is what it is taken for");
      const bytes = await run.historyBytes();
      for (const text of [theirs, Buffer.from(bytes).toString("latin1")]) assert.ok(!text.includes(SECRET));
      // In JSON payloads are base64: "SECRET" in its three phases.
      for (const phase of ["U0VDUkVU", "TRUNSRV", "NFQ1JF"]) assert.ok(!theirs.includes(phase), phase);
    }
    const realm = await createWorkerRealm({ workflows, cacheSize: 0, runOptions: { namespace: "default", identity: "replay" } });
    const verdict = await realm.replay("secrets", await decodeHistory(await first.historyBytes(), invertingCodec()));
    assert.equal(verdict.verdict, "ok", verdict.error?.message);
    await realm.dispose();
    for await (const run of client.list(`WorkflowType = '${secrets.name}'`)) {
      assert.match(String(run.memo["about"]), /SECRET memo/);
    }
  });
});
