// Local activities against a real Temporal dev server and against `temporalex dev`: the same code,
// the same expectations; and programs of `@temporalio/workflow` that our worker and the official
// one run in turn, with each other's histories.
// takes: 180 s
// runtime: node
import assert from "node:assert/strict";
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { activityContext, activityInfo, sleep as activitySleep } from "../../../ts/activity/mod.ts";
import { silentLogger } from "../../../ts/base/logger.ts";
import { Client, type WorkflowHandle } from "../../../ts/client/mod.ts";
import { ApplicationFailure } from "../../../ts/converter/mod.ts";
import { GrpcService } from "../../../ts/grpc/grpc_service.ts";
import { Worker } from "../../../ts/worker/mod.ts";
import { localActivitiesSuite } from "../../suites/local_activities_suite.ts";
import { type OnService, settingOf } from "../../support/services.ts";
import { until } from "../../support/until.ts";
import { DevServer, noServer } from "./support/dev_server.ts";
import { noOfficial, officialProgram, root } from "./support/official.ts";
import { OurServer } from "./support/our_server.ts";

let server: DevServer;
let service: GrpcService;
let client: Client;
let ours: OurServer;
let ourService: GrpcService;
let folder: string;
let count = 0;

before(async () => {
  ours = await OurServer.start();
  ourService = new GrpcService({ address: ours.address });
  if (noServer !== false) return;
  server = await DevServer.start();
  service = new GrpcService({ address: server.address });
  client = new Client({ service, logger: silentLogger });
  folder = mkdtempSync(join(tmpdir(), "temporalex-locals-"));
});

