// `temporalex schedule ...`, `workflow reset`, `delete`, `count` and `update-with-start`: user
// errors, and the output for a cluster that does not respond. tests/system/interop/cli.test.ts
// tests what they do on a cluster.
import assert from "node:assert/strict";
import { createServer as createHttp2Server } from "node:http2";
import { createServer } from "node:net";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { calendarText } from "../../../ts/cli/commands/schedule/describe_list.ts";
import { decodeSpec, encodeSpec } from "../../../ts/client/schedules/spec.ts";
import { ScheduleSpecSchema } from "../../../ts/messages/generated/temporal/api/schedule/v1/message_pb.ts";
import { create } from "@bufbuild/protobuf";
import { serviceHandler } from "../../../ts/server/grpc_handlers.ts";
import { ScriptedService } from "../../support/scripted_service.ts";
import { Servers } from "../grpc/support/servers.ts";
import { run } from "./support/run.ts";

let folder = "";
before(() => {
  folder = mkdtempSync(join(tmpdir(), "temporalex-schedule-"));
});
after(() => rmSync(folder, { recursive: true, force: true }));

async function assertRejected(words: RegExp, ...args: string[]): Promise<void> {
  const text = await run(args, { cwd: folder });
  assert.equal(text.code, 2, text.out + text.err);
  assert.match(text.err, words);
  assert.doesNotMatch(text.err, /\n\s+at /, "no stack trace");
}
/** A port without a server: an error that is found before the first call never gets so far. */
const AT = ["--address", "127.0.0.1:1"];
const CREATE = ["schedule", "create", "-s", "x", "--type", "Report", ...AT];

test("schedules of a store are created, changed and deleted; a workflow of one is reset", async () => {
  const ran = async (...args: string[]) => {
    const { code, out, err } = await run([...args, "--store", "shop.sqlite"], { cwd: folder });
    assert.equal(code, 0, out + err);
    return out;
  };
  await ran("workflow", "start", "--type", "Report", "-w", "first", "-t", "reports");
  const daily = ["--cron", "0 6 * * MON-FRI", "--time-zone", "Europe/Berlin"];
  await ran("schedule", "create", "-s", "daily", "--type", "Report", "-t", "reports", ...daily);
  assert.match(await ran("schedule", "describe", "-s", "daily"), /Europe\/Berlin/);
  assert.match(await ran("schedule", "list"), /daily/);
  await ran("schedule", "pause", "-s", "daily", "--notes", "holidays");
  assert.match(await ran("schedule", "describe", "-s", "daily"), /holidays/);
  await ran("schedule", "trigger", "-s", "daily");
  assert.match(await ran("workflow", "list"), /daily-/);
  await ran("schedule", "delete", "-s", "daily");
  assert.doesNotMatch(await ran("schedule", "list"), /daily/);
  const unfinished = await run(
    ["workflow", "reset", "-w", "first", "-e", "3", "--reason", "x", "--store", "shop.sqlite"],
    { cwd: folder },
  );
  assert.notEqual(unfinished.code, 0);
  assert.match(unfinished.err, /[Ww]orkflow task finish ID/);
});

test("an error in a schedule names the option or the field", async () => {
  await assertRejected(/--schedule-id <id> is missing/, "schedule", "describe", ...AT);
  await assertRejected(/--type <name> is missing/, "schedule", "create", "-s", "x", ...AT);
  await assertRejected(
    /--calendar is JSON such as .*not 0 6 \* \* \*; a cron expression goes to --cron/,
    ...CREATE,
    "--calendar",
    "0 6 * * *",
  );
  await assertRejected(
    /spec\.calendars\[0\]\.hour must be an integer from 0 to 23, not 25/,
    ...CREATE,
    "--calendar",
    '{"hour": 25}',
  );
  await assertRejected(/has no option "hours"/, ...CREATE, "--calendar", '{"hours": 5}');
  await assertRejected(/--interval is written every\/offset/, ...CREATE, "--interval", "1h/2m/3m");
  await assertRejected(/"often" is not a duration/, ...CREATE, "--interval", "often");
  await assertRejected(
    /--start-time is a moment such as .*not "tomorrow"/,
    ...CREATE,
    "--start-time",
    "tomorrow",
  );
  await assertRejected(
    /--start-time is a moment/,
    ...CREATE,
    "--start-time",
    "2030-01-01T00:00:00",
  );
  await assertRejected(
    /remainingActions must be an integer .*not 1\.5/,
    ...CREATE,
    "--remaining-actions",
    "1.5",
  );
  await assertRejected(
    /--overlap-policy.*Skip, BufferOne/,
    ...CREATE,
    "--overlap-policy",
    "Sometimes",
  );
  await assertRejected(/--input is not JSON/, ...CREATE, "-i", "ada");
  await assertRejected(
    /--unlimited and --remaining-actions/,
    "schedule",
    "update",
    "-s",
    "x",
    "--unlimited",
    "--remaining-actions",
    "3",
    ...AT,
  );
  await assertRejected(
    /--end-time <time> is missing/,
    "schedule",
    "backfill",
    "-s",
    "x",
    "--start-time",
    "2026-01-01",
    ...AT,
  );
  await assertRejected(/--limit must be a whole number/, "schedule", "list", "--limit", "0", ...AT);
});

