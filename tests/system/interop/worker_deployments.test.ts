// runtime: node (compares servers; other files cover the runtime)
// Worker deployments on `temporalex dev` and on a real Temporal dev server: the same commands of
// Temporal's command line and the same tasks of versioned workers have the same outcome.
// takes: 60 s
import assert from "node:assert/strict";
import { type ChildProcess, execFile, spawn } from "node:child_process";
import type { Message } from "@bufbuild/protobuf";
import { fromBinary, fromJson, type JsonValue, toBinary, toJson } from "@bufbuild/protobuf";
import type { GenMessage } from "@bufbuild/protobuf/codegenv2";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Client, type WorkflowHandle } from "../../../ts/client/mod.ts";
import { silentLogger } from "../../../ts/base/logger.ts";
import { GrpcService } from "../../../ts/grpc/grpc_service.ts";
import * as api from "../../../ts/messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import type { MethodName } from "../../../ts/service/raw.ts";
import { Worker } from "../../../ts/worker/mod.ts";
import { until } from "../../support/until.ts";
import { DevServer, noServer, temporalCli } from "./support/dev_server.ts";
import { noOfficial, officialProgram } from "./support/official.ts";
import { OurServer } from "./support/our_server.ts";
import { versionedProgram } from "./support/versioned_program.ts";

const skip = noServer;
// deno-lint-ignore no-explicit-any
type Json = any;
/** Checks of drainage and poller lists are sooner than in production. */
const SOON = [
  'matching.wv.VersionDrainageStatusVisibilityGracePeriod="1s"',
  'matching.wv.VersionDrainageStatusRefreshInterval="1s"',
  'matching.PollerHistoryTTL="1s"',
];

/** A server with its versioned workers. */
class Site {
  readonly client: Client;
  readonly #service: GrpcService;
  readonly #address: string;
  readonly #programs: ChildProcess[] = [];
  readonly #workers = new Map<string, { worker: Worker; running: Promise<void> }>();
  /** What each command and workflow came to. */
  readonly transcript: string[] = [];

  constructor(address: string) {
    this.#address = address;
    this.#service = new GrpcService({ address });
    this.client = new Client({
      service: this.#service,
      taskQueue: "deployed",
      logger: silentLogger,
    });
  }

  /** Starts a worker of a version of deployment "shop". */
  async work(buildId: string): Promise<void> {
    const worker = await Worker.create({
      service: this.#service,
      taskQueue: "deployed",
      identity: `worker-${buildId}`,
      workflows: versionedProgram(home, buildId),
      activities: { version: () => buildId },
      logger: silentLogger,
      workerDeploymentOptions: {
        useWorkerVersioning: true,
        version: { deploymentName: "shop", buildId },
        defaultVersioningBehavior: "AUTO_UPGRADE",
      },
    });
    this.#workers.set(buildId, { worker, running: worker.run() });
  }

