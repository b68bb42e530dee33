// Programs written for the official SDK, live on the embedded engine: the corpus' own drivers start
// them, send messages and check the results, through a client of this package behind the surface of
// the official client. On Temporal's dev server, and with the official client:
// `run-official-live.mjs --adapter` of the corpus.
// takes: 9 s
import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import {
  activityInfo,
  ApplicationFailure,
  CancelledFailure,
  CompleteAsyncError,
  heartbeat,
  sleep,
} from "../../../ts/activity/mod.ts";
import { Client } from "../../../ts/client/mod.ts";
import { EmbeddedEngine, MemoryStore } from "../../../ts/engine/mod.ts";
import { Worker } from "../../../ts/worker/mod.ts";
import { caseNames, corpusRoot, loadCase, NO_CASES } from "../compat/support/corpus.ts";

// deno-lint-ignore no-explicit-any
type Loose = any;

const root = corpusRoot();
const missing = root === undefined
  ? "the corpus ../shared/fixtures/compat is not next to this checkout"
  : false;
const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** What the corpus' activities take of `@temporalio/activity` and `@temporalio/common`. */
const ACTIVITY = {
  CompleteAsyncError,
  Context: {
    current() {
      const info = activityInfo();
      const { workflowId, runId } = info;
      return {
        info: { ...info, workflowExecution: { workflowId, runId } },
        sleep: (ms: number) => sleep(ms),
        heartbeat,
      };
    },
  },
};
const COMMON = {
  CancelledFailure,
  ApplicationFailure: {
    create: ({ message, nextRetryDelay, ...rest }: Loose) =>
      new ApplicationFailure(message, {
        ...rest,
        ...(nextRetryDelay && { nextRetryDelayMs: Number.parseInt(nextRetryDelay) }),
      }),
    retryable: (message: string, type?: string, ...details: unknown[]) =>
      new ApplicationFailure(message, { ...(type !== undefined && { type }), details }),
    nonRetryable: (message: string, type?: string, ...details: unknown[]) =>
      new ApplicationFailure(message, {
        ...(type !== undefined && { type }),
        details,
        nonRetryable: true,
      }),
  },
};

/** The official client's names for errors of this package. */
const OFFICIAL_NAMES: { readonly [name: string]: string } = {
  WorkflowUpdateRejectedError: "WorkflowUpdateFailedError",
  QueryFailedError: "QueryNotRegisteredError",
};

async function named<T>(promise: Promise<T>): Promise<T> {
  try {
    return await promise;
  } catch (error) {
    throw Object.assign(error as Error, {
      name: OFFICIAL_NAMES[(error as Error).name] ?? (error as Error).name,
    });
  }
}

/** A handle of this package with the methods that the drivers call. */
function officialHandle(handle: Loose): Loose {
  return {
    workflowId: handle.workflowId,
    firstExecutionRunId: handle.runId,
    signal: (name: string, ...args: unknown[]) => handle.signal(name, ...args),
    query: (name: string, ...args: unknown[]) => named(handle.query(name, ...args)),
    executeUpdate: async (name: string, { args, updateId }: Loose) =>
      named((await handle.startUpdate(name, { args, updateId, waitFor: "completed" })).result()),
    startUpdate: async (name: string, { args, updateId }: Loose) => {
      const update = await handle.startUpdate(name, { args, updateId, waitFor: "accepted" });
      return { result: () => named(update.result()) };
    },
    result: () => handle.result(),
    cancel: () => handle.cancel(),
    terminate: (reason: string) => handle.terminate(reason),
    fetchHistory: async () => ({ events: JSON.parse(await handle.historyJson()).events }),
  };
}

/** A client of this package with the methods that the drivers call. */
function officialClient(client: Client): Loose {
  const options = (
    { workflowId, workflowExecutionTimeout, workflowRunTimeout, workflowTaskTimeout, ...rest }:
      Loose,
  ) => ({
    ...rest,
    id: workflowId,
    ...(workflowExecutionTimeout && { executionTimeout: workflowExecutionTimeout }),
    ...(workflowRunTimeout && { runTimeout: workflowRunTimeout }),
    ...(workflowTaskTimeout && { taskTimeout: workflowTaskTimeout }),
  });
  return {
    workflowService: {
      resetWorkflowExecution: async (request: Loose) => {
        const { workflowExecution, workflowTaskFinishEventId, reason, requestId } = request;
        const handle = client.getHandle(
          undefined,
          workflowExecution.workflowId,
          workflowExecution.runId,
        );
        const eventId = BigInt(workflowTaskFinishEventId);
        return { runId: (await handle.reset({ eventId, reason, requestId })).runId };
      },
    },
    workflow: {
      start: async (type: string, given: Loose) =>
        officialHandle(await client.start(type, options(given))),
      getHandle: (id: string, runId?: string) =>
        officialHandle(client.getHandle(undefined, id, runId)),
    },
  };
}

/** The drivers ask for the names of types; an exported history has those. */
const EVENT_TYPES = new Proxy({}, { get: (_, type) => type });

async function drive(name: string): Promise<unknown[]> {
  const found: Loose = loadCase(root!, name);
  const { drive } = await import(pathToFileURL(join(root!, "lib/driver.mjs")).href);
  const { mk } = await import(pathToFileURL(join(root!, "lib/activities.mjs")).href);
  const engine = await EmbeddedEngine.open({ store: new MemoryStore() });
  const client = new Client({ service: engine, logger: silent });
  const official = officialClient(client);
  const activities = mk(official, ACTIVITY, COMMON);
  const taskQueue = `live-${name}`;
  let running: { worker: Worker; done: Promise<void> } | undefined;
  const worker = async (
    variant: string | null,
    { maxCachedWorkflows }: { maxCachedWorkflows?: number } = {},
  ) => {
    await running?.worker.shutdown();
    await running?.done;
    running = undefined;
    if (variant === null) return;
    const made = await Worker.create({
      service: engine,
      taskQueue,
      workflows: pathToFileURL(join(root!, "workflows", found.variants[variant].file)),
      activities,
      shutdownGraceMs: 200,
      shutdownForceMs: 2000,
      logger: silent,
      ...(maxCachedWorkflows !== undefined && { cachedWorkflows: maxCachedWorkflows }),
    });
    running = { worker: made, done: made.run() };
  };
  try {
    if (found.ownWorker !== true || found.workerAtStart === true) await worker("base");
    const env = { client: official, taskQueue, runTag: "t", worker, EventType: EVENT_TYPES };
    const { handles, observed } = await drive(found, env);
    for (const handle of Object.values(handles) as Loose[]) {
      await handle.terminate("done").catch(() => {});
    }
    return observed.filter((step: Loose) =>
      step.mismatch !== undefined && found.driver[step.step]?.expectAnyOutcome !== true
    );
  } finally {
    await worker(null);
    await engine.close();
  }
}

describe("programs of the official SDK run live on the embedded engine", { concurrency: 4 }, () => {
  for (const name of root === undefined ? [NO_CASES] : caseNames(root)) {
    test(
      `an official program, live: ${name}`,
      { skip: missing },
      async () => {
        assert.deepEqual(await drive(name), []);
      },
    );
  }
});