test("reset, delete and update-with-start reject invalid input", async () => {
  const reset = ["workflow", "reset", "-w", "x", "--reason", "y", ...AT];
  await assertRejected(
    /--reason <text> is missing/,
    "workflow",
    "reset",
    "-w",
    "x",
    "-e",
    "4",
    ...AT,
  );
  await assertRejected(
    /--event-id, --type or --build-id is required, and one of them only/,
    ...reset,
  );
  await assertRejected(/one of them only/, ...reset, "-e", "4", "--type", "LastWorkflowTask");
  await assertRejected(
    /--event-id must be a whole number of at least 1, not 0/,
    ...reset,
    "-e",
    "0",
  );
  await assertRejected(/--workflow-id or --query is required/, "workflow", "delete", ...AT);
  await assertRejected(
    /--update-name <name> is missing/,
    "workflow",
    "update-with-start",
    "-w",
    "x",
    "--type",
    "Cart",
    ...AT,
  );
  const uws = [
    "workflow",
    "update-with-start",
    "-w",
    "x",
    "--type",
    "Cart",
    "--update-name",
    "add",
    ...AT,
  ];
  await assertRejected(
    /--update-input is not JSON: .*--update-input '"BOOK"'/,
    ...uws,
    "--update-input",
    "BOOK",
  );
});

test("a workflow of a store is reset, and counted by status", async () => {
  const store = ["--store", join(folder, "some.sqlite")];
  const started = await run(["workflow", "start", "--type", "Cart", "-w", "w", ...store], {
    cwd: folder,
  });
  assert.equal(started.code, 0, started.err);
  const refused = await run(
    ["workflow", "reset", "-w", "w", "--reason", "y", "-e", "2", ...store],
    {
      cwd: folder,
    },
  );
  assert.equal(refused.code, 1, refused.out);
  assert.match(refused.err, /Can only reset workflow to event ID in range/);
  const counted = await run(
    ["workflow", "count", "--query", "GROUP BY ExecutionStatus", ...store],
    { cwd: folder },
  );
  assert.equal(counted.out, "Count  Group\n    1  Running\n    1  all\n", counted.err);
  const asJson = await run([
    "workflow",
    "count",
    "--query",
    "GROUP BY ExecutionStatus",
    "--json",
    ...store,
  ], { cwd: folder });
  assert.deepEqual(JSON.parse(asJson.out), {
    count: 1,
    groups: [{ values: ["Running"], count: 1 }],
  });
  const unsure = await run(["workflow", "delete", "--query", 'WorkflowType = "Cart"', ...store], {
    cwd: folder,
  });
  assert.match(unsure.err, /1 workflow matches; add --yes to continue/);
  const removed = await run(["workflow", "delete", "-w", "w", ...store], { cwd: folder });
  assert.equal(removed.out, "deleted w\n", removed.err);
  const left = await run(["workflow", "count", ...store], { cwd: folder });
  assert.equal(left.out, "0\n");
});

test("a cluster that does not respond: a terminal shows the retries, a program's output does not", async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  const list = ["workflow", "list", "--address", `127.0.0.1:${port}`, "--timeout", "2s"];
  const watched = await run(list, { terminal: true, errTerminal: true });
  assert.equal(watched.code, 1);
  assert.match(
    watched.err,
    new RegExp(
      `no response from 127\\.0\\.0\\.1:${port} \\(ECONNREFUSED\\), trying again\\.+ Ctrl-C cancels`,
    ),
  );
  const [, last] = watched.err.split(/trying again[^\r]*\r(?!.*trying again)/s);
  assert.match(
    last ?? "",
    /^.\[2K.*cannot reach a Temporal cluster at/s,
    "the line is wiped before the error",
  );
  const piped = await run(list);
  assert.doesNotMatch(piped.err, /trying again/);
  assert.match(piped.err, /cannot reach a Temporal cluster at 127\.0\.0\.1/);
});

test("a schedule without times is created with a notice that it acts only when triggered", async () => {
  const servers = new Servers();
  const service = new ScriptedService().on("createSchedule", () => ({}));
  await servers.serve("cluster", createHttp2Server(serviceHandler(service)));
  const create = [
    "schedule",
    "create",
    "-s",
    "x",
    "--type",
    "Report",
    "--address",
    servers.at("cluster"),
  ];
  try {
    const without = await run(create, { cwd: folder });
    assert.equal(without.code, 0, without.err);
    assert.match(
      without.err,
      /^it has no --cron, --interval or --calendar: it acts when temporalex schedule trigger says so\n$/,
    );
    assert.equal((await run([...create, "--interval", "1h"], { cwd: folder })).err, "");
  } finally {
    await servers.close();
  }
});

test("calendars are described in words", () => {
  const shown = (calendar: Parameters<typeof encodeSpec>[0]["calendars"]) =>
    decodeSpec(create(ScheduleSpecSchema, encodeSpec({ calendars: calendar! }))).calendars.map(
      calendarText,
    )[0];
  assert.equal(shown([{ hour: 6 }]), "hour 6");
  assert.equal(
    shown([{
      hour: [6, { start: 12, end: 18, step: 3 }],
      dayOfWeek: { start: "MONDAY", end: "FRIDAY" },
    }]),
    "dayOfWeek MONDAY-FRIDAY, hour 6,12-18/3",
  );
  assert.equal(
    shown([{ minute: "*", hour: "*", comment: "each minute" }]),
    "hour 0-23, minute 0-59 (each minute)",
  );
  assert.equal(
    shown([{ year: 2030, month: "MARCH", dayOfMonth: 1 }]),
    "year 2030, month MARCH, dayOfMonth 1, hour 0",
  );
});
