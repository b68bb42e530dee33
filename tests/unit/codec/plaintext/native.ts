// Drives the native client and worker on an embedded engine and a SQLite file.
import assert from "node:assert/strict";
import { join } from "node:path";
import { completeAsync, heartbeat } from "../../../../ts/activity/mod.ts";
import {
  Client,
  type TransactionWorkflows,
  UpdateHandle,
  WorkflowHandle,
} from "../../../../ts/client/mod.ts";
import { WorkflowSet } from "../../../../ts/client/workflow_set.ts";
import { ApplicationFailure } from "../../../../ts/converter/failures.ts";
import { openSession, redact } from "../../../../ts/debug/mod.ts";
import { EmbeddedEngine } from "../../../../ts/engine/mod.ts";
import { SqliteStore } from "../../../../ts/engine/sqlite/store.ts";
import { MetricsRegistry } from "../../../../ts/metrics/mod.ts";
import { openTelemetry } from "../../../../ts/otel/mod.ts";
import { createWorkerRealm } from "../../../../ts/realm/mod.ts";
import { reportText } from "../../../../ts/report/report.ts";
import { reportedRun } from "../../../../ts/report/reported_run.ts";
import { Worker, WorkflowReplacementError } from "../../../../ts/worker/mod.ts";
import type { RawService } from "../../../../ts/service/raw.ts";
import type { Telemetry } from "../../../support/otel.ts";
import { until } from "../../../support/until.ts";
import {
  add,
  break_,
  broken,
  finish,
  game,
  later,
  marked,
  note,
  refuse,
  seen,
  spoil,
  tell,
} from "../workflows/marked.ts";
import { asText, codec, type Scan } from "./scan.ts";
import { MARK, mark, plainmarkFrame } from "./words.ts";

const workflows = new URL("../workflows/marked.ts", import.meta.url);
const changed = new URL("../workflows/marked_changed.ts", import.meta.url);

const failure = (what: string): never =>
  plainmarkFrame(
    (message, cause) =>
      new ApplicationFailure(message, { type: "Marked", details: [mark(`${what} detail`)], cause }),
    what,
  );

const activities = {
  keep(text: string): string {
    heartbeat({ progress: mark("heartbeat") });
    return `kept ${text}`;
  },
  fail(text: string): never {
    heartbeat(mark("heartbeat"));
    return failure(`activity of ${text}`);
  },
  outside: (): never => completeAsync(),
};

const reducers = {
  greet: (_database: unknown, text: string) => mark(`reducer of ${text}`),
  reject: () => failure("reducer"),
};

/**
 * Values for client code whose error is expected; its text must have the marker, or the case would
 * prove nothing.
 */
async function rejects(promise: PromiseLike<unknown>): Promise<void> {
  const error = await Promise.resolve(promise).then(() => undefined, (error: Error) => error);
  assert.ok(
    error !== undefined && JSON.stringify(error, asText).includes(MARK),
    String(error?.stack),
  );
}

async function messages(client: Client, id: string): Promise<void> {
  const handle = await client.start(marked, {
    id,
    args: [mark("start"), "neighbor", 1],
    memo: { about: mark("memo") },
    summary: mark("summary"),
    details: mark("details"),
    entityId: "entity",
    correlationId: "correlation",
  });
  await until("it receives", async () => (await handle.query(seen, "")).includes("open"));
  await handle.signal(note, mark("signal"));
  await handle.update(add, mark("update"));
  await (await handle.startUpdate(add, { args: [mark("update")], waitFor: "accepted" })).result();
  await handle.executeUpdate(add, { args: [mark("update")] });
  await rejects(handle.update(refuse, mark("refused update")));
  await rejects(handle.update(break_, mark("broken update")));
  await handle.signal(spoil, mark("spoilt"));
  await handle.signal(later, mark("buffered"));
  await handle.query(seen, mark("query"));
  await rejects(handle.query(broken));
  await client.broadcast(tell, "filter", mark("broadcast"));
  assert.match(JSON.stringify((await handle.describe()).memo), new RegExp(MARK));
}

