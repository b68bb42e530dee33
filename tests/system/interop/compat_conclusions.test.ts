// What workflow code does when an activation is concluded (`concludeActivation` of an interceptor),
// at once or in the reactions of promises: its commands leave with the next activation, as with the
// official worker. The same workflows on both workers, with and without a cache of runs; each
// replays the other's histories.
// takes: 60 s
// runtime: node (compares servers and programs; other files cover the runtime)
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { silentLogger } from "../../../ts/base/logger.ts";
import { Client, type WorkflowHandle } from "../../../ts/client/mod.ts";
import { GrpcService } from "../../../ts/grpc/grpc_service.ts";
import { createWorkerRealm } from "../../../ts/realm/mod.ts";
import { Worker } from "../../../ts/worker/mod.ts";
import { until } from "../../support/until.ts";
import { DevServer, noServer } from "./support/dev_server.ts";
import { noOfficial, officialVerdicts, quietWorkerPackage, root } from "./support/official.ts";

const skip = noOfficial !== false ? noOfficial : noServer;
const workflows = join(root, "tests/system/interop/compat/concluded.ts");
const interceptors = join(root, "tests/system/interop/compat/concluding.ts");
const activities = {
  work: (what: string) => what,
  local: (what: string) => what,
  slow: () => new Promise((resolve) => setTimeout(resolve, 1000)),
};

const ENDING = [
  ...[
    "inReaction",
    "inHook",
    "inFunction",
    "wakesMain",
    "becomesTrue",
    "endsMain",
    "hasEnded",
    "eachTime",
    "cancels",
    "takesBack",
  ],
  ...["allKinds", "betweenLocals", "responds", "continues"],
];
const FAILING = ["throwsLater", "rejects"];
/**
 * The official worker learns of unhandled rejections from `process`; Deno reports them after the
 * task, so there it completes that run.
 */
const THEIRS = "Deno" in globalThis ? FAILING.filter((type) => type !== "rejects") : FAILING;

let server: DevServer, service: GrpcService, client: Client;
// deno-lint-ignore no-explicit-any
let sdk: any, connection: any, workflowBundle: any;

before(async () => {
  if (skip !== false) return;
  server = await DevServer.start();
  service = new GrpcService({ address: server.address });
  client = new Client({ service, logger: silentLogger });
  sdk = quietWorkerPackage();
  connection = await sdk.NativeConnection.connect({ address: server.address });
  workflowBundle = await sdk.bundleWorkflowCode({
    workflowsPath: workflows,
    workflowInterceptorModules: [interceptors],
    logger: new sdk.DefaultLogger("ERROR"),
  });
});

after(async () => {
  await connection?.close();
  service?.close();
  await server?.stop();
});

interface Ran {
  readonly result: unknown;
  readonly lines: readonly string[];
  readonly history: Uint8Array;
}

/**
 * What the commands of each completed task left, a line for each that had any; whatever comes when
 * it likes is left out.
 */
const LEFT = new RegExp(
  "^(TIMER_(STARTED|CANCELED)|ACTIVITY_TASK_(SCHEDULED|CANCEL_REQUESTED)|.*_INITIATED|MARKER_RECORDED|WORKFLOW_PROPERTIES_MODIFIED|" +
    "WORKFLOW_EXECUTION_(COMPLETED|CONTINUED_AS_NEW|UPDATE_ACCEPTED|UPDATE_COMPLETED))$",
);
const FAILED = "WORKFLOW_TASK_FAILED";

/**
 * Ends with a task that failed, where `failing`; else the server may have made one of those
 * (UnhandledCommand).
 */
async function linesOf(handle: WorkflowHandle, failing = false): Promise<string[]> {
  const { events } = JSON.parse(await handle.historyJson()) as { events: { eventType: string }[] };
  const lines: string[][] = [];
  for (const { eventType } of events) {
    const type = eventType.replace("EVENT_TYPE_", "");
    if (type === "WORKFLOW_TASK_COMPLETED") lines.push([]);
    else if (LEFT.test(type)) lines.at(-1)!.push(type);
    else if (type === FAILED && failing) {
      lines.push([FAILED]);
      break;
    }
  }
  return lines.map((line) => line.join(" ")).filter((line) => line !== "");
}

/** All of them on one queue. */
async function all(
  taskQueue: string,
  failing: readonly string[],
): Promise<{ [type: string]: Ran }> {
  const ran: { [type: string]: Ran } = {};
  await Promise.all([...ENDING, ...failing].map(async (type) => {
    const handle = await client.start(type, {
      id: `${type}-${taskQueue}`,
      taskQueue,
      args: [type === "continues"],
    });
    const first = client.getHandle(undefined, handle.workflowId, handle.firstExecutionRunId);
    if (failing.includes(type)) {
      await until(
        `a task of ${type} fails`,
        async () => (await linesOf(handle, true)).includes(FAILED),
      );
      ran[type] = {
        result: undefined,
        lines: await linesOf(handle, true),
        history: new Uint8Array(0),
      };
      await handle.terminate("seen");
      return;
    }
    if (type === "responds") {
      await until(
        "the first task is done",
        async () => /TASK_COMPLETED/.test(await handle.historyJson()),
      );
      const update = await handle.startUpdate("ask", { waitFor: "accepted" });
      await handle.signal("go");
      assert.equal(await update.result(), "responded");
    }
    const result = await handle.result();
    ran[type] = { result, lines: await linesOf(first), history: await first.historyBytes() };
  }));
  return ran;
}

for (const cached of [true, false]) {
  test(
    `what a conclusion sets off leaves with the next activation, ${
      cached ? "runs cached" : "without a cache"
    }`,
    { skip },
    async () => {
      const [theirQueue, ourQueue] = [`theirs-${cached}`, `ours-${cached}`];
      const their = await sdk.Worker.create({
        ...{ connection, taskQueue: theirQueue, workflowBundle, activities },
        maxCachedWorkflows: cached ? 100 : 0,
      });
      const our = await Worker.create({
        ...{
          service,
          taskQueue: ourQueue,
          workflows,
          workflowInterceptors: interceptors,
          activities,
          logger: silentLogger,
        },
        cachedWorkflows: cached ? 100 : 0,
      });
      const [theirs, ours] = await Promise.all([
        their.runUntil(() => all(theirQueue, THEIRS)),
        our.runUntil(() => all(ourQueue, FAILING)),
      ]);
      assert.deepEqual(ours.rejects!.lines, [FAILED]);
      for (const type of [...ENDING, ...THEIRS]) {
        assert.deepEqual(ours[type]!.result, theirs[type]!.result, type);
        assert.deepEqual(ours[type]!.lines, theirs[type]!.lines, type);
      }
      const verdicts = await officialVerdicts(
        workflowBundle,
        ENDING.map((type) => [`${type}-${ourQueue}`, ours[type]!.history]),
      );
      ENDING.forEach((type, i) => assert.equal(verdicts[i], "ok", type));
      for (const scopes of ["asyncLocalStorage", "rewritten"] as const) {
        const realm = await createWorkerRealm({ workflows, interceptors, cacheSize: 0, scopes });
        for (const type of ENDING) {
          for (
            const [queue, { history }] of [[ourQueue, ours[type]!], [
              theirQueue,
              theirs[type]!,
            ]] as const
          ) {
            const { verdict, error } = await realm.replay(`${type}-${queue}`, history);
            assert.equal(verdict, "ok", `${type}, ${scopes}: ${error?.message}`);
          }
        }
        await realm.dispose();
      }
    },
  );
}
