// Every option and every member of an enumeration that the official SDK's types have for commands
// of workflows: the same program, with that option, on the official worker and on ours, and what
// both leave in history. The names are read from the declarations of the installed packages; one
// that has no value here, or is not refused by name, fails the test.
// takes: 40 s
// runtime: node (compares servers and programs; other files cover the runtime)
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { silentLogger } from "../../../ts/base/logger.ts";
import { Client, DeadlineExceededError } from "../../../ts/client/mod.ts";
import { GrpcService } from "../../../ts/grpc/grpc_service.ts";
import { Worker } from "../../../ts/worker/mod.ts";
import { COMMANDS, type Row, rows } from "./compat/option_table.ts";
import { DevServer, noServer } from "./support/dev_server.ts";
import { noOfficial, official, root } from "./support/official.ts";

const only = process.env["WALK"] ?? "";
const skip = noOfficial !== false ? noOfficial : noServer;
const program = join(root, "tests/system/interop/compat/options.ts");

/** What of a command's event depends on the run, the worker, or the moment. */
const VOLATILE = new Set([
  ...[
    "eventId",
    "eventTime",
    "taskId",
    "workflowTaskCompletedEventId",
    "newExecutionRunId",
    "firstExecutionRunId",
  ],
  ...[
    "originalExecutionRunId",
    "continuedExecutionRunId",
    "eventGroupMarkers",
    "version",
  ],
]);

/** Left in history by what the server does, and not by a command. */
const SERVERS =
  /WORKFLOW_TASK|EXECUTION_STARTED|EXECUTION_COMPLETED|FIRED$|TIMED_OUT|TASK_(STARTED|COMPLETED)$|_FAILED$/;

const isEmpty = (value: unknown) =>
  typeof value === "object" && value !== null && Object.keys(value).length === 0;

/**
 * A field in comparable form: a message without fields counts as absent; the marker of a local
 * activity contains its duration.
 */
function compared(name: string, value: unknown): unknown {
  if (VOLATILE.has(name) || isEmpty(value)) return undefined;
  if (name !== "details") return value;
  const { data, ...rest } = value as { data?: { payloads?: { data: string }[] } };
  if (data?.payloads === undefined) return value;
  const read = JSON.parse(Buffer.from(data.payloads[0]!.data, "base64").toString()) as object;
  // Our marker says in which activation the result came.
  return {
    ...rest,
    ...Object.fromEntries(
      Object.entries(read).filter(([key]) => !/time$|^activation_index$/.test(key)),
    ),
  };
}

/** The events of commands, as lines "path: value". */
function commandLines(json: string, queue: string): string[] {
  const { events } = JSON.parse(json) as { events: { eventType: string }[] };
  const own = events.filter(({ eventType }) => !SERVERS.test(eventType));
  const read: unknown = JSON.parse(
    JSON.stringify(own).replaceAll(queue, "own queue").replace(/run id [0-9a-f-]{36}/g, "run id"),
    compared,
  );
  const lines = (value: unknown, path: string): string[] =>
    typeof value === "object" && value !== null
      ? Object.entries(value).flatMap(([name, each]) => lines(each, `${path}.${name}`))
      : [`${path.slice(1)}: ${JSON.stringify(value)}`];
  return lines(read, "").sort();
}

let server: DevServer, service: GrpcService, client: Client;

before(async () => {
  if (skip !== false) return;
  server = await DevServer.start();
  service = new GrpcService({ address: server.address });
  client = new Client({ service, logger: silentLogger });
  const connection = await official("@temporalio/client").Connection.connect({
    address: server.address,
  });
  const KEYWORD = 2, INT = 3, BOOL = 5, DATETIME = 6, KEYWORD_LIST = 7;
  await connection.operatorService.addSearchAttributes({
    namespace: "default",
    searchAttributes: {
      WalkKeyword: KEYWORD,
      WalkInt: INT,
      WalkBool: BOOL,
      WalkTime: DATETIME,
      WalkList: KEYWORD_LIST,
    },
  });
  await connection.close();
});

after(async () => {
  service?.close();
  await server?.stop();
});

/** Histories of all rows, some at once. */
async function histories(
  all: readonly Row[],
  queue: string,
): Promise<string[]> {
  const found: string[] = Array.from({ length: all.length }, () => "");
  let next = 0;
  const lane = async () => {
    for (let i = next++; i < all.length; i = next++) {
      const { command, options } = all[i]!;
      const id = `walk-${queue}-${i}`;
      const { firstExecutionRunId: runId } = await client.start("walk", {
        id,
        taskQueue: queue,
        args: [{ command, options }],
      });
      const handle = client.getHandle(undefined, id, runId);
      // Its outcome is in its history.
      const outcome = await handle.result({ followRuns: false, timeout: 30_000 })
        .catch((error: unknown) => error);
      found[i] = await handle.historyJson();
      if (outcome instanceof DeadlineExceededError) await handle.terminate("it does not end");
    }
  };
  await Promise.all(Array.from({ length: 6 }, lane));
  return found;
}

test(
  "each option of the official types has values here or a separate test",
  { skip },
  () => {
    for (const { name, members, values, elsewhere = [] } of COMMANDS) {
      const known = [...Object.keys(values), ...elsewhere];
      assert.deepEqual(
        members().filter((option) => !known.includes(option)),
        [],
        `options of ${name} that are not walked`,
      );
      assert.deepEqual(
        known.filter((option) => !members().includes(option)),
        [],
        `options of ${name} that there are not`,
      );
    }
  },
);

test("commands with each option are recorded like those of the official worker", {
  skip,
}, async (t) => {
  const all = rows().filter(({ command, label }) => `${command} ${label}`.includes(only));
  const { NativeConnection, Runtime, DefaultLogger, Worker: OfficialWorker } = official(
    "@temporalio/worker",
  );
  Runtime.install({ logger: new DefaultLogger("ERROR"), shutdownSignals: [] });
  const connection = await NativeConnection.connect({
    address: server.address,
  });
  const activities = { work: (): string => "done" };
  const theirs = await OfficialWorker.create({
    connection,
    taskQueue: "official-queue",
    workflowsPath: program,
    activities,
  });
  const expected: string[] = await theirs.runUntil(() => histories(all, "official-queue"));
  await connection.close();
  const worker = await Worker.create({
    service,
    taskQueue: "our-queue",
    workflows: program,
    activities,
    logger: silentLogger,
  });
  const found = await worker.runUntil(() => histories(all, "our-queue"));
  const different = all.flatMap(({ command, label }, i) => {
    const [theirs, ours] = [
      commandLines(expected[i]!, "official-queue"),
      commandLines(found[i]!, "our-queue"),
    ];
    assert.ok(theirs.length > 0, `${command}, ${label}: the official worker issued no command`);
    const missing = theirs.filter((line) => !ours.includes(line)).map((line) => `- ${line}`);
    const extra = ours.filter((line) => !theirs.includes(line)).map((line) => `+ ${line}`);
    return missing.length + extra.length === 0
      ? []
      : [`${command}, ${label}: ${[...missing, ...extra].join(" ")}`];
  });
  t.diagnostic(
    `${all.length} options and members compared, ${different.length} differ`,
  );
  assert.deepEqual(different, []);
});