  /** Starts a worker of Temporal's TypeScript SDK, of a version of deployment "official". */
  async workOfficially(buildId: string): Promise<void> {
    const program = spawn(
      "node",
      [officialProgram("versioned_worker.mjs"), this.#address, "official", "official", buildId],
      { stdio: ["ignore", "pipe", "pipe"] },
    );
    this.#programs.push(program);
    process.once("exit", () => program.kill("SIGKILL"));
    let said = "";
    program.stderr.on("data", (chunk) => said += chunk);
    await new Promise((resolve, reject) => {
      program.stdout.once("data", resolve);
      program.once("exit", () => reject(new Error(`the official worker ended: ${said}`)));
    });
  }

  async close(): Promise<void> {
    for (const program of this.#programs) {
      if (program.exitCode !== null) continue;
      const ended = new Promise((resolve) => program.once("exit", resolve));
      program.kill("SIGTERM");
      await ended;
    }
    for (const { worker, running } of this.#workers.values()) {
      await worker.shutdown();
      await running;
    }
    this.#service.close();
  }

  /** Calls a method in JSON. */
  async call(method: string, request: Json): Promise<Json> {
    const schemas = api as unknown as { readonly [name: string]: GenMessage<Message> };
    const input = schemas[`${method}RequestSchema`]!;
    const bytes = toBinary(
      input,
      fromJson(input, { namespace: "default", ...request } as JsonValue),
    );
    const name = (method[0]!.toLowerCase() + method.slice(1)) as MethodName;
    const output = schemas[`${method}ResponseSchema`]!;
    return toJson(output, fromBinary(output, await this.#service.call(name, bytes)));
  }

  #temporal(command: string): Promise<{ code: number; text: string }> {
    const args = command.replaceAll("SHOP", "--deployment-name shop --build-id").split(" ")
      .map((word) => word.replaceAll("_", " "));
    return new Promise((resolve) =>
      execFile(
        temporalCli()!,
        [...args, "--address", this.#address, "--identity", "operator"],
        { env: { PATH: process.env["PATH"], HOME: home }, timeout: 60_000 },
        (error, out, err) =>
          resolve({ code: error === null ? 0 : Number(error.code ?? 1), text: plain(out + err) }),
      )
    );
  }

  /**
   * Runs a command until it has this exit code and its plain output matches; records the output.
   * "SHOP v1" means the options of a version, "_" for a space.
   */
  async run(code: number, command: string, pattern: RegExp = /^/): Promise<void> {
    let last = { code: -1, text: "" };
    await until(`exit code ${code} of ${command}`, async () => {
      last = await this.#temporal(command);
      if (last.code === code && pattern.test(last.text)) return true;
      await new Promise((resolve) => setTimeout(resolve, 300));
      return false;
    }).catch((error) => {
      throw new Error(`${this.#address}: ${command}: ${last.text}`, { cause: error });
    });
    this.transcript.push(`$ ${command}`, last.text);
  }

  note(line: string): void {
    this.transcript.push(line);
  }
}

/** Times and ids differ from server to server, and tables are as wide as what is in them. */
const plain = (text: string) =>
  text
    .replace(/"?\d{4}-\d\d-\d\dT[\d:.]+Z"?/g, "<time>")
    .replace(/(now|\d+ \w+ ago)(?= |$)/gm, "<time>")
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "<id>")
    .replace(/^time=\S+ /gm, "")
    .replace(/ {2,}/g, " ")
    .replace(/ $/gm, "")
    // Texts of errors differ from release to release; task queues have no order.
    .replace(/^(level=ERROR msg="[^:"]*: ).*"$/gm, '$1<why>"')
    .replace(/^ deployed workflow\n deployed activity$/gm, " deployed activity\n deployed workflow")
    .trim();

let servers: readonly [OurServer, DevServer], sites: readonly [Site, Site], home: string;

before(async () => {
  if (skip !== false) return;
  home = mkdtempSync(join(tmpdir(), "temporalex-deployments-"));
  servers = await Promise.all([OurServer.start(), DevServer.start(SOON)]);
  sites = [new Site(servers[0].address), new Site(servers[1].address)];
});

after(async () => {
  if (skip !== false) return;
  for (const site of sites) await site.close();
  await Promise.all(servers.map((server) => server.stop()));
  rmSync(home, { recursive: true, force: true });
});

const completedTasks = async (handle: WorkflowHandle): Promise<number> =>
  (await handle.fetchHistory()).events
    .filter(({ attributes }) => attributes.case === "workflowTaskCompletedEventAttributes").length;

const hasCompleted = (handle: WorkflowHandle, tasks: number) =>
  until(
    `${tasks} tasks of ${handle.workflowId}`,
    async () => await completedTasks(handle) >= tasks,
  );

/** The routing reaches all parts of a server's task queues a little later. */
const propagation = () => new Promise((resolve) => setTimeout(resolve, 2000));

/** The version of a run in its description, and the search attributes that follow from it. */
async function described(site: Site, workflowId: string): Promise<string> {
  const { workflowExecutionInfo: info } = await site.call("DescribeWorkflowExecution", {
    execution: { workflowId },
  });
  const { indexedFields = {} } = info.searchAttributes ?? {};
  const attributes = Object.entries<{ data: string }>(indexedFields)
    .filter(([name]) => /^Temporal(Worker|WorkflowVersioning)/.test(name))
    .map(([name, { data }]) => `${name}=${atob(data)}`);
  // Servers before 1.30 have no revisions, and keep deprecated fields of overrides.
  const { revisionNumber: _, versioningOverride: over, ...versioningInfo } = info.versioningInfo;
  const shown = [info.workerDeploymentName, versioningInfo, over?.pinned, attributes.sort()];
  return JSON.stringify(shown);
}

const SHOP = { deploymentName: "shop" };
const V1 = { ...SHOP, buildId: "v1" };
const WAITS = { workflowExecution: { workflowId: "waits" } };
/**
 * Requests whose codes are compared. Not among them: a current version of an unknown deployment, and
 * overrides with unknown versions, which servers before 1.30 accept or reject with other codes.
 */
const REQUESTS: readonly (readonly [method: string, request: Json])[] = [
  ["DescribeWorkerDeployment", { deploymentName: "none" }],
  ["DescribeWorkerDeployment", {}],
  ["DescribeWorkerDeploymentVersion", {}],
  ["DescribeWorkerDeploymentVersion", { version: "no" }],
  ["DescribeWorkerDeploymentVersion", { deploymentVersion: { ...SHOP, buildId: "none" } }],
  ["SetWorkerDeploymentCurrentVersion", { buildId: "v1" }],
  ["SetWorkerDeploymentCurrentVersion", { ...V1, conflictToken: "AAAA" }],
  ["SetWorkerDeploymentCurrentVersion", { ...SHOP, version: "other.v1" }],
  ["SetWorkerDeploymentRampingVersion", { ...V1, percentage: 101 }],
  ["SetWorkerDeploymentRampingVersion", { ...V1, percentage: -1 }],
  ["SetWorkerDeploymentRampingVersion", { ...SHOP, percentage: 10, conflictToken: "AAAA" }],
  ["DeleteWorkerDeploymentVersion", { version: "no" }],
  ["DeleteWorkerDeploymentVersion", { deploymentVersion: { ...SHOP, buildId: "v2" } }],
  ["DeleteWorkerDeploymentVersion", { deploymentVersion: { ...SHOP, buildId: "none" } }],
  ["DeleteWorkerDeployment", { deploymentName: "none" }],
  ["SetWorkerDeploymentManager", SHOP],
  ["SetWorkerDeploymentManager", { deploymentName: "none", identity: "a", self: true }],
  ["UpdateWorkerDeploymentVersionMetadata", { deploymentVersion: V1 }],
  ["UpdateWorkflowExecutionOptions", WAITS],
  ["UpdateWorkflowExecutionOptions", { updateMask: "versioningOverride" }],
];

/** The versions of a run as history shows them. */
async function versionsOf(handle: WorkflowHandle): Promise<string> {
  const found: string[] = [];
  for (const { attributes } of (await handle.fetchHistory()).events) {
    if (attributes.case === "workflowTaskCompletedEventAttributes") {
      const { versioningBehavior, deploymentVersion, workerDeploymentName } = attributes.value;
      found.push(`${workerDeploymentName} ${deploymentVersion?.buildId} ${versioningBehavior}`);
    } else if (attributes.case === "workflowExecutionStartedEventAttributes") {
      const { inheritedPinnedVersion, versioningOverride } = attributes.value;
      const over = versioningOverride?.override.case;
      found.push(`inherits ${inheritedPinnedVersion?.buildId}, override ${over}`);
    } else if (attributes.case === "workflowExecutionOptionsUpdatedEventAttributes") {
      const { versioningOverride, unsetVersioningOverride } = attributes.value;
      found.push(`override ${versioningOverride?.override.case}, unset ${unsetVersioningOverride}`);
    }
  }
  return found.join("; ");
}

/** Deployments without and with workers, and the current version. */
async function firstVersion(site: Site): Promise<void> {
  await site.run(1, "worker deployment describe --name shop");
  await site.run(1, "worker deployment describe-version SHOP v1");
  await site.run(1, "worker deployment set-current-version SHOP v1 --yes");
  await site.work("v1");
  await site.run(0, "worker deployment set-current-version SHOP v1 --yes");
  await site.run(0, "worker deployment describe --name shop", /v1/);
  await site.run(0, "worker deployment describe-version SHOP v1", /deployed/);
  await site.run(1, "worker deployment set-current-version SHOP v9 --yes");
  await site.run(1, "worker deployment set-ramping-version SHOP v1 --percentage 5 --yes");
  await site.run(1, "worker deployment describe --name nothing");
  await site.run(1, "worker deployment describe-version --deployment-name a.b --build-id 1");
}

/** Ramps and makes the second version current: workflows stay or move. */
async function secondVersion(site: Site): Promise<void> {
  const { client } = site;
  const stays = await client.start("Stays", { id: "stays" });
  const moves = await client.start("Moves", { id: "moves" });
  const parent = await client.start("Parent", { id: "parent" });
  const child = client.getHandle(undefined, "child");
  for (const handle of [stays, moves]) await hasCompleted(handle, 2);
  await hasCompleted(parent, 2);
  await hasCompleted(child, 1);
  await site.work("v2");
  await site.run(0, "worker deployment describe --name shop", /v2/);
  await site.run(0, "worker deployment set-ramping-version SHOP v2 --percentage 50 --yes");
  await site.run(0, "worker deployment set-ramping-version SHOP v2 --percentage 50 --yes");
  await site.run(0, "worker deployment describe-version SHOP v2", /Ramping/i);
  await propagation();
  const { versioningInfo: { updateTime: _, ...versioning } } = await site.call(
    "DescribeTaskQueue",
    { taskQueue: { name: "deployed" } },
  );
  site.note(JSON.stringify(versioning));
  const ramped = await Promise.all(
    Array.from(
      { length: 24 },
      async (_, i) => await (await client.start("Quick", { id: `quick-${i}` })).result(),
    ),
  );
  site.note(`ramped: ${ramped.join(" ")}`);
  await site.run(0, "worker deployment set-current-version SHOP v2 --yes");
  await site.run(0, "worker deployment describe-version SHOP v1", /Draining/i);
  await propagation();
  for (const handle of [stays, moves, child]) await handle.signal("go");
  for (const handle of [stays, moves, parent]) site.note(String(await handle.result()));
  for (const handle of [stays, moves, parent, child]) {
    site.note(await versionsOf(handle));
    site.note(await described(site, handle.workflowId));
  }
}

/** Pins an open workflow to another version. */
async function override(site: Site): Promise<void> {
  const handle = await site.client.start("Moves", { id: "override" });
  await hasCompleted(handle, 2);
  const update = "workflow update-options -w override --versioning-override-behavior";
  const version = "--versioning-override-deployment-name shop --versioning-override-build-id";
  await site.run(0, `${update} pinned ${version} v1`);
  const query = "TemporalWorkerDeploymentVersion='shop:v1'_AND_ExecutionStatus='Running'_AND_" +
    "TemporalWorkerDeployment='shop'_AND_TemporalWorkflowVersioningBehavior='Pinned'";
  await site.run(0, `workflow count --query ${query}`, /1/);
  site.note(await described(site, "override"));
  await handle.signal("go");
  site.note(String(await handle.result()));
  site.note(await versionsOf(handle));
  site.note(await described(site, "override"));
}

/** What is left when workflows have closed. */
async function operations(site: Site): Promise<void> {
  const waits = await site.client.start("Moves", { id: "waits" });
  await hasCompleted(waits, 2);
  for (const [method, request] of REQUESTS) {
    const code = await site.call(method, request).then(() => 0, ({ code }) => code);
    site.note(`${method} ${JSON.stringify(request)}: ${code}`);
  }
  await waits.terminate();
  await site.run(0, "worker deployment describe-version SHOP v1", /Drained/i);
  await site.run(1, "worker deployment delete-version SHOP v2");
  await site.run(0, `worker deployment update-metadata-version SHOP v1 --metadata team="red"`);
  const manager = "worker deployment manager-identity";
  await site.run(0, `${manager} set --deployment-name shop --manager-identity other --yes`);
  const unversioned = "worker deployment set-current-version --deployment-name shop --unversioned";
  await site.run(1, `${unversioned} --yes`);
  await site.run(0, `${manager} unset --deployment-name shop --yes`);
  await site.run(0, `${unversioned} --yes`);
  await site.run(1, "worker deployment delete --name shop");
  await site.run(0, "worker deployment list", /shop/);
}

test("commands and versioned workers have the same outcome on both servers", { skip }, async () => {
  await Promise.all(sites.map(async (site) => {
    await firstVersion(site);
    await secondVersion(site);
    await override(site);
    await operations(site);
  }));
  assertSame();
});

/** Compares what both servers did since the last comparison. */
function assertSame(): void {
  const [ours, theirs] = sites.map(({ transcript }) => transcript.splice(0));
  const differences = ours!.map((line, i) => [line, theirs![i]]).filter(([a, b]) => a !== b);
  assert.deepEqual(differences, []);
}

/** Workflows of Temporal's SDK move, and continue as new, while versions change. */
async function officialVersions(site: Site): Promise<void> {
  const { client } = site;
  const setCurrent = "worker deployment set-current-version --deployment-name official --build-id";
  await site.workOfficially("v1");
  await site.run(0, `${setCurrent} v1 --yes`);
  const start = (type: string) =>
    client.start(type, { id: `official-${type}`, taskQueue: "official" });
  const runs = [await start("pinned"), await start("moving")];
  for (const handle of runs) await hasCompleted(handle, 2);
  await site.workOfficially("v2");
  await site.run(0, `${setCurrent} v2 --yes`);
  await propagation();
  for (const { workflowId } of runs) {
    await client.getHandle(undefined, workflowId).signal("go");
    // Without a run id: of the run that continues it.
    await until(`${workflowId} continues`, async () => {
      const latest = client.getHandle(undefined, workflowId);
      const { events } = await latest.fetchHistory();
      const { case: first, value } = events[0]!.attributes;
      return first === "workflowExecutionStartedEventAttributes" &&
        value.continuedExecutionRunId !== "" && await completedTasks(latest) >= 2;
    });
    const latest = client.getHandle(undefined, workflowId);
    await latest.signal("go");
    site.note(`${workflowId}: ${await latest.result()}`);
    site.note(await versionsOf(latest));
    site.note(await described(site, workflowId));
  }
}

test("workflows of Temporal's SDK have the same versions on both servers", {
  skip: skip || noOfficial,
}, async () => {
  await Promise.all(sites.map((site) => officialVersions(site)));
  const [{ transcript }] = sites;
  assert.ok(transcript.includes("official-pinned: v1 v1 v1 v1"), transcript.join("\n"));
  assert.ok(transcript.includes("official-moving: v1 v2 v2 v2"), transcript.join("\n"));
  assertSame();
});
