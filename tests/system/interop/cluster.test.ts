// Against a real Temporal dev server: workflows with activities on our worker, over gRPC; their
// histories replay.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Client } from "../../../ts/client/mod.ts";
import { Code, ServiceError } from "../../../ts/service/raw.ts";
import { nativePrograms } from "../../../ts/executor/run/native_program.ts";
import { silentLogger } from "../../../ts/base/logger.ts";
import { GrpcService } from "../../../ts/grpc/grpc_service.ts";
import { Worker } from "../../../ts/worker/mod.ts";
import {
  activities,
  noreply,
  on,
  query,
  receive,
  reply,
  signal,
  sleep,
  stop,
  update,
  workflow,
} from "../../../ts/workflow/mod.ts";
import { publishState } from "../../../ts/workflow/mod.ts";
import { DevServer, noServer } from "./support/dev_server.ts";
import { inlineRealm } from "./support/realm.ts";

interface Acts {
  greet(name: string): Promise<string>;
  flaky(): Promise<number>;
}
const acts = activities<Acts>({
  startToClose: "10s",
  retry: { initialInterval: 20, maximumAttempts: 5 },
});

const hello = workflow("Hello", async (name: string) => {
  const greeting = await acts.greet(name);
  await sleep(50);
  return `${greeting} after ${await acts.flaky()} attempts`;
});

const add = update<[number], number>("add");
const note = signal<[string]>("note");
const finish = signal("finish");
const state = query<{ sum: number; notes: string[] }>("state");
interface Ledger {
  sum: number;
  notes: string[];
}
const ledger = workflow("Ledger", {
  queries: { state: (published: Ledger) => published },
  async run() {
    const publish = (next: Ledger) => {
      publishState(next);
      return next;
    };
    return await receive(publish({ sum: 0, notes: [] }), [
      on(add, ([n], now) => reply(now.sum + n, publish({ ...now, sum: now.sum + n })), {
        validate: ([n]) => {
          if (n < 0) throw new Error("only more");
        },
      }),
      on(note, ([text], now) => noreply(publish({ ...now, notes: [...now.notes, text] }))),
      on(finish, (_, now) => stop(now)),
    ]);
  },
});

let server: DevServer, service: GrpcService, client: Client;

before(async () => {
  if (noServer !== false) return;
  server = await DevServer.start();
  service = new GrpcService({ address: server.address });
  client = new Client({ service, logger: silentLogger });
});

after(async () => {
  service?.close();
  await server?.stop();
});

async function withWorker<T>(taskQueue: string, work: () => Promise<T>): Promise<T> {
  let attempts = 0;
  const table = nativePrograms([hello, ledger]);
  const realm = await inlineRealm(service, table.get);
  const worker = await Worker.create({
    service,
    taskQueue,
    realm,
    cachedWorkflows: 0,
    logger: silentLogger,
    activities: {
      greet: (name: string) => Promise.resolve(`hello ${name}`),
      flaky: () => {
        if (++attempts < 3) throw new Error("not yet");
        return Promise.resolve(attempts);
      },
    },
  });
  return await worker.runUntil(work);
}

async function replays(workflowId: string): Promise<void> {
  const realm = await inlineRealm(service, nativePrograms([hello, ledger]).get);
  try {
    const { verdict, error } = await realm.replay(
      workflowId,
      await client.getHandle(undefined, workflowId).historyBytes(),
    );
    assert.equal(verdict, "ok", error?.message);
  } finally {
    await realm.dispose();
  }
}

test("a workflow with activities and a timer completes on a cluster, and replays", {
  skip: noServer,
}, async () => {
  await withWorker("hello", async () => {
    const handle = await client.start(hello, { id: "hello-1", taskQueue: "hello", args: ["you"] });
    assert.equal(await handle.result(), "hello you after 3 attempts");
  });
  await replays("hello-1");
});

test("updates, a rejected one, signals and queries on a cluster, and the replay", {
  skip: noServer,
}, async () => {
  await withWorker("ledger", async () => {
    const handle = await client.start(ledger, { id: "ledger-1", taskQueue: "ledger" });
    assert.equal(await handle.update(add, 2), 2);
    await handle.signal(note, "first");
    await assert.rejects(handle.update(add, -1), /only more/);
    assert.equal(await handle.update(add, 3), 5);
    assert.deepEqual(await handle.query(state), { sum: 5, notes: ["first"] });
    await handle.signal(finish);
    assert.deepEqual(await handle.result(), { sum: 5, notes: ["first"] });
  });
  await replays("ledger-1");
});

test("errors of the service keep their code, name and fields", { skip: noServer }, async () => {
  const first = await client.start(hello, { id: "twice", taskQueue: "unpolled", args: ["x"] });
  await assert.rejects(
    client.start(hello, { id: "twice", taskQueue: "unpolled", args: ["x"] }),
    (error: Error) => {
      const cause = error.cause as ServiceError;
      assert.ok(cause instanceof ServiceError);
      assert.equal(cause.code, Code.ALREADY_EXISTS);
      assert.equal(cause.reason, "WorkflowExecutionAlreadyStarted");
      assert.equal(cause.metadata["run_id"], first.runId);
      return true;
    },
  );
  const elsewhere = new Client({ service, namespace: "no-such-namespace", logger: silentLogger });
  await assert.rejects(elsewhere.getHandle(undefined, "x").describe(), /no-such-namespace/);
  await first.terminate();
});

test("a canceled poll and a stopping server", { skip: noServer }, async () => {
  const poll = new TextEncoder().encode("\n\u0007default\u0012\u0007\n\u0005empty");
  const mortal = await DevServer.start();
  const own = new GrpcService({ address: mortal.address });
  const giveUp = new AbortController();
  const first = own.call("pollActivityTaskQueue", poll, {
    signal: giveUp.signal,
    timeoutMs: 60_000,
  });
  setTimeout(() => giveUp.abort(), 200);
  await assert.rejects(
    first,
    (error) => error instanceof ServiceError && error.code === Code.CANCELLED,
  );
  const second = own.call("pollActivityTaskQueue", poll, { timeoutMs: 60_000 });
  setTimeout(() => void mortal.stop(), 300);
  await assert.rejects(
    second,
    (error) => error instanceof ServiceError && error.code === Code.UNAVAILABLE,
  );
  own.close();
});
