// What is around local activities: realms in threads that are watched and lost, interceptors,
// metrics, codecs, replaced workflows.
// takes: 6 s
import assert from "node:assert/strict";
import { test } from "node:test";
import { activityContext, sleep as activitySleep } from "../../../ts/activity/mod.ts";
import { Client, silentLogger } from "../../../ts/client/mod.ts";
import { MetricsRegistry } from "../../../ts/metrics/mod.ts";
import { type ActivityInterceptor, Worker } from "../../../ts/worker/mod.ts";
import { localActivities, workflow } from "../../../ts/workflow/mod.ts";
import { invertingCodec } from "../../support/codecs.ts";
import { withEngine } from "../../support/services.ts";
import { until } from "../../support/until.ts";
import { go, spins, talks, talksNear, talksOn } from "./modules/flows.ts";

const workflows = new URL("./modules/flows.ts", import.meta.url);

test("the watchdog does not count the wait for a local activity", () =>
  withEngine("memory", {}, async ({ client, work }) => {
    const shout = async (word: string) => {
      await activitySleep(1500);
      return word.toUpperCase();
    };
    await work({ workflows, activities: { shout }, watchdogMs: 300 }, async () => {
      assert.equal(await client.execute(talksNear, { id: "waits", args: ["hi"] }), "HI!");
    });
  }));

test("losing the realm during a local activity does not run the activity again", () =>
  withEngine("memory", {}, async ({ client, work }) => {
    let ran = 0;
    let release!: () => void;
    const shout = async (word: string) => {
      ran++;
      await new Promise<void>((resolve) => (release = resolve));
      return word.toUpperCase();
    };
    const failed: string[] = [];
    const events = {
      workflowTaskFailed: ({ workflowId }: { workflowId: string }) => void failed.push(workflowId),
    };
    await work({ workflows, activities: { shout }, watchdogMs: 500, events }, async () => {
      const waits = await client.start(talksNear, { id: "waits", args: ["hi"], taskTimeout: "1m" });
      await until("it runs", () => ran === 1);
      const spinner = await client.start(spins, { id: "spins" });
      await until("the spinner was stopped", () => failed.includes("spins"));
      release();
      assert.equal(await waits.result(), "HI!");
      assert.equal(ran, 1);
      assert.ok(!failed.includes("waits"));
      await spinner.terminate();
    });
  }));

test("a failed workflow task cancels its local activities, and the next attempt runs them again", () =>
  withEngine("memory", {}, async ({ client, work }) => {
    const near = localActivities<{ shout(word: string): Promise<string> }>();
    let tries = 0;
    const failsOnce = workflow("FailsOnce", async () => {
      const slow = near.shout("slow");
      slow.catch(() => {});
      await near.shout("quick");
      if (tries++ === 0) throw new TypeError("a bug");
      return await slow;
    });
    const ran: string[] = [];
    const reasons: unknown[] = [];
    const shout = async (word: string) => {
      ran.push(word);
      if (word === "quick" || tries > 0) return word;
      const context = activityContext();
      await new Promise((resolve) => context.cancelled.addEventListener("abort", resolve));
      reasons.push(context.cancelReason);
      throw context.cancelled.reason;
    };
    await work({ workflows: [failsOnce], activities: { shout } }, async () => {
      const handle = await client.start(failsOnce, { id: "fails" });
      await until("it is tried again", () => tries === 2);
      assert.deepEqual(reasons, ["NOT_FOUND"]);
      assert.equal(await handle.result(), "slow");
      assert.deepEqual(ran, ["slow", "quick", "slow", "quick"]);
    });
  }));

