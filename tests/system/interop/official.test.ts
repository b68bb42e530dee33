// runtime: node
// Temporal's own TypeScript SDK, worker and client, on `temporalex dev` and on a real Temporal dev
// server: the same programs, side by side.
// takes: 90 s
// What comes of them must be equal, and so must the histories, event by event, where chance has no
// part in them.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { Client } from "../../../ts/client/mod.ts";
import { silentLogger } from "../../../ts/base/logger.ts";
import { GrpcService } from "../../../ts/grpc/grpc_service.ts";
import { freePort } from "../../support/ports.ts";
import { DevServer, noServer } from "./support/dev_server.ts";
import { noOfficial, officialProgram } from "./support/official.ts";
import { OurServer } from "./support/our_server.ts";

const skip = noServer || noOfficial;

interface Document {
  readonly results: { readonly [scenario: string]: unknown };
  readonly runs: {
    readonly [workflowId: string]: { readonly runId: string; readonly exact: boolean };
  };
  readonly replayed: { readonly [workflowId: string]: unknown };
}

let folder: string, ours: OurServer, theirs: DevServer;
const documents: { ours?: Document; theirs?: Document } = {};

/** Runs scenarios in a separate process, because the SDK has one native core per process. */
async function scenarios(
  address: string,
  ...more: (string | { begun(): Promise<void> })[]
): Promise<Document> {
  const args = more.filter((each) => typeof each === "string");
  const { begun } = more.find((each) => typeof each !== "string") ?? {};
  const out = join(
    folder,
    `${address.replace(/\W/g, "-")}-${args.join("-").replace(/\W/g, "")}.json`,
  );
  const line = [officialProgram("scenarios.mjs"), "--address", address, "--out", out, ...args];
  const running = promisify(execFile)(process.execPath, line, {
    maxBuffer: 64 * 1024 * 1024,
    timeout: 300_000,
  });
  let acted: Promise<void> | undefined;
  running.child.stdout!.on("data", () => acted ??= begun?.());
  await running;
  await acted;
  return JSON.parse(readFileSync(out, "utf8"));
}

before(async () => {
  if (skip !== false) return;
  folder = mkdtempSync(join(tmpdir(), "temporalex-official-"));
  [ours, theirs] = await Promise.all([OurServer.start(), DevServer.start()]);
  [documents.ours, documents.theirs] = await Promise.all([
    scenarios(ours.address, "--all"),
    scenarios(theirs.address, "--all"),
  ]);
}, { timeout: 400_000 });

after(async () => {
  if (skip !== false) return;
  const code = await ours?.stop();
  await theirs?.stop();
  rmSync(folder, { recursive: true, force: true });
  assert.equal(code, 0, ours?.said);
});

/** What differs between two runs of the same thing, and what a server calls its own. */
const VOLATILE = new Set([
  "eventTime",
  "taskId",
  "identity",
  "requestId",
  "originalExecutionRunId",
  "namespaceId",
  "parentWorkflowNamespaceId",
  "firstExecutionRunId",
  "continuedExecutionRunId",
  "newExecutionRunId",
  "runId",
  "historySizeBytes",
  "workflowExecutionExpirationTime",
  "binaryChecksum",
  "workerVersion",
  "stackTrace",
  // A set.
  "coreUsedFlags",
]);

function scrubbed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(scrubbed);
  // Reasons name runs.
  if (typeof value === "string") return value.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "<id>");
  if (value === null || typeof value !== "object") return value;
  // A sticky queue is the worker process' own.
  if ("normalName" in value) return { ...value, name: "" };
  const empty = (each: unknown) =>
    each === null || (typeof each === "object" && Object.keys(each).length === 0);
  return Object.fromEntries(
    Object.entries(value).filter(([key, each]) => !VOLATILE.has(key) && !empty(each)).map((
      [key, each],
    ) => [key, scrubbed(each)]),
  );
}

