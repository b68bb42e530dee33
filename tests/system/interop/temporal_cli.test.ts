// Temporal's own command line on `temporalex dev` and on a real Temporal dev server: the same
// commands, the same output, but for ids and times. What the embedded engine does not have, it
// says.
// runtime: node (compares servers and programs; other files cover the runtime)
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test, type TestContext } from "node:test";
import { silentLogger } from "../../../ts/base/logger.ts";
import { GrpcService } from "../../../ts/grpc/grpc_service.ts";
import { Worker } from "../../../ts/worker/mod.ts";
import * as activities from "../../unit/cli/flows/activities.ts";
import { until } from "../../support/until.ts";
import { batchTranscript } from "./support/batch_commands.ts";
import { DevServer, noServer, temporalCli } from "./support/dev_server.ts";
import { OurServer } from "./support/our_server.ts";
import { SCHEDULES } from "./support/schedule_commands.ts";

const skip = noServer;
let ours: OurServer, theirs: DevServer, home: string;
const workers: { worker: Worker; service: GrpcService; running: Promise<void> }[] = [];

before(async () => {
  if (skip !== false) return;
  home = mkdtempSync(join(tmpdir(), "temporalex-cli-home-"));
  [ours, theirs] = await Promise.all([OurServer.start(), DevServer.start()]);
  for (const { address } of [ours, theirs]) {
    const service = new GrpcService({ address });
    const worker = await Worker.create({
      service,
      taskQueue: "default",
      workflows: new URL("../../unit/cli/flows/workflows.ts", import.meta.url),
      activities,
      logger: silentLogger,
    });
    workers.push({ worker, service, running: worker.run() });
  }
});

after(async () => {
  if (skip !== false) return;
  for (const { worker, service, running } of workers) {
    await worker.shutdown();
    await running;
    service.close();
  }
  await ours?.stop();
  await theirs?.stop();
  rmSync(home, { recursive: true, force: true });
});