test("interceptors wrap local activities, and metrics count them", () =>
  withEngine("memory", {}, async ({ client, work }) => {
    const metrics = new MetricsRegistry();
    const around: string[] = [];
    const spy: ActivityInterceptor = async ({ context, args, ...rest }, next) => {
      around.push(`${context.info.activityType} ${context.info.isLocal} ${args}`);
      return `<${await next({ context, args: [`${args[0]}, you`], ...rest })}>`;
    };
    let attempts = 0;
    const shout = (word: string) => {
      if (++attempts === 1) throw new Error("not yet");
      return Promise.resolve(word.toUpperCase());
    };
    await work(
      { workflows, activities: { shout }, activityInterceptors: [spy], metrics },
      async () => {
        assert.equal(await client.execute(talksNear, { id: "around", args: ["hi"] }), "<HI, YOU>!");
        const text = metrics.text();
        const labels =
          `namespace="default",task_queue="q",workflow_type="TalksNear",activity_type="shout"`;
        const line = (name: string) =>
          text.split("\n").find((line) => line.startsWith(name) && line.includes(`"TalksNear"`));
        assert.match(line("temporal_local_activity_total") ?? text, / 2$/, labels);
        assert.match(line("temporal_local_activity_execution_failed") ?? text, / 1$/);
        assert.match(line("temporal_local_activity_execution_latency_count") ?? text, / 2$/);
        assert.match(line("temporal_local_activity_succeed_endtoend_latency_count") ?? text, / 1$/);
        assert.match(
          text,
          /temporal_worker_task_slots_available\{[^}]*worker_type="LocalActivityWorker"[^}]*\} 100/,
        );
      },
    );
    assert.deepEqual(around, ["shout true hi", "shout true hi"]);
  }));

test("a codec encodes results and failures in markers, and not the fields that every worker must read", () =>
  withEngine("memory", {}, async ({ service, taskQueue }) => {
    const codec = invertingCodec();
    const client = new Client({ service, taskQueue, codec, logger: silentLogger });
    const worker = await Worker.create({
      service,
      taskQueue,
      workflows,
      codec,
      logger: silentLogger,
      activities: { shout: (word: string) => word.toUpperCase() },
    });
    await worker.runUntil(async () => {
      assert.equal(await client.execute(talksNear, { id: "coded", args: ["secret"] }), "SECRET!");
    });
    const { events } = await new Client({ service, logger: silentLogger }).getHandle(
      undefined,
      "coded",
    ).fetchHistory();
    const marker = events.map(({ attributes }) => attributes).find((a) =>
      a.case === "markerRecordedEventAttributes"
    )!;
    const { details } = marker.value as {
      details: { [key: string]: { payloads: { data: Uint8Array }[] } };
    };
    const text = (key: string) => new TextDecoder().decode(details[key]!.payloads[0]!.data);
    assert.equal(JSON.parse(text("data")).activity_type, "shout");
    assert.doesNotMatch(text("result"), /SECRET/);
  }));

test("workflows are hot-reloaded while a local activity runs, and the new code gets its result", () =>
  withEngine("memory", {}, async ({ client, work }) => {
    let ran = 0;
    let release!: () => void;
    const shout = async (word: string) => {
      ran++;
      await new Promise<void>((resolve) => (release = resolve));
      return word.toUpperCase();
    };
    await work({ workflows, activities: { shout } }, async (worker) => {
      // A long task: the replacement must not wait for it.
      const handle = await client.start(talksNear, {
        id: "replaced",
        args: ["hi"],
        taskTimeout: "2m",
      });
      const other = await client.start(talks, { id: "other", args: ["x"] });
      await until("it runs", () => ran === 1);
      await worker.replaceWorkflows();
      release();
      assert.equal(await handle.result(), "HI!");
      assert.equal(ran, 1);
      await other.signal(go, "bye");
      await until("the activity of the other one runs", () => ran === 2);
      release();
      await other.result();
    });
  }));

test("a workflow with successive local activities does not block shutdown, and continues in the next worker", () =>
  withEngine("memory", {}, async ({ client, service, taskQueue }) => {
    let ran = 0;
    const shout = async (word: string) => {
      ran++;
      await activitySleep(2);
      return word;
    };
    const options = { service, taskQueue, workflows, activities: { shout }, logger: silentLogger };
    for (const shutdownGraceMs of [0, 500]) {
      const worker = await Worker.create({ ...options, shutdownGraceMs });
      const running = worker.run();
      if (shutdownGraceMs === 0) await client.start(talksOn, { id: "talks on", taskTimeout: "2m" });
      const before = ran;
      await until("the workflow continues", () => ran > before + 10);
      const late = new Promise((resolve) => setTimeout(resolve, 20_000, "late").unref());
      assert.notEqual(await Promise.race([worker.shutdown(), late]), "late");
      await running;
    }
    await client.getHandle(talksOn, "talks on").terminate();
  }));
