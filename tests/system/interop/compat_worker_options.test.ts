// `Worker.options` and the build ids of workers, compared with the official worker on the same
// server: the options that code reads, and the version that histories record.
// takes: 50 s
// runtime: node (compares servers and programs; other files cover the runtime)
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { silentLogger } from "../../../ts/base/logger.ts";
import { Client } from "../../../ts/client/mod.ts";
import {
  DefaultLogger,
  NativeConnection,
  Runtime,
  Worker,
  type WorkerOptions,
} from "../../../ts/compat/worker/mod.ts";
import { GrpcService } from "../../../ts/grpc/grpc_service.ts";
import { DevServer, noServer, temporalCli } from "./support/dev_server.ts";
import { noOfficial, official, root } from "./support/official.ts";

const skip = noOfficial !== false ? noOfficial : noServer;
// Next to the official packages, which the workflows import.
const folder = skip === false
  ? mkdtempSync(join(root, "tests/system/interop/node_modules/.temporalex-options-"))
  : "";
const workflowsPath = join(folder, "workflows.mjs");
const WORKFLOWS =
  `import { condition, defineSignal, proxyActivities, setHandler, workflowInfo } from "@temporalio/workflow";
const { work } = proxyActivities({ startToCloseTimeout: "10s" });
const versions = () => [workflowInfo().currentBuildId, workflowInfo().currentDeploymentVersion];
export async function seen() {
  const first = versions();
  await work();
  return [first, versions()];
}
`;

// deno-lint-ignore no-explicit-any
type Any = any;
let server: DevServer, service: GrpcService, client: Client, OfficialWorker: Any;
/** Connections: two of each, because the official worker has one worker of a queue on each. */
let ours: NativeConnection[], theirs: Any[];
/** For the official worker, which would bundle the file each time. */
let workflowBundle: Any;
const connections = <C>(sdk: { connect(options: { address: string }): Promise<C> }) =>
  Promise.all([1, 2].map(() => sdk.connect({ address: server.address })));

before(async () => {
  if (skip !== false) return;
  writeFileSync(workflowsPath, WORKFLOWS);
  const apis = ["WorkflowAPIs", "RuleAPIs", "DataAPIs"].map((name) =>
    `frontend.workerVersioning${name}=true`
  );
  server = await DevServer.start(apis);
  service = new GrpcService({ address: server.address });
  client = new Client({ service, logger: silentLogger });
  const sdk = official("@temporalio/worker");
  OfficialWorker = sdk.Worker;
  sdk.Runtime.install({ logger: new sdk.DefaultLogger("ERROR"), shutdownSignals: [] });
  Runtime.install({ logger: new DefaultLogger("ERROR"), shutdownSignals: [] });
  const logger = new sdk.DefaultLogger("ERROR");
  workflowBundle = await sdk.bundleWorkflowCode({ workflowsPath, logger });
  ours = await connections(NativeConnection);
  theirs = await connections(sdk.NativeConnection);
});

