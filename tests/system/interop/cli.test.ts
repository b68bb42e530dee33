// The commands that need a cluster, on a real Temporal dev server: schedules, reset, delete,
// update-with-start, counts in groups.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Client } from "../../../ts/client/mod.ts";
import { nativePrograms } from "../../../ts/executor/run/native_program.ts";
import { silentLogger } from "../../../ts/base/logger.ts";
import { GrpcService } from "../../../ts/grpc/grpc_service.ts";
import { Worker } from "../../../ts/worker/mod.ts";
import { on, receive, reply, signal, stop, update, workflow } from "../../../ts/workflow/mod.ts";
import { run as runCommand } from "../../unit/cli/support/run.ts";
import { until } from "../../support/until.ts";
import { DevServer, noServer } from "./support/dev_server.ts";
import { inlineRealm } from "./support/realm.ts";

const add = update<[string], number>("add_item");
const checkout = signal("checkout");
const cart = workflow("Cart", async (customer: string) => {
  const items = await receive<string[]>([], [
    on(add, ([sku], items) => reply(items.length + 1, [...items, sku])),
    on(checkout, (_, items) => stop(items)),
  ]);
  return { customer, items };
});
const report = workflow("Report", async (topic: string) => `on ${topic}`);

let server: DevServer, service: GrpcService, client: Client, worker: Worker, working: Promise<void>;

before(async () => {
  if (noServer !== false) return;
  server = await DevServer.start();
  service = new GrpcService({ address: server.address });
  client = new Client({ service, logger: silentLogger });
  const realm = await inlineRealm(service, nativePrograms([cart, report]).get);
  worker = await Worker.create({
    service,
    taskQueue: "default",
    realm,
    cachedWorkflows: 0,
    logger: silentLogger,
  });
  working = worker.run();
});

after(async () => {
  await worker?.shutdown();
  await working;
  service?.close();
  await server?.stop();
});

const run = (...args: string[]) =>
  runCommand([...args, "--address", server.address, "--timeout", "90s"]);
async function ok(...args: string[]): Promise<string> {
  const { code, out, err } = await run(...args);
  assert.equal(code, 0, `${args.join(" ")}: ${err}`);
  return out;
}
// deno-lint-ignore no-explicit-any
const json = async (...args: string[]): Promise<any> => JSON.parse(await ok(...args, "--json"));
async function failed(words: RegExp, ...args: string[]): Promise<void> {
  const { code, err } = await run(...args);
  assert.equal(code, 1, err);
  assert.match(err, words);
}

/**
 * An hour of the day about half a day away, so that a schedule acts only on trigger. (Hour 0 is
 * omitted from texts.)
 */
const FAR = (new Date().getUTCHours() + 12) % 24 || 1;

test("schedules from the command line", { skip: noServer }, async () => {
  const id = ["-s", "daily"];
  const made = await ok(
    "schedule",
    "create",
    ...id,
    "--type",
    "Report",
    "-i",
    '"sales"',
    "--cron",
    `0 ${FAR} * * MON-FRI`,
    "--time-zone",
    "Europe/Berlin",
    "--overlap-policy",
    "BufferOne",
    "--catchup-window",
    "10m",
    "--pause-on-failure",
    "--remaining-actions",
    "5",
    "--schedule-memo",
    'owner="ada"',
    "--notes",
    "as agreed",
  );
  assert.match(
    made,
    /^ScheduleId +daily\nType +Report\nTaskQueue +default\nWhere +127\.0\.0\.1:\d+\n$/,
  );
  await failed(
    /schedule daily already exists; use another --schedule-id, or temporalex schedule update/,
    "schedule",
    "create",
    ...id,
    "--type",
    "R",
  );

  const text = await ok("schedule", "describe", ...id);
  for (
    const line of [
      /State +active/,
      /Note +as agreed/,
      new RegExp(`When +dayOfWeek MONDAY-FRIDAY, hour ${FAR}`),
      /Time zone +Europe\/Berlin/,
      /Starts +Report on queue default, as daily-workflow-/,
      /Arguments +"sales"/,
      /Overlap +buffer one/,
      /Catch-up +10m/,
      /On failure +pause/,
      /Actions left +5/,
      /Next +in \d+ /,
      /Memo +owner="ada"/,
    ]
  ) assert.match(text, line);
  const described = await json("schedule", "describe", ...id);
  assert.deepEqual([described.spec.timezone, described.action.args, described.policies.overlap], [
    "Europe/Berlin",
    ["sales"],
    "BUFFER_ONE",
  ]);
  assert.equal(described.raw, undefined);

  assert.equal(
    await ok(
      "schedule",
      "update",
      ...id,
      "--interval",
      `1d/${FAR}h`,
      "-i",
      '"costs"',
      "--unlimited",
    ),
    "updated daily\n",
  );
  await until(
    "it is updated",
    async () => (await json("schedule", "describe", ...id)).spec.intervals.length === 1,
  );
  const changed = await json("schedule", "describe", ...id);
  assert.deepEqual(changed.spec.intervals, [{ every: 86_400_000, offset: FAR * 3_600_000 }]);
  assert.deepEqual([changed.spec.calendars, changed.spec.timezone, changed.action.args], [
    [],
    "Europe/Berlin",
    ["costs"],
  ]);
  assert.deepEqual([
    changed.policies.overlap,
    changed.policies.catchupWindow,
    changed.policies.pauseOnFailure,
  ], [
    "BUFFER_ONE",
    600_000,
    true,
  ]);
  assert.deepEqual(changed.state, { paused: false, note: "as agreed" });

  assert.equal(await ok("schedule", "pause", ...id, "--notes", "holidays"), "paused daily\n");
  await until("it is paused", async () => (await json("schedule", "describe", ...id)).state.paused);
  assert.match(await ok("schedule", "describe", ...id), /State +paused\nNote +holidays/);
  assert.deepEqual(await json("schedule", "unpause", ...id), {
    scheduleId: "daily",
    done: "unpaused",
  });
  assert.equal(await ok("schedule", "trigger", ...id), "triggered daily\n");
  await until(
    "it has acted",
    async () => (await json("schedule", "describe", ...id)).info.numActionsTaken === 1,
  );
  const day = (n: number) => `2026-01-0${n}T00:00:00Z`;
  await ok(
    "schedule",
    "backfill",
    ...id,
    "--start-time",
    day(1),
    "--end-time",
    day(3),
    "--overlap-policy",
    "AllowAll",
  );
  await until(
    "it has made up",
    async () => (await json("schedule", "describe", ...id)).info.numActionsTaken === 3,
  );
  const { workflow: { workflowId } } =
    (await json("schedule", "describe", ...id)).info.recentActions[0];
  assert.equal(await client.getHandle(report, workflowId).result(), "on costs");

  await until("it is listed", async () => (await json("schedule", "list")).length === 1);
  assert.match(
    await ok("schedule", "list"),
    /^State +ScheduleId +Type +Next +Latest +Note\nactive +daily +Report +in .* ago|now/,
  );
  assert.equal(await ok("schedule", "delete", ...id), "deleted daily\n");
  await failed(/schedule daily/, "schedule", "describe", ...id);
  await until("the list is empty", async () => (await json("schedule", "list")).length === 0);
  assert.match((await run("schedule", "list")).err, /no schedules at 127/);
});

