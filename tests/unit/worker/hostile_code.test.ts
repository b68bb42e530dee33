// User code that is hostile or broken: values that activities throw, and loggers, metrics and
// listeners that throw. The worker continues, every attempt ends in its report, and the host
// survives.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { open, type OpenOptions, WorkflowFailedError } from "../../../ts/mod.ts";
import type { Metrics } from "../../../ts/base/metrics.ts";
import { activities, workflow } from "../../../ts/workflow/mod.ts";
import { hostile, type HostilePlan, hostilePlans } from "../../cases/hostile_values.ts";
import { startModule } from "../engine/support/child.ts";
import { testSeed } from "../../support/seed.ts";

const acts = activities<{ bad(): Promise<void>; good(): Promise<number> }>({
  startToClose: "20s",
  retry: { maximumAttempts: 2, initialInterval: "1ms" },
});
const caught = workflow("Caught", async () => {
  try {
    await acts.bad();
    return "returned";
  } catch (e) {
    const cause = (e as Error).cause as Error;
    return typeof cause.message;
  }
});
const uncaught = workflow("Uncaught", async () => await acts.bad());
const calm = workflow("Calm", async () => await acts.good());

async function within(
  options: OpenOptions,
  work: (app: Awaited<ReturnType<typeof open>>) => Promise<void>,
): Promise<void> {
  const app = await open({ workflows: [caught, uncaught, calm], ...options });
  try {
    await work(app);
  } finally {
    await app.close();
  }
}

test("whatever an activity throws, the attempt is reported and the worker continues", async () => {
  let plan: HostilePlan = { kind: "value", value: "null" };
  let failures = 0;
  const bad = () => {
    throw hostile(plan);
  };
  const logger = { debug() {}, info() {}, warn() {}, error() {} };
  const events = { activityFailed: () => void failures++ };
  await within({ activities: { bad, good: () => 1 }, logger, worker: { events } }, async (app) => {
    let n = 0;
    await fc.assert(
      fc.asyncProperty(hostilePlans, async (next) => {
        plan = next;
        assert.equal(await app.client.execute(caught, { id: `caught ${n++}`, args: [] }), "string");
        await assert.rejects(
          app.client.execute(uncaught, { id: `uncaught ${n++}`, args: [] }),
          WorkflowFailedError,
        );
        assert.equal(await app.client.execute(calm, { id: `calm ${n++}`, args: [] }), 1);
      }),
      { numRuns: 40, seed: testSeed() },
    );
    assert.ok(failures >= 80, String(failures));
  });
});

test("loggers, metrics and listeners that throw or reject have no effect", async (t) => {
  const said: string[] = [];
  t.mock.method(console, "error", (line: string) => void said.push(line));
  const plans: HostilePlan[] = [
    { kind: "value", value: "text" },
    { kind: "value", value: "revoked" },
    { kind: "trap", base: "Error", traps: ["get"] },
  ];
  for (const plan of plans) {
    for (const late of [false, true]) {
      said.length = 0;
      const bad = (): never => {
        if (late) return Promise.reject(hostile(plan)) as never;
        throw hostile(plan);
      };
      const metrics: Metrics = { counter: bad, histogram: bad, gauge: bad };
      const later: Metrics = {
        counter: () => ({ add: bad }),
        histogram: () => ({ record: bad }),
        gauge: (_name, _labels, read) => {
          read();
          return bad;
        },
      };
      const events = { activityFailed: bad, workflowTaskFailed: bad, activityCompletesAsync: bad };
      for (const measured of late ? [later] : [metrics, later]) {
        await within({
          activities: { bad: () => Promise.reject(new Error("no")), good: () => 1 },
          logger: { debug: bad, info: bad, warn: bad, error: bad },
          worker: { events, metrics: measured },
          client: { metrics: measured },
        }, async (app) => {
          assert.equal(await app.client.execute(caught, { id: "caught", args: [] }), "string");
          assert.equal(await app.client.execute(calm, { id: "calm", args: [] }), 1);
        });
      }
      assert.ok(said.some((line) => /^temporalex: the logger threw/.test(line)), said.join("\n"));
    }
  }
});

test("an unhandled rejection of an activity is logged with its ids and does not end the process", async () => {
  const child = startModule(
    new URL(
      `./modules/stray_rejection.${import.meta.url.endsWith(".js") ? "js" : "ts"}`,
      import.meta.url,
    ),
    [],
  );
  const lines: string[] = [];
  for await (const line of child.lines) lines.push(line);
  await child.exited;
  assert.notEqual(child.process.exitCode, 0, `${lines.join("\n")}\n${child.errors()}`);
  assert.deepEqual(lines, ["logged stray w", "result 1", "outside is the program's own"]);
});
