// Every option and every member of an enumeration that the official SDK's types have for commands of workflows: the same program, with that
// option, on the official worker and on ours, and what both leave in history. The names are read from the declarations of the installed
// packages; one that has no value here, or is not refused by name, fails the test.
// takes: 40 s
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { silentLogger } from "../../ts/base/logger.ts";
import { Client } from "../../ts/client/mod.ts";
import { GrpcService } from "../../ts/grpc/grpc_service.ts";
import { Worker } from "../../ts/worker/mod.ts";
import { COMMANDS, type Row, rows } from "./compat/option_table.ts";
import { DevServer, noServer } from "./support/dev_server.ts";
import { noOfficial, official, root } from "./support/official.ts";

const only = process.env["WALK"] ?? "";
const skip = noOfficial !== false ? noOfficial : noServer;
const program = join(root, "tests/interop/compat/options.ts");

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

// deno-lint-ignore no-explicit-any
function commandEvents(json: string, queue: string): any[] {
  const { events } = JSON.parse(json) as { events: { eventType: string }[] };
  return events.filter(({ eventType }) =>
    !/WORKFLOW_TASK|EXECUTION_STARTED|EXECUTION_COMPLETED|FIRED$|TIMED_OUT/
      .test(eventType)
  )
    .filter(({ eventType }) =>
      !/(TASK_STARTED|TASK_COMPLETED|EXTERNAL_WORKFLOW_EXECUTION_FAILED|START_CHILD.*_FAILED)$/
        .test(eventType)
    )
    .map((event) =>
      JSON.parse(
        JSON.stringify(event).replaceAll(queue, "own queue"),
        (name, value) => VOLATILE.has(name) ? undefined : value,
      )
    ).map((event) => {
      // The marker of a local activity holds how long it took.
      const details = event.markerRecordedEventAttributes?.details;
      if (details?.data !== undefined) {
        const data = JSON.parse(
          Buffer.from(details.data.payloads[0].data, "base64").toString(),
        );
        details.data = Object.fromEntries(
          Object.entries(data).filter(([name]) => !/time$/.test(name)),
        );
      }
      return event;
    });
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
  refusing: boolean,
): Promise<string[]> {
  const found: string[] = Array.from({ length: all.length }, () => "");
  let next = 0;
  const lane = async () => {
    for (let i = next++; i < all.length; i = next++) {
      const { command, options } = all[i]!;
      const id = `walk-${queue}-${i}`;
      const handle = await client.start("walk", {
        id,
        taskQueue: queue,
        args: [{ command, options }],
      });
      if (refusing) {
        const end = Date.now() + 30_000;
        while (
          !found[i]!.includes("EVENT_TYPE_WORKFLOW_TASK_FAILED") &&
          Date.now() < end
        ) {
          await new Promise((go) => setTimeout(go, 20));
          found[i] = await handle.historyJson();
        }
        await handle.terminate("seen");
        continue;
      }
      const end = Date.now() + 30_000;
      while (
        (await handle.describe()).status === "RUNNING" && Date.now() < end
      ) await new Promise((go) => setTimeout(go, 20));
      found[i] = await handle.historyJson();
      if ((await handle.describe()).status === "RUNNING") {
        await handle.terminate("it does not end");
      }
    }
  };
  await Promise.all(Array.from({ length: 6 }, lane));
  return found;
}

test(
  "each option of the official types has values here, or is refused by name",
  { skip },
  () => {
    for (const { name, members, values, refused, elsewhere = [] } of COMMANDS) {
      const known = [
        ...Object.keys(values),
        ...Object.keys(refused),
        ...elsewhere,
      ];
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

test("a command with each option is in history as from the official worker", {
  skip,
}, async (t) => {
  const all = rows().filter(({ command, label }) => `${command} ${label}`.includes(only));
  const { NativeConnection, Runtime, DefaultLogger, Worker: OfficialWorker } = official("@temporalio/worker");
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
  const expected: string[] = await theirs.runUntil(() => histories(all, "official-queue", false));
  await connection.close();
  const worker = await Worker.create({
    service,
    taskQueue: "our-queue",
    workflows: program,
    activities,
    logger: silentLogger,
  });
  const found = await worker.runUntil(() => histories(all, "our-queue", false));
  const different = all.flatMap(({ command, label }, i) => {
    const [theirs, ours] = [
      commandEvents(expected[i]!, "official-queue"),
      commandEvents(found[i]!, "our-queue"),
    ];
    assert.ok(
      theirs.length > 0,
      `${command}, ${label}: the official worker issued no command`,
    );
    try {
      assert.deepEqual(ours, theirs);
      return [];
    } catch (error) {
      return [`${command}, ${label}: ${(error as Error).message}`];
    }
  });
  t.diagnostic(
    `${all.length} options and members compared, ${different.length} differ`,
  );
  assert.deepEqual(different, []);
});

test(
  "an option that has no effect here fails the task by its name",
  { skip },
  async () => {
    const all = COMMANDS.flatMap(({ name, refused }) =>
      Object.entries(refused).map(([option, value]): Row => ({
        command: name,
        label: option,
        options: { [option]: value },
      }))
    );
    const worker = await Worker.create({
      ...{
        service,
        taskQueue: "refusing-queue",
        workflows: program,
        logger: silentLogger,
      },
      activities: { work: (): string => "done" },
    });
    const found = await worker.runUntil(() => histories(all, "refusing-queue", true));
    all.forEach(({ command, label }, i) => {
      assert.match(
        found[i]!,
        new RegExp(`the option \\\\"${label}\\\\" of .* is not supported here`),
        `${command}: ${label}`,
      );
    });
  },
);