test(
  "update-with-start, reset, delete and counts from the command line",
  { skip: noServer },
  async () => {
    const id = ["-w", "cart-1"];
    const uws = [
      "workflow",
      "update-with-start",
      ...id,
      "--type",
      "Cart",
      "-i",
      '"ada"',
      "--update-name",
      "add_item",
    ];
    assert.equal(await ok(...uws, "--update-input", '"BOOK-1"'), "1\n");
    const second = await json(...uws, "--update-input", '"BOOK-2"', "--update-id", "second");
    assert.deepEqual({ ...second, runId: "" }, {
      workflowId: "cart-1",
      runId: "",
      updateId: "second",
      name: "add_item",
      result: 2,
    });
    assert.match(
      await ok(...uws, "--update-input", '"BOOK-3"', "--wait-for-stage", "accepted"),
      /Stage +accepted/,
    );
    await failed(
      /cart-1 already exists.*--id-conflict-policy UseExisting/,
      ...uws,
      "--update-input",
      "1",
      "--id-conflict-policy",
      "Fail",
    );
    await ok("workflow", "signal", ...id, "--name", "checkout");
    assert.equal((await json("workflow", "result", ...id)).result.items.length, 3);

    const reset = await json(
      "workflow",
      "reset",
      ...id,
      "--type",
      "LastWorkflowTask",
      "--reason",
      "again",
    );
    assert.notEqual(reset.runId, second.runId);
    assert.equal(
      (await json("workflow", "result", ...id)).result.items.length,
      3,
      "what came in comes in again",
    );
    const text = await ok(
      "workflow",
      "reset",
      ...id,
      "--type",
      "FirstWorkflowTask",
      "--reason",
      "afresh",
      "--reapply-exclude",
      "All",
    );
    assert.match(text, /^WorkflowId +cart-1\nNew run +[\w-]{36}\n$/);
    await failed(/event/i, "workflow", "reset", ...id, "-e", "5000", "--reason", "no such event");

    // The server notes what it counts a moment later than what happens.
    await until("all are counted", async () => {
      const { groups } = await json(
        "workflow",
        "count",
        "-q",
        'WorkflowType = "Cart" GROUP BY ExecutionStatus',
      );
      const texts = (groups ?? []).map(({ count, values }: { count: number; values: unknown[] }) =>
        `${count} ${values}`
      );
      return texts.sort().join(", ") === "1 Running, 2 Completed";
    });
    const counted = await ok(
      "workflow",
      "count",
      "-q",
      'WorkflowType = "Cart" GROUP BY ExecutionStatus',
    );
    assert.match(counted, /^Count {2}Group\n/);
    assert.match(counted, /\d {2}Completed\n/);
    assert.match(counted, /3 {2}all\n$/);

    // What is closed goes after some ten seconds on this server, what is open at once.
    assert.match(
      (await run("workflow", "delete", "-q", 'WorkflowType = "Cart"')).err,
      /3 workflows match; add --yes/,
    );
    assert.match(
      (await run("workflow", "delete", "-q", 'WorkflowType = "Cart"', "--yes")).err,
      /^3 deleted/,
    );
    await ok("workflow", "start", "--type", "Cart", "-w", "cart-2", "-i", '"eve"');
    assert.equal(await ok("workflow", "delete", "-w", "cart-2"), "deleted cart-2\n");
    await until(
      "it is gone",
      async () => (await run("workflow", "describe", "-w", "cart-2")).code === 1,
    );
    await failed(/not found/, "workflow", "delete", "-w", "cart-2");
  },
);
