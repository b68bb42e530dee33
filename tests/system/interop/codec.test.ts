// Payload codecs on a real Temporal server: every value arrives, and the official command line sees
// nothing readable.
import { execFileSync } from "node:child_process";
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  type ApplicationFailure,
  Client,
  createWorkerRealm,
  decodeHistory,
  silentLogger,
  Worker,
  WorkflowFailedError,
  WorkflowUpdateRejectedError,
} from "../../../ts/mod.ts";
import { GrpcService } from "../../../ts/grpc/grpc_service.ts";
import * as activities from "../../unit/codec/activities.ts";
import { EXPECTED, live } from "../../unit/codec/live.ts";
import { close, notebook, write } from "../../unit/codec/workflows/notebook.ts";
import { SECRET, secrets } from "../../unit/codec/workflows/secrets.ts";
import * as paymentActivities from "../../../examples/encryption/activities.ts";
import { encryption, importKey } from "../../../examples/encryption/codec.ts";
import { approve, payment } from "../../../examples/encryption/workflow.ts";
import { invertingCodec } from "../../support/codecs.ts";
import { until } from "../../support/until.ts";
import { DevServer, noServer, temporalCli } from "./support/dev_server.ts";

let server: DevServer;
let service: GrpcService;
const workflows = new URL("../../unit/codec/workflows/secrets.ts", import.meta.url);

before(async () => {
  if (noServer !== false) return;
  server = await DevServer.start();
  service = new GrpcService({ address: server.address });
});
after(async () => {
  service?.close();
  await server?.stop();
});

test(
  "a cluster stores no plain text, and its exported histories replay",
  { skip: noServer },
  async () => {
    const common = {
      service,
      taskQueue: "secrets",
      codec: invertingCodec(),
      encodeCommonAttributes: true,
      logger: silentLogger,
    };
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
        const show = [
          "workflow",
          "show",
          "-w",
          run.workflowId,
          "-r",
          runId,
          "-o",
          "json",
          "--address",
          server.address,
        ];
        const theirs = execFileSync(temporalCli()!, show, { encoding: "utf8" });
        assert.ok(
          theirs.includes("workflowTaskCompletedEventAttributes"),
          "the history is what it is taken for",
        );
        const bytes = await run.historyBytes();
        for (const text of [theirs, Buffer.from(bytes).toString("latin1")]) {
          assert.ok(!text.includes(SECRET));
        }
        // In JSON payloads are base64: "SECRET" in its three phases.
        for (const phase of ["U0VDUkVU", "TRUNSRV", "NFQ1JF"]) {
          assert.ok(!theirs.includes(phase), phase);
        }
      }
      const realm = await createWorkerRealm({
        workflows,
        cacheSize: 0,
        runOptions: { namespace: "default", identity: "replay" },
      });
      const verdict = await realm.replay(
        "secrets",
        await decodeHistory(await first.historyBytes(), invertingCodec()),
      );
      assert.equal(verdict.verdict, "ok", verdict.error?.message);
      await realm.dispose();
      for await (const run of client.list(`WorkflowType = '${secrets.name}'`)) {
        assert.match(String(run.memo["about"]), /SECRET memo/);
      }
    });
  },
);

/** What the official command line shows of a workflow, or of a schedule. */
const shown = (...words: string[]) =>
  execFileSync(temporalCli()!, [...words, "-o", "json", "--address", server.address], {
    encoding: "utf8",
  });
/** Payloads are base64 in JSON: a text in its three phases. */
function readable(text: string, secret: string): boolean {
  return [0, 1, 2].some((skip) => {
    const inner = Buffer.from(" ".repeat(skip) + secret).toString("base64");
    return text.includes(inner.slice(skip === 0 ? 0 : 4, -4));
  }) || text.includes(secret);
}

test(
  "update-with-start encodes its request and decodes its response",
  { skip: noServer },
  async () => {
    const common = {
      service,
      taskQueue: "secret-updates",
      codec: invertingCodec(),
      encodeCommonAttributes: true,
      logger: silentLogger,
    };
    const client = new Client(common);
    const code = new URL("../../unit/codec/workflows/notebook.ts", import.meta.url);
    const worker = await Worker.create({ ...common, workflows: code });
    await worker.runUntil(async () => {
      const options = {
        id: "secret-uws",
        args: [`${SECRET} owner`] as [string],
        memo: { about: `${SECRET} memo` },
        summary: `${SECRET} summary`,
        update: write,
      };
      const answer = await client.executeUpdateWithStart(notebook, {
        ...options,
        updateArgs: [`${SECRET} update`],
      });
      assert.equal(answer, `${SECRET} owner wrote ${SECRET} update`);
      const refused = await client.startUpdateWithStart(notebook, {
        ...options,
        updateArgs: [`${SECRET} bad`],
        waitFor: "accepted",
      });
      await assert.rejects(refused.update.result(), (error) => {
        assert.ok(error instanceof WorkflowUpdateRejectedError, String(error));
        assert.match(error.message, /SECRET bad is refused/);
        assert.deepEqual((error.cause as ApplicationFailure).details, [`${SECRET} bad detail`]);
        return true;
      });
      assert.deepEqual((await refused.workflow.describe()).memo, { about: `${SECRET} memo` });
      for (const kind of ["show", "describe"]) {
        const theirs = shown("workflow", kind, "-w", "secret-uws");
        assert.ok(theirs.includes("secret-uws") || kind === "show", "it is what it is taken for");
        assert.ok(!readable(theirs, SECRET), `${kind} shows a secret`);
      }
      await refused.workflow.signal(close);
      assert.deepEqual(await refused.workflow.result(), [`${SECRET} owner`, `${SECRET} update`]);
    });
  },
);

