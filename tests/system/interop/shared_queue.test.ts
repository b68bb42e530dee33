// One task queue, served by Temporal's own worker and by one of temporalex/compat/worker with the
// same workflow file; runs are started by the official client. No workflow task may fail, whichever
// of them gets it. SHARED_QUEUE_RUNS says how many runs: 500 for a long look.
// takes: 90 s
// runtime: node (long; suite_worker and scenarios run workers on a server in each runtime)
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { after, before, test } from "node:test";
import { DefaultLogger, NativeConnection, Runtime, Worker } from "../../../ts/compat/worker/mod.ts";
import { DevServer, noServer } from "./support/dev_server.ts";
import { noOfficial, official, officialProgram, root } from "./support/official.ts";
import { runReport } from "./support/run_report.ts";

const skip = noServer || noOfficial;
const runs = Number(process.env["SHARED_QUEUE_RUNS"] ?? 16);
/** Runs at a time. */
const AT_ONCE = 8;
// deno-lint-ignore no-explicit-any
type Any = any;

let server: DevServer, client: Any, theirs: Any;
/** What both workers logged. */
const log: string[] = [];

before(async () => {
  if (skip !== false) return;
  server = await DevServer.start();
  const { Connection, Client } = official("@temporalio/client");
  theirs = await Connection.connect({ address: server.address });
  client = new Client({ connection: theirs });
  Runtime.install({
    logger: new DefaultLogger("WARN", ({ level, message, meta }) => {
      log.push(
        `ours: ${level} ${message} ${
          JSON.stringify(meta, (_, value) => value instanceof Error ? String(value.stack) : value)
        }`,
      );
    }),
  });
});

after(async () => {
  await theirs?.close();
  await server?.stop();
  await Runtime._instance?.shutdown();
});

/** Runs while the official worker, in a separate process, serves the queue. */
async function withOfficialWorker(
  taskQueue: string,
  cached: number,
  body: () => Promise<void>,
): Promise<void> {
  const program = spawn("node", [
    officialProgram("shared_queue_worker.mjs"),
    server.address,
    taskQueue,
    String(cached),
  ], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  program.stderr!.on("data", (chunk) => log.push(`official: ${String(chunk).trimEnd()}`));
  const kill = () => void program.kill("SIGKILL");
  process.once("exit", kill);
  const exit = new Promise((resolve) => program.once("exit", resolve));
  try {
    await new Promise((resolve, reject) => {
      program.stdout!.once("data", resolve);
      program.once(
        "exit",
        () => reject(new Error(`the official worker ended: ${log.join("\n")}`)),
      );
    });
    await body();
  } finally {
    program.kill("SIGTERM");
    await exit;
    process.off("exit", kill);
  }
}

/**
 * Who worked on a run's tasks, the workflow tasks that failed, and who was handed activities that
 * nothing came of.
 */
function seen(events: readonly Any[]): { workers: string[]; failed: string[]; lost: string[] } {
  const identities = events.flatMap((event) =>
    event.workflowTaskStartedEventAttributes?.identity ?? []
  );
  const failed = events.filter((event) => event.workflowTaskFailedEventAttributes != null)
    .map((event) => String(event.workflowTaskFailedEventAttributes.failure?.message));
  const lost = events.filter((event) => event.activityTaskTimedOutEventAttributes != null)
    .map(({ activityTaskTimedOutEventAttributes: { startedEventId } }) =>
      String(events[Number(startedEventId) - 1]?.activityTaskStartedEventAttributes?.identity)
    );
  return { workers: [...new Set<string>(identities)], failed, lost };
}

for (
  const [name, cached] of [["sticky caches", 100], ["no caches", 0]] as const
) {
  test(
    `two workers of both SDKs serve one queue, ${name}`,
    { skip },
    async (t) => {
      const taskQueue = `shared-${cached}`;
      const connection = await NativeConnection.connect({
        address: server.address,
      });
      const ours = await Worker.create({
        ...{
          connection,
          taskQueue,
          identity: "ours",
          maxCachedWorkflows: cached,
        },
        workflowsPath: join(root, "tests/system/interop/flows/shared_queue.ts"),
        activities: {
          add: (a: number, b: number) => a + b,
          local: (n: number) => n,
          fail: (message: string) => {
            throw new Error(message);
          },
        },
      });
      const workers = new Set<string>();
      let both = 0;
      await withOfficialWorker(taskQueue, cached, async () => {
        const judge = async (handle: Any) => {
          await handle.signal("more", 2000);
          assert.ok(await handle.query("sum") >= 2000);
          const { total, failure, ids } = await handle.result();
          assert.deepEqual([failure, ids], ["as requested", 5]);
          assert.ok(total >= 2018 && total <= 2019, String(total));
          const found = seen((await handle.fetchHistory()).events);
          assert.deepEqual(found.failed, []);
          for (const worker of found.lost) {
            t.diagnostic(`an activity was handed to the worker "${worker}", and never ran`);
          }
          if (found.workers.length === 2) both++;
          for (const worker of found.workers) workers.add(worker);
        };
        const one = async (i: number) => {
          const workflowId = `${taskQueue}-${i}`;
          const handle = await client.workflow.start("adds", { taskQueue, workflowId, args: [5] });
          await judge(handle).catch(async (error) => {
            throw runReport(workflowId, error, (await handle.fetchHistory()).events, log);
          });
        };
        await ours.runUntil(async () => {
          for (let i = 0; i < runs; i += AT_ONCE) {
            await Promise.all(
              Array.from(
                { length: Math.min(AT_ONCE, runs - i) },
                (_, j) => one(i + j),
              ),
            );
          }
        });
      });
      await connection.close();
      assert.deepEqual([...workers].sort(), ["official", "ours"]);
      if (cached === 0) assert.ok(both > 0, "some runs were led by both");
    },
  );
}