after(async () => {
  if (skip !== false) return;
  for (const connection of [...ours ?? [], ...theirs ?? []]) await connection.close();
  service?.close();
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/**
 * What both keep in their own way: sinks of the SDK itself, connections, how much is kept in
 * memory, the checksum of a bundle.
 */
const OWN = new Set([
  "connection",
  "sinks",
  "maxCachedWorkflows",
  "buildId",
]);

/** Options as text: classes and functions by name, Maps as such. */
const shown = (options: object): { [name: string]: string } =>
  Object.fromEntries(
    Object.entries(options).filter(([name, value]) => !OWN.has(name) && value !== undefined).map((
      [name, value],
    ) => [
      name,
      JSON.stringify(value, (_, each) => {
        if (typeof each === "function") return "a function";
        if (each instanceof Map) return { map: [...each.keys()] };
        if (typeof each !== "object" || each === null || Array.isArray(each)) return each;
        return each.constructor === Object
          ? Object.fromEntries(Object.entries(each).sort())
          : each.constructor.name;
      }),
    ]).sort(),
  );

const run = () => "done";
const interceptor = () => ({});
const fixed = (numSlots: number) => ({ type: "fixed-size", numSlots });
const CASES: { readonly [name: string]: Omit<WorkerOptions, "taskQueue"> } = {
  "nothing but activities": { activities: { run, other: run, notOne: 5 } },
  "no activities": { workflowsPath },
  times: {
    ...{ activities: { run }, shutdownGraceTime: "1 minute", shutdownForceTime: "2 minutes" },
    ...{
      stickyQueueScheduleToStartTimeout: "5s",
      maxHeartbeatThrottleInterval: 1500,
      defaultHeartbeatThrottleInterval: "2s",
    },
  },
  interceptors: {
    activities: { run },
    interceptors: {
      activity: [interceptor],
      activityInbound: [interceptor as Any],
      client: { workflow: [{}] },
    },
  },
  polls: {
    workflowTaskPollerBehavior: { type: "autoscaling", maximum: 7 },
    activityTaskPollerBehavior: { type: "simple-maximum", maximum: 3 },
    nexusTaskPollerBehavior: { type: "autoscaling" },
    ...{
      workflowsPath,
      activities: { run },
      nonStickyToStickyPollRatio: 0.5,
      enableNonLocalActivities: false,
    },
  },
  slots: {
    ...{
      workflowsPath,
      activities: { run },
      maxConcurrentWorkflowTaskExecutions: 7,
      maxConcurrentActivityTaskExecutions: 8,
    },
    ...{
      maxConcurrentLocalActivityExecutions: 9,
      maxConcurrentNexusTaskExecutions: 4,
      workflowThreadPoolSize: 2,
    },
  },
  tuner: {
    ...{
      workflowsPath,
      activities: { run },
      debugMode: true,
      reuseV8Context: false,
      workflowThreadPoolSize: 1,
    },
    tuner: {
      ...{ workflowTaskSlotSupplier: fixed(11), activityTaskSlotSupplier: fixed(12) },
      ...{ localActivityTaskSlotSupplier: fixed(13), nexusTaskSlotSupplier: fixed(14) },
    } as Any,
  },
};

test(
  "the options of a created worker equal those of the official one, including activities as a Map",
  { skip },
  async (t) => {
    let compared = 0;
    for (const [name, given] of Object.entries(CASES)) {
      const taskQueue = `options ${name}`, identity = "me";
      const expected = await OfficialWorker.create({
        connection: theirs[0],
        taskQueue,
        identity,
        ...given,
      });
      const made = await Worker.create({ connection: ours[0]!, taskQueue, identity, ...given });
      assert.deepEqual(shown(made.options), shown(expected.options), name);
      compared += Object.keys(shown(made.options)).length;
      const options = made.options;
      for (const [activity, fn] of expected.options.activities) {
        assert.equal(options.activities.get(activity), fn);
      }
      assert.ok(options.maxCachedWorkflows > 1);
      for (const worker of [expected, made]) await worker.runUntil(Promise.resolve());
    }
    t.diagnostic(`${compared} options of ${Object.keys(CASES).length} workers compared`);
  },
);

/** What a history says of the versions of workers, and what the workflow saw. */
async function versionsOf(worker: Any, taskQueue: string, id: string): Promise<unknown> {
  return await worker.runUntil(async () => {
    const handle = await client.start("seen", { id, taskQueue, args: [] });
    const result = await handle.result();
    const { events } = JSON.parse(await handle.historyJson()) as {
      events: { eventType: string }[];
    };
    const said = events.map(({ eventType, ...rest }) => {
      const attributes = Object.entries(rest).find(([name]) =>
        name.endsWith("Attributes")
      )?.[1] as Any ?? {};
      const {
        workerVersion,
        binaryChecksum,
        deploymentVersion,
        versioningBehavior,
        inheritedBuildId,
      } = attributes;
      return [
        eventType,
        workerVersion,
        binaryChecksum || undefined,
        deploymentVersion,
        versioningBehavior,
        inheritedBuildId,
      ];
    });
    return { result, said };
  });
}

const rules = (taskQueue: string, buildId: string) =>
  promisify(execFile)(temporalCli()!, [
    ...[
      "task-queue",
      "versioning",
      "insert-assignment-rule",
      "--build-id",
      buildId,
      "--task-queue",
      taskQueue,
    ],
    ...["--yes", "--address", server.address],
  ]);

for (const useVersioning of [false, true]) {
  const title = useVersioning
    ? "useVersioning: a worker gets the tasks of its build id, by the queue's rules"
    : "buildId alone";
  test(`${title}; histories and workflowInfo() as with the official worker`, { skip }, async () => {
    const found: unknown[] = [];
    for (
      const [kind, make, [connection, second]] of [["theirs", OfficialWorker, theirs], [
        "ours",
        Worker,
        ours,
      ]] as const
    ) {
      const taskQueue = `build-${useVersioning}-${kind}`;
      if (useVersioning) await rules(taskQueue, "b1");
      const options = {
        connection,
        taskQueue,
        ...(kind === "theirs" ? { workflowBundle } : { workflowsPath }),
        activities: { work: run },
        useVersioning,
      };
      // A worker of another build gets nothing where the rules decide.
      const other = useVersioning
        ? await make.create({ ...options, connection: second, buildId: "b0" })
        : undefined;
      const worker = await make.create({ ...options, buildId: "b1" });
      const end = { stop: () => {} };
      const others = other?.runUntil(new Promise<void>((resolve) => end.stop = resolve));
      found.push(await versionsOf(worker, taskQueue, taskQueue));
      end.stop();
      await others;
    }
    assert.deepEqual(found[1], found[0]);
    assert.match(
      JSON.stringify(found[0]),
      useVersioning ? /"buildId":"b1","useVersioning":true/ : /"buildId":"b1"/,
    );
    assert.doesNotMatch(JSON.stringify(found), /b0/);
  });
}