after(async () => {
  ourService.close();
  await ours.stop();
  if (noServer !== false) return;
  service.close();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

const on =
  (where: string, skip: string | false, service: () => GrpcService): OnService => (name, body) => {
    const number = ++count;
    test(
      `${name} (${where})`,
      { skip },
      () => body(settingOf(service(), false, `queue-${number}`, (id) => `${id}-${number}`)),
    );
  };

localActivitiesSuite(on("cluster", noServer, () => service));
localActivitiesSuite(on("temporalex dev", false, () => ourService));

// --------------------------------------------------------------------------- with the official SDK

const skip = noServer || noOfficial;
const begun: string[] = [];

function begins<A extends unknown[], R>(run: (...args: A) => R): (...args: A) => R {
  return (...args) => {
    begun.push(activityInfo().activityType);
    return run(...args);
  };
}

/** The activities of official_locals.ts, as tests/system/interop/official/locals.mjs has them. */
const activities = {
  slow: begins((ms: number) => activitySleep(ms).then(() => `slept ${ms}`)),
  quick: begins((name: string) => Promise.resolve(`quick ${name}`)),
  flaky: begins((name: string) => {
    const { attempt } = activityInfo();
    if (attempt < 3) throw new Error(`attempt ${attempt}`);
    return Promise.resolve(`${name} at the third`);
  }),
  refuses: begins((): Promise<void> => {
    throw ApplicationFailure.nonRetryable("no", { type: "Refused" });
  }),
  listens: begins(() => {
    const { cancelled } = activityContext();
    return new Promise<void>((_, reject) =>
      cancelled.addEventListener("abort", () => reject(cancelled.reason))
    );
  }),
};

function ourWorker(taskQueue: string): Promise<Worker> {
  const workflows = join(root, "tests/system/interop/flows/official_locals.ts");
  return Worker.create({ service, taskQueue, workflows, activities, logger: silentLogger });
}

class OfficialWorker {
  readonly #process: ChildProcess;
  said = "";

  constructor(taskQueue: string) {
    this.#process = spawn(process.execPath, [
      officialProgram("locals.mjs"),
      "serve",
      server.address,
      taskQueue,
    ], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    this.#process.stdout!.setEncoding("utf8").on("data", (text) => (this.said += text));
  }

  async ready(): Promise<void> {
    await until(
      "the official worker is ready",
      () => this.said.includes("ready") || this.#process.exitCode !== null,
    );
    assert.equal(this.#process.exitCode, null);
  }

  count(activity: string): number {
    return this.said.split("\n").filter((line) => line === activity).length;
  }

  async stop(how: "shutdown" | "kill"): Promise<void> {
    const ended = new Promise((resolve) => this.#process.once("exit", resolve));
    if (how === "kill") this.#process.kill("SIGKILL");
    else this.#process.stdin!.end();
    await ended;
  }
}

/** What the official replayer says of these runs. */
async function officialVerdicts(
  handles: readonly WorkflowHandle[],
): Promise<{ [name: string]: string }> {
  const histories = mkdtempSync(join(folder, "histories-"));
  for (const handle of handles) {
    writeFileSync(join(histories, handle.workflowId), await handle.historyBytes());
  }
  const { stdout } = await promisify(execFile)(process.execPath, [
    officialProgram("locals.mjs"),
    "replay",
    histories,
  ], {
    maxBuffer: 64 * 1024 * 1024,
    timeout: 120_000,
  });
  return JSON.parse(stdout);
}

const okOf = (handles: readonly WorkflowHandle[]) =>
  Object.fromEntries(handles.map(({ workflowId }) => [workflowId, "ok"]));

test(
  "official programs with local activities have the same results on our worker, and replay in the official one",
  { skip },
  async () => {
    const theirs = new OfficialWorker("locals-theirs");
    const worker = await ourWorker("locals-ours");
    const finished = async (taskQueue: string) => {
      const start = async (type: string, args: unknown[] = []) =>
        await client.start(type, {
          id: `${type}-${taskQueue}`,
          taskQueue,
          args,
          taskTimeout: "5s",
        });
      const handles = [
        await start("manyLocals"),
        await start("longLocals", [1, 6000]),
        await start("briefLocal"),
      ];
      await handles[0]!.signal("go");
      return { handles, results: await Promise.all(handles.map((handle) => handle.result())) };
    };
    await theirs.ready();
    const [official, own] = await Promise.all([
      finished("locals-theirs").finally(() => theirs.stop("shutdown")),
      worker.runUntil(() => finished("locals-ours")),
    ]);
    assert.deepEqual(own.results, official.results);
    assert.deepEqual(await officialVerdicts(own.handles), okOf(own.handles));
  },
);

test(
  "this worker continues after the official one was killed during a local activity",
  { skip },
  async () => {
    const taskQueue = "locals-to-us";
    const theirs = new OfficialWorker(taskQueue);
    await theirs.ready();
    const handle = await client.start("longLocals", {
      id: taskQueue,
      taskQueue,
      args: [3, 3600],
      taskTimeout: "3s",
    });
    await until("the record of the first step", async () => {
      const { events } = await handle.fetchHistory();
      return events.filter(({ attributes }) => attributes.case === "markerRecordedEventAttributes")
        .length >= 3;
    });
    assert.equal(theirs.count("slow"), 2);
    await theirs.stop("kill");
    begun.length = 0;
    const worker = await ourWorker(taskQueue);
    const result = await worker.runUntil(() => handle.result());
    assert.equal((result as string[]).length, 9);
    // The step that was lost, and the last one.
    assert.equal(begun.filter((name) => name === "slow").length, 2);
    assert.deepEqual(await officialVerdicts([handle]), okOf([handle]));
  },
);

test(
  "the official worker continues after this one was stopped during a local activity",
  { skip },
  async () => {
    const taskQueue = "locals-to-them";
    begun.length = 0;
    const worker = await ourWorker(taskQueue);
    const running = worker.run();
    const handle = await client.start("longLocals", {
      id: taskQueue,
      taskQueue,
      args: [3, 3600],
      taskTimeout: "3s",
    });
    await until("the second step", () => begun.filter((name) => name === "slow").length === 2);
    await worker.shutdown();
    await running;
    const theirs = new OfficialWorker(taskQueue);
    try {
      assert.equal((await handle.result() as string[]).length, 9);
      assert.equal(theirs.count("slow"), 2);
    } finally {
      await theirs.stop("shutdown");
    }
    assert.deepEqual(await officialVerdicts([handle]), okOf([handle]));
  },
);