interface Said {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs the command line; a separate home directory isolates it from the user's settings. */
function temporal(address: string, args: readonly string[]): Promise<Said> {
  return new Promise((resolve) =>
    execFile(
      temporalCli()!,
      [...args, "--address", address],
      { env: { PATH: process.env["PATH"], HOME: home }, timeout: 60_000 },
      (error, out, err) =>
        resolve({ code: error === null ? 0 : Number(error.code ?? 1), out, err }),
    )
  );
}

/** Ids, times and sizes differ from server to server. */
const plain = (text: string) =>
  text
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "<id>")
    .replace(/"?\d{4}-\d\d-\d\dT[\d:.]+Z"?/g, "<time>")
    .replace(/(now|\d+ \w+ ago) *$/gm, "<time>")
    .replace(/(\d+@\S+|temporal-cli:\S+?)(?=["\s])/g, "<who>")
    .replace(/"(durationMillis|historySizeBytes)": "?\d+"?/g, '"$1": 0')
    .replace(/^.*(HistorySize|StateTransitionCount|stateTransitionCount).*\n/gm, "")
    .replace(/^time=\S+ /gm, "")
    .replace(/^ *"taskId".*\n/gm, "")
    .replace(/(?<=^)[ ]+(?=["}\]])/gm, "")
    // Tables are as wide as what is in them.
    .replace(/ {2,}/g, "  ");

/** In this order: later commands stand on what earlier ones have done. */
const SAME: readonly (readonly string[])[] = [
  [
    "workflow",
    "start",
    "-w",
    "c1",
    "--type",
    "Cart",
    "-t",
    "default",
    "-i",
    '"ada"',
    "--memo",
    "note=1",
  ],
  [
    "workflow",
    "update",
    "execute",
    "-w",
    "c1",
    "--name",
    "add_item",
    "-i",
    '"BOOK"',
    "--update-id",
    "u1",
  ],
  [
    "workflow",
    "update",
    "start",
    "--wait-for-stage",
    "accepted",
    "-w",
    "c1",
    "--name",
    "add_item",
    "-i",
    '"PEN"',
    "--update-id",
    "u2",
  ],
  ["workflow", "update", "result", "-w", "c1", "--update-id", "u2", "-o", "json"],
  ["workflow", "update", "describe", "-w", "c1", "--update-id", "u2", "-o", "json"],
  [
    "workflow",
    "update",
    "execute",
    "-w",
    "c1",
    "--name",
    "add_item",
    "-i",
    '""',
    "--update-id",
    "u3",
  ],
  ["workflow", "update", "result", "-w", "c1", "--update-id", "absent"],
  ["workflow", "query", "-w", "c1", "--name", "status", "-o", "json"],
  ["workflow", "query", "-w", "c1", "--name", "absent"],
  ["workflow", "stack", "-w", "c1"],
  ["workflow", "stack", "-w", "c1", "-o", "json"],
  ["workflow", "metadata", "-w", "c1"],
  ["workflow", "metadata", "-w", "c1", "-o", "json"],
  ["workflow", "query", "-w", "c1", "--name", "__enhanced_stack_trace", "-o", "json"],
  ["workflow", "signal", "-w", "c1", "--name", "checkout"],
  ["workflow", "result", "-w", "c1"],
  ["workflow", "query", "-w", "c1", "--name", "status", "-o", "json"],
  ["workflow", "stack", "-w", "c1"],
  ["workflow", "metadata", "-w", "c1"],
  ["workflow", "show", "-w", "c1"],
  ["workflow", "cancel", "-w", "c1"],
  ["workflow", "signal", "-w", "c1", "--name", "checkout"],
  [
    "workflow",
    "start",
    "-w",
    "c1",
    "--type",
    "Cart",
    "-t",
    "default",
    "--id-reuse-policy",
    "RejectDuplicate",
  ],
  [
    "workflow",
    "execute",
    "-w",
    "c2",
    "--type",
    "Cart",
    "-t",
    "default",
    "-i",
    '"bob"',
    "--run-timeout",
    "4s",
    "-o",
    "json",
  ],
  ["workflow", "start", "-w", "c3", "--type", "Cart", "-t", "default", "-i", '"cat"'],
  ["workflow", "cancel", "-w", "c3"],
  ["workflow", "result", "-w", "c3"],
  ["workflow", "start", "-w", "c4", "--type", "Cart", "-t", "default", "-i", '"dan"'],
  // Behind its first task: what closes it names its event.
  ["workflow", "query", "-w", "c4", "--name", "status", "-o", "json"],
  ["workflow", "terminate", "-w", "c4", "--reason", "enough"],
  ["workflow", "result", "-w", "c4", "-o", "json"],
  [
    "workflow",
    "signal-with-start",
    "-w",
    "c5",
    "--type",
    "Cart",
    "-t",
    "default",
    "-i",
    '"eve"',
    "--signal-name",
    "checkout",
  ],
  ["workflow", "result", "-w", "c5"],
  [
    ...[
      "workflow",
      "execute-update-with-start",
      "-w",
      "c6",
      "--type",
      "Cart",
      "-t",
      "default",
      "-i",
      '"flo"',
      "--update-name",
      "add_item",
    ],
    ...["--update-input", '"X"', "--id-conflict-policy", "UseExisting", "-o", "json"],
  ],
  ["workflow", "describe", "-w", "absent"],
  ["workflow", "show", "-w", "absent"],
  ["workflow", "terminate", "-w", "absent"],
  ["workflow", "query", "-w", "absent", "--name", "x"],
  ["workflow", "delete", "-w", "absent"],
  ["activity", "complete", "-w", "c6", "-a", "absent", "--result", "1", "--identity", "me"],
  ["activity", "fail", "-w", "c6", "-a", "absent", "--identity", "me"],
  ["operator", "cluster", "health"],
];

async function compareCommands(t: TestContext, commands: readonly (readonly string[])[]) {
  for (const args of commands) {
    await t.test(args.join(" "), async () => {
      const [found, expected] = await Promise.all([
        temporal(ours.address, args),
        temporal(theirs.address, args),
      ]);
      assert.deepEqual([found.code, plain(found.out), plain(found.err)], [
        expected.code,
        plain(expected.out),
        plain(expected.err),
      ]);
    });
  }
}

test("the same commands print the same", { skip }, (t) => compareCommands(t, SAME));

test("stack trace and metadata queries print the same on both servers, also for closed runs", {
  skip,
}, async () => {
  for (const { address } of [ours, theirs]) {
    const start = await temporal(address, [
      "workflow",
      "start",
      "-w",
      "s1",
      "--type",
      "Slow",
      "-t",
      "default",
      "-i",
      "3600000",
    ]);
    assert.equal(start.code, 0, start.err);
    for (const state of ["open", "terminated"]) {
      const { out, err } = await temporal(address, ["workflow", "stack", "-w", "s1"]);
      assert.match(
        out,
        /run of workflow \\"Slow\\": sleep\\n {4}at .*flows\/workflows\.[jt]s:\d+:\d+/,
        `${state}: ${err}`,
      );
      const enhanced = await temporal(address, [
        ...["workflow", "query", "-w", "s1", "--name", "__enhanced_stack_trace", "-o", "json"],
      ]);
      const [{ sdk, stacks }] = JSON.parse(enhanced.out).queryResult;
      assert.equal(sdk.name, "temporalex-ts");
      assert.match(stacks[0].locations[0].file_path, /^\/.*flows\/workflows\.[jt]s$/);
      if (state === "open") {
        await temporal(address, ["workflow", "terminate", "-w", "s1", "--reason", "enough"]);
      }
    }
    const { out } = await temporal(address, ["workflow", "metadata", "-w", "s1"]);
    assert.match(out, /Query Definitions:\n +__enhanced_stack_trace/);
    await temporal(address, ["workflow", "delete", "-w", "s1"]);
  }
});

test("list, count, describe, backwards, task queues, namespaces, clusters", { skip }, async () => {
  const json = async (...args: string[]) => {
    const { out, err } = await temporal(ours.address, [...args, "-o", "json"]);
    return JSON.parse(out || assert.fail(err));
  };
  const ids = (await json("workflow", "list", "--query", "ExecutionStatus = 'Completed'")).map(
    (each: { execution: { workflowId: string } }) => each.execution.workflowId,
  );
  assert.deepEqual(ids, ["c5", "c1"]);
  assert.equal((await json("workflow", "count")).count, "6");
  const { workflowExecutionInfo: info } = await json("workflow", "describe", "-w", "c6");
  assert.deepEqual([info.status, info.type.name, info.taskQueue], [
    "WORKFLOW_EXECUTION_STATUS_RUNNING",
    "Cart",
    "default",
  ]);
  const queue = await json("task-queue", "describe", "-t", "default");
  assert.deepEqual(
    queue.pollers.map((each: { taskQueueType: string }) => each.taskQueueType).sort(),
    ["activity", "workflow"],
  );
  assert.deepEqual(
    queue.stats.map((each: { approximateBacklogCount: number }) => each.approximateBacklogCount),
    [0, 0],
  );
  assert.equal((await json("operator", "namespace", "list"))[0].namespaceInfo.name, "default");
  assert.equal(
    (await json("operator", "namespace", "describe", "-n", "default")).namespaceInfo.state,
    "NAMESPACE_STATE_REGISTERED",
  );
  assert.equal((await json("operator", "cluster", "describe")).clusterName, "temporalex");
  assert.ok((await json("operator", "cluster", "system")).serverVersion);
  assert.equal(
    (await json("operator", "search-attribute", "list")).systemAttributes.WorkflowId,
    "INDEXED_VALUE_TYPE_KEYWORD",
  );
  const made = await temporal(ours.address, ["operator", "namespace", "create", "-n", "late"]);
  assert.match(made.out + made.err, /late successfully registered/);
  assert.deepEqual(await json("workflow", "list", "-n", "late"), []);
});

test("lists have the same order, and NOT the same meaning", { skip }, async () => {
  for (
    const query of [
      "",
      "NOT ExecutionStatus = 'Running'",
      "NOT (WorkflowId = 'c1' OR CloseTime IS NULL) AND NOT WorkflowId IN ('c4')",
    ]
  ) {
    const listed = async (address: string) => {
      const { out, err } = await temporal(address, [
        "workflow",
        "list",
        "-o",
        "json",
        ...(query === "" ? [] : ["--query", query]),
      ]);
      return JSON.parse(out || assert.fail(err)).map((
        each: { execution: { workflowId: string } },
      ) => each.execution.workflowId);
    };
    const expected = await listed(ours.address);
    assert.ok(expected.length >= 2, query);
    // A server's index is late by a moment.
    await until(
      `the server lists ${expected} for "${query}"`,
      async () => `${await listed(theirs.address)}` === `${expected}`,
    );
  }
});

test("descriptions and task queues contain the fields that tools require", { skip }, async () => {
  const described = async (address: string) => {
    // No worker: a server adds what it knows of workers.
    const start = await temporal(address, [
      "workflow",
      "start",
      "-w",
      "d1",
      "--type",
      "Cart",
      "-t",
      "nowhere",
    ]);
    assert.equal(start.code, 0, start.err);
    const { out, err } = await temporal(address, [
      "workflow",
      "describe",
      "-w",
      "d1",
      "-o",
      "json",
    ]);
    await temporal(address, ["workflow", "delete", "-w", "d1"]);
    return JSON.parse(out || assert.fail(err)).workflowExecutionInfo;
  };
  const [found, expected] = await Promise.all([described(ours.address), described(theirs.address)]);
  assert.deepEqual([found.memo, found.searchAttributes], [
    expected.memo,
    expected.searchAttributes,
  ]);
  assert.deepEqual([found.memo, found.searchAttributes], [{}, {}]);
  for (const { address } of [ours, theirs]) {
    const { code, out, err } = await temporal(address, [
      "task-queue",
      "describe",
      "-t",
      "default",
      "--legacy-mode",
      "-o",
      "json",
    ]);
    assert.equal(code, 0, err);
    const { start_id: start, end_id: end } = JSON.parse(out).taskQueues[0].task_id_block;
    assert.deepEqual([start, end], [1, 100_000]);
  }
  const more = [
    "--description",
    "of the shop",
    "--email",
    "shop@example.com",
    "--data",
    "team=a",
    "--retention",
    "3d",
  ];
  for (const { address } of [ours, theirs]) {
    const made = await temporal(address, [
      "operator",
      "namespace",
      "create",
      "-n",
      "told",
      ...more,
    ]);
    assert.equal(made.code, 0, made.err);
    const { out } = await temporal(address, [
      "operator",
      "namespace",
      "describe",
      "-n",
      "told",
      "-o",
      "json",
    ]);
    const { namespaceInfo, config } = JSON.parse(out);
    assert.deepEqual([
      namespaceInfo.description,
      namespaceInfo.ownerEmail,
      namespaceInfo.data,
      config.workflowExecutionRetentionTtl,
    ], [
      "of the shop",
      "shop@example.com",
      { team: "a" },
      "259200s",
    ]);
  }
  const change = ["--description", "of a shop", "--data", "floor=2", "--retention", "2d"];
  const told = (
    verb: string,
    ...more: string[]
  ) => ["operator", "namespace", verb, "-n", "told", ...more];
  for (const { address } of [ours, theirs]) {
    const changed = await temporal(address, told("update", ...change));
    assert.equal(changed.code, 0, changed.err);
    const { out } = await temporal(address, told("describe", "-o", "json"));
    const { namespaceInfo, config } = JSON.parse(out);
    assert.deepEqual([
      namespaceInfo.description,
      namespaceInfo.ownerEmail,
      namespaceInfo.data,
      config.workflowExecutionRetentionTtl,
    ], ["of a shop", "shop@example.com", { team: "a", floor: "2" }, "172800s"]);
    const deleted = await temporal(address, told("delete", "--yes"));
    assert.match(deleted.out + deleted.err, /told has been deleted/);
    const gone = await temporal(address, told("describe"));
    assert.deepEqual([gone.code, /told is not found/.test(gone.err)], [1, true], gone.err);
  }
  const global = await temporal(ours.address, [
    "operator",
    "namespace",
    "create",
    "-n",
    "wide",
    "--global",
  ]);
  assert.match(global.err, /namespace wide cannot be registered: a global namespace/);
});

test("a deleted workflow is gone", { skip }, async () => {
  assert.equal((await temporal(ours.address, ["workflow", "delete", "-w", "c6"])).code, 0);
  assert.match(
    (await temporal(ours.address, ["workflow", "describe", "-w", "c6"])).err,
    /workflow not found for ID: c6/,
  );
});

test("unsupported features are reported with an alternative", { skip }, async (t) => {
  for (
    const [args, words] of [
      [["task-queue", "versioning", "get-rules", "-t", "default"], /worker deployments/],
      [["operator", "cluster", "list"], /other clusters/],
      [["workflow", "list", "-n", "other"], /start it with --namespace other/],
    ] as const
  ) {
    await t.test(args.join(" "), async () => {
      const { code, err } = await temporal(ours.address, args);
      assert.notEqual(code, 0);
      assert.match(err, words);
    });
  }
});

test("batch operations print the same", { skip }, async () => {
  const [found, expected] = await Promise.all([
    batchTranscript((args) => temporal(ours.address, args), plain),
    batchTranscript((args) => temporal(theirs.address, args), plain),
  ]);
  assert.deepEqual(found, expected);
});

test(
  "the same commands of schedules print the same",
  { skip },
  (t) => compareCommands(t, SCHEDULES),
);