test(
  "the encryption example on a cluster: starts, schedules, a second key",
  { skip: noServer },
  async () => {
    const key = (base64: string) => importKey(base64);
    const k1 = await key("MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=");
    const k2 = await key("ZmVkY2JhOTg3NjU0MzIxMGZlZGNiYTk4NzY1NDMyMTA=");
    const common = {
      service,
      taskQueue: "payments",
      encodeCommonAttributes: true,
      logger: silentLogger,
    };
    const old = new Client({ ...common, codec: encryption({ current: "k1", keys: { k1 } }) });
    const codec = encryption({ current: "k2", keys: { k1, k2 } });
    const client = new Client({ ...common, codec });
    const worker = await Worker.create({
      ...common,
      codec,
      workflows: new URL("../../../examples/encryption/workflow.ts", import.meta.url),
      activities: paymentActivities,
    });
    const card = "4711-0815-2342";
    await worker.runUntil(async () => {
      const started = await old.start(payment, { id: "pay-1", args: [card, 1900], memo: { card } });
      const daily = await old.schedule.create({
        scheduleId: "daily-payment",
        // Half a day away: it acts at once and not again.
        spec: { calendars: [{ hour: (new Date().getUTCHours() + 12) % 24 }] },
        action: {
          type: "startWorkflow",
          workflowType: payment,
          args: [card, 100],
          memo: { card },
          summary: `pays ${card}`,
        },
        memo: { card },
        state: { triggerImmediately: true },
      });
      const result = (cents: number) => ({
        authorization: `${cents} cents of card ${card}`,
        by: "Lovelace",
      });
      await client.getHandle(payment, "pay-1").signal(approve, "Lovelace");
      assert.deepEqual(await client.getHandle(payment, "pay-1").result(), result(1900));
      const schedule = client.schedule.getHandle(daily.scheduleId);
      await until(
        "it has acted",
        async () => (await schedule.describe()).info.recentActions.length === 1,
      );
      const { action, memo, info } = await schedule.describe();
      assert.deepEqual([action.args, action.memo, action.summary, memo], [
        [card, 100],
        { card },
        `pays ${card}`,
        { card },
      ]);
      const { workflowId } = info.recentActions[0]!.workflow!;
      const scheduled = client.getHandle(payment, workflowId);
      await scheduled.signal(approve, "Lovelace");
      assert.deepEqual(await scheduled.result(), result(100));
      const listed = [];
      for await (const { memo } of client.schedule.list()) listed.push(memo);
      if (listed.length > 0) assert.deepEqual(listed, [{ card }]);
      const theirs = [
        shown("workflow", "show", "-w", "pay-1"),
        shown("workflow", "show", "-w", workflowId),
        shown("workflow", "describe", "-w", workflowId),
        shown("schedule", "describe", "-s", "daily-payment"),
        await started.historyJson(),
      ];
      for (const text of theirs) {
        assert.ok(text.length > 200, text);
        for (const secret of [card, "Lovelace", "cents of"]) {
          assert.ok(!readable(text, secret), `${secret} is readable in ${text}`);
        }
      }
      await assert.rejects(
        new Client({ ...common, codec: encryption({ current: "k3", keys: { k3: k1 } }) }).schedule
          .getHandle("daily-payment")
          .describe(),
        /unknown key "k1"/,
      );
      await schedule.delete();
    });
  },
);

test("search finds secrets in JSON, so a clean one is clean", () => {
  for (const before of ["", "a", "ab"]) {
    assert.ok(
      readable(
        JSON.stringify({ data: Buffer.from(`${before}${SECRET} and more`).toString("base64") }),
        SECRET,
      ),
    );
  }
  assert.ok(
    !readable(
      JSON.stringify({ data: Buffer.from("nothing of it at all").toString("base64") }),
      SECRET,
    ),
  );
});