async function historyOf(address: string, workflowId: string, runId: string): Promise<unknown[]> {
  const service = new GrpcService({ address });
  try {
    const client = new Client({ service, logger: silentLogger });
    return JSON.parse(await client.getHandle(undefined, workflowId, runId).historyJson()).events;
  } finally {
    service.close();
  }
}

test("the same programs have the same results", { skip }, async (t) => {
  const { results } = documents.theirs!;
  for (const name of Object.keys(results)) {
    await t.test(name, () => assert.deepEqual(documents.ours!.results[name], results[name]));
  }
});

test("histories are equal, event by event", { skip }, async (t) => {
  for (const [id, { runId, exact }] of Object.entries(documents.theirs!.runs)) {
    if (!exact) continue;
    await t.test(id, async () => {
      const expected = await historyOf(theirs.address, id, runId);
      const found = await historyOf(ours.address, id, documents.ours!.runs[id]!.runId);
      assert.deepEqual(scrubbed(found), scrubbed(expected));
    });
  }
});

test("every history of this package replays in the official worker", { skip }, () => {
  const { replayed } = documents.ours!;
  for (const [id, verdict] of Object.entries(documents.theirs!.replayed)) {
    assert.deepEqual(replayed[id], verdict, id);
  }
});

test("without a sticky cache the results are the same", { skip, timeout: 120_000 }, async () => {
  const names = ["hello", "messages", "patches", "continues", "timers", "manyAtOnce"];
  // Other ids are not needed: what ran under them has ended.
  const cold = await scenarios(ours.address, "--no-replay", "--cache", "0", ...names);
  for (const name of names) {
    assert.deepEqual(cold.results[name], documents.theirs!.results[name], name);
  }
});

test(
  "a server killed and restarted under a worker with 200 polls: every workflow ends, no event is recorded twice",
  {
    skip,
    timeout: 180_000,
  },
  async () => {
    const port = await freePort();
    const args = ["--port", String(port), "--db-filename", join(folder, "killed.sqlite")];
    let server = await OurServer.start(...args);
    const killed = { times: 0 };
    const done = scenarios(server.address, "longHaul", "--pollers", "100", {
      async begun() {
        await server.stop("SIGKILL");
        server = await OurServer.start(...args);
        killed.times++;
      },
    });
    const { results, runs, replayed } = await done;
    assert.equal(killed.times, 1);
    assert.deepEqual(results["longHaul"], Array.from({ length: 16 }, () => 12 * (1 + 1 + 2 + 1)));
    for (const [id, { runId }] of Object.entries(runs)) {
      assert.equal(replayed[id], "ok");
      const events = await historyOf(server.address, id, runId) as {
        eventType: string;
        [field: string]: unknown;
      }[];
      const ids = events.flatMap((event) => {
        const { scheduledEventId } = (event["activityTaskCompletedEventAttributes"] ?? {}) as {
          scheduledEventId?: string;
        };
        return scheduledEventId ?? [];
      });
      assert.deepEqual([ids.length, new Set(ids).size], [24, 24], id);
    }
    await server.stop();
  },
);

test("without a register any search attribute is kept and shown", { skip }, async () => {
  const unregistered = await OurServer.start();
  try {
    const { results } = await scenarios(unregistered.address, "--no-replay", "anyAttributes");
    assert.deepEqual(results["anyAttributes"], [{ UnregisteredAttribute: ["x"] }, {
      UnregisteredAttribute: ["x"],
    }]);
  } finally {
    await unregistered.stop();
  }
});

// A scenario of both servers has registered attributes.
test("with a register other search attributes are rejected as on a server", { skip }, () => {
  const [refused] = documents.ours!.results["searchAttributes"] as { error?: unknown }[];
  assert.ok(refused?.error !== undefined);
  assert.deepEqual(
    documents.ours!.results["searchAttributes"],
    documents.theirs!.results["searchAttributes"],
  );
});