/** Activities and procedures that are completed by the client. */
async function fromOutside(client: Client, id: string): Promise<void> {
  const handle = client.getHandle(marked, id);
  await handle.signal(finish, "wait");
  await until("it waits", async () => {
    const { pendingActivities, pendingProcedures } = await handle.describe();
    return pendingActivities.filter(({ state }) => state === "STARTED").length === 3 &&
      pendingProcedures.length === 2;
  });
  assert.equal((await handle.procedures()).length, 2);
  const [one, two, three] = (await handle.describe()).pendingActivities
    .map(({ activityId }) => ({ workflowId: id, activityId }));
  await client.heartbeatActivity(one!, mark("heartbeat from outside"));
  await client.completeActivity(one!, mark("result from outside"));
  const error = new ApplicationFailure(mark("failure from outside"), {
    details: [mark("detail")],
    nonRetryable: true,
  });
  await client.failActivity(two!, error);
  await client.completeProcedure({ workflow: id, name: game.ask.name }, mark("answer"));
  await client.failProcedure({ workflow: id, name: game.ask.name }, error);
  await handle.cancel("stop");
  await client.reportCancellation(three!, mark("cancellation from outside")).catch(() => {});
  await handle.result().catch(() => {});
}

async function ends(client: Client): Promise<void> {
  const start = (id: string) => client.start(marked, { id, args: [mark("start"), "neighbor", 2] });
  const again = await start("again");
  await again.signal(note, mark("signal"));
  await again.signal(later, mark("buffered"));
  await again.signal(finish, "again");
  await until(
    "the next run",
    async () => (await client.getHandle(marked, "again").describe()).runId !== again.runId,
  );
  await again.signal(finish, "fail");
  await rejects(again.result());
  const bug = await start("bug");
  await bug.signal(finish, "bug");
  await until(
    "its task failed",
    async () =>
      (await bug.fetchHistory()).events.some(({ attributes: at }) =>
        at.case === "workflowTaskFailedEventAttributes"
      ),
  );
  await bug.terminate("ended", mark("details of a termination"));
  await start("set");
  const set = client.workflows({ workflow: "Marked", entityId: "absent" });
  await set.signal(note, mark("signal to a set"));
  await set.cancel();
  await set.terminate();
  assert.equal(await set.count(), 0);
  for await (const _ of set.list()) assert.fail();
  await client.signalWithStart(marked, {
    id: "with-start",
    args: [mark("start"), "neighbor", 2],
    memo: { about: mark("memo") },
    signal: finish,
    signalArgs: ["done"],
  });
  await client.execute(marked, {
    id: "executed",
    args: [mark("start"), "neighbor", 2],
    runTimeout: "1s",
  }).catch(() => {});
  await client.getHandle(marked, "with-start").delete().catch(() => {});
  await client.getHandle(marked, "executed").reset({ to: "firstWorkflowTask" } as never).catch(
    () => {},
  );
  await client.count();
  await client.countGroups();
  await client.countByStatus();
  let listed = 0;
  for await (const run of client.list()) {
    listed += JSON.stringify(run, asText).includes(MARK) ? 1 : 0;
  }
  assert.ok(listed > 0, "memos are decoded in lists");
}

/**
 * Histories as they leave the process, and what replays, debug sessions and reports without a codec
 * show of them.
 */
async function exported(scan: Scan, client: Client): Promise<void> {
  const realm = await createWorkerRealm({
    workflows,
    cacheSize: 0,
    runOptions: { namespace: "default", identity: "replay" },
  });
  try {
    for (const id of ["messages", "again", "bug"]) {
      const handle = client.getHandle(marked, id).with({ timeout: "10s" });
      const bytes = await handle.historyBytes();
      scan.look(`historyJson of ${id}`, await handle.historyJson());
      scan.look(`historyBytes of ${id}`, bytes);
      for await (const event of handle.history()) {
        scan.look(`history of ${id}`, JSON.stringify(event, asText));
      }
      assert.ok(Buffer.from(await handle.historyBytes({ decode: true })).includes(MARK));
      scan.look(`replay of ${id}`, JSON.stringify(await realm.replay(id, bytes), asText));
      const run = await reportedRun({ source: id, history: bytes, realm, values: "" });
      scan.look(`report of ${id}`, reportText({ runs: [run], madeMs: 0 }));
      const session = await openSession(bytes, { realm });
      for (const { eventId } of session.events) {
        scan.look(`debug session of ${id}`, JSON.stringify(session.viewAt(eventId), asText));
      }
      scan.look(`problem of ${id}`, JSON.stringify(session.problem, asText));
      scan.look(`redacted ${id}`, (await redact(bytes)).history ?? "");
    }
  } finally {
    await realm.dispose();
  }
}

async function drive(
  scan: Scan,
  service: RawService,
  tracing: ReturnType<typeof openTelemetry>,
): Promise<void> {
  const metrics = new MetricsRegistry();
  const common = { taskQueue: "marked", codec, encodeCommonAttributes: true, metrics };
  const client = new Client({
    ...common,
    ...tracing.client,
    service: scan.recorded(service, "native client"),
    logger: scan.logger("native client"),
  });
  const worker = await Worker.create({
    ...common,
    ...tracing.worker,
    service: scan.recorded(service, "native worker"),
    workflows,
    activities,
    logger: scan.logger("native worker"),
  });
  await worker.runUntil(async () => {
    await client.start("MarkedChild", { id: "neighbor", args: [mark("neighbor")] });
    await messages(client, "messages");
    await ends(client);
    await fromOutside(client, "messages");
    await exported(scan, client);
    await worker.replaceWorkflows();
    const refused = await worker.replaceWorkflows(changed).catch((error: Error) => error);
    assert.ok(refused instanceof WorkflowReplacementError);
    // `temporalex worker --watch` prints it.
    scan.look("refused replacement", JSON.stringify(refused, asText));
  });
  scan.look("metrics", metrics.text());
}

/** Messages that one commit of the application sends. */
async function transaction(engine: EmbeddedEngine): Promise<void> {
  await engine.transact((database) => {
    const sent = database.workflows as TransactionWorkflows;
    sent.start("MarkedChild", {
      id: "of a transaction",
      args: [mark("start")],
      memo: { about: mark("memo") },
      taskQueue: "without workers",
    });
    sent.signal("of a transaction", note, mark("signal"));
    sent.signalWithStart("MarkedChild", {
      id: "of a transaction",
      args: [mark("start")],
      signal: note,
      signalArgs: [mark("signal")],
      taskQueue: "without workers",
    });
    sent.broadcast(tell, "filter", mark("broadcast"));
  });
}

const functions = {
  repeat: (_: unknown, text: string) => text,
  refuseCall(_: unknown, text: string): never {
    throw new Error(text);
  },
};

/** Functions of the application: arguments, results and errors. */
async function calls(scan: Scan, engine: EmbeddedEngine): Promise<void> {
  const service: RawService = {
    call: (...of) => engine.call(...of),
    async callOther(path, request) {
      scan.look(`request of ${path}`, request);
      const response = await engine.callOther(path, request);
      scan.look(`response of ${path}`, response);
      return response;
    },
  };
  const client = new Client({ service, codec, encodeCommonAttributes: true });
  assert.equal(await client.call("repeat", mark("argument")), mark("argument"));
  const error = await client.call("refuseCall", mark("argument")).catch((e: Error) => e) as Error;
  assert.match(error.message, new RegExp(MARK));
}

/** All of it. The store is in `folder`; `lookAtFiles` is called while it is open. */
export async function driveNative(
  scan: Scan,
  telemetry: Telemetry,
  folder: string,
  lookAtFiles: () => void,
): Promise<void> {
  scan.watchClass("Client", Client);
  scan.watchClass("WorkflowHandle", WorkflowHandle as never);
  scan.watchClass("UpdateHandle", UpdateHandle);
  scan.watchClass("WorkflowSet", WorkflowSet);
  const store = SqliteStore.open(join(folder, "native.sqlite"));
  const late: { client?: Client } = {};
  const engine = await EmbeddedEngine.open({
    store,
    workflows: ({ call, broadcast }) =>
      late.client!.workflowsIn({
        call(method, request) {
          scan.look(`${method} of a transaction`, request);
          return call(method, request);
        },
        broadcast(request) {
          scan.look("broadcast of a transaction", request);
          return broadcast(request);
        },
      }),
    reducers,
    functions,
    codec,
    encodeCommonAttributes: true,
    onError: (error) => scan.look("engine's errors", JSON.stringify(error, asText)),
  });
  try {
    late.client = new Client({ service: engine, codec, encodeCommonAttributes: true });
    await drive(scan, engine, openTelemetry({ tracer: telemetry.tracer }));
    await transaction(engine);
    await calls(scan, engine);
    lookAtFiles();
  } finally {
    await engine.close();
  }
}
