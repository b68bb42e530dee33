// Drives clients and workers of Temporal's packages on a server of this process, with a failure
// converter that encodes the text of errors.
import assert from "node:assert/strict";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { activityInfo, CompleteAsyncError, heartbeat } from "../../../../ts/compat/activity/mod.ts";
import * as compat from "../../../../ts/compat/client/mod.ts";
import { ApplicationFailure } from "../../../../ts/compat/common/mod.ts";
import {
  DefaultLogger,
  NativeConnection,
  Runtime,
  Worker,
} from "../../../../ts/compat/worker/mod.ts";
import { startDevServer } from "../../../../ts/dev/server.ts";
import { project } from "../../compat/worker/support.ts";
import { until } from "../../../support/until.ts";
import { asText, codec, INTERNAL, type Scan } from "./scan.ts";
import { MARK, mark, plainmarkFrame } from "./words.ts";

const failure = (what: string): never =>
  plainmarkFrame(
    (message, cause) =>
      ApplicationFailure.create({ message, type: "Marked", details: [mark("detail")], cause }),
    what,
  );

const WORKFLOWS = `import * as w from "@temporalio/workflow";
const mark = (what) => "${MARK} " + what;
const options = { startToCloseTimeout: "20s", retry: { maximumAttempts: 2, initialInterval: 10 } };
const acts = w.proxyActivities(options), locals = w.proxyLocalActivities(options);
function plainmarkFrame(what) {
  throw w.ApplicationFailure.create({ message: mark(what), type: "Marked", details: [mark("detail")], cause: new Error(mark("cause")) });
}
const settled = async (run) => { try { return String(await run()); } catch (error) { return String(error.message); } };
export async function child(text) {
  if (text.endsWith("fail")) plainmarkFrame("child");
  let got = "";
  w.setHandler(w.defineSignal("note"), (said) => { got = said; });
  await w.condition(() => got !== "");
  return text + " and " + got;
}
export async function marked(first, neighbor, generation) {
  let how = "", texts = [];
  w.setHandler(w.defineSignal("note"), (text) => { texts.push(text); });
  w.setHandler(w.defineSignal("finish"), (word) => { how = word; });
  w.setHandler(w.defineUpdate("add"), (text) => acts.keep(text));
  w.setHandler(w.defineUpdate("refuse"), () => {}, { validator: () => plainmarkFrame("validator") });
  w.setHandler(w.defineUpdate("break"), async (text) => { await acts.keep(text); plainmarkFrame("update handler"); });
  w.setHandler(w.defineQuery("seen"), (prefix) => texts.map((text) => prefix + text));
  w.setHandler(w.defineQuery("broken"), () => plainmarkFrame("query"));
  w.upsertMemo({ kept: mark("memo upserted") });
  w.setCurrentDetails?.(mark("current details"));
  if (generation === 1) {
    for (const run of [() => acts.keep(first), () => acts.fail(first), () => locals.keep(first), () => locals.fail(first)]) {
      texts.push(await settled(run));
    }
    const one = await w.startChild(child, { args: [mark("child argument")], memo: { of: mark("memo of a child") } });
    await one.signal("note", mark("signal to a child"));
    texts.push(await one.result(), await settled(() => w.executeChild(child, { args: [mark("child fail")] })));
    await settled(() => w.getExternalWorkflowHandle(neighbor).signal("note", mark("signal outside")));
  }
  texts.push("open");
  await w.condition(() => how !== "");
  if (how === "fail") plainmarkFrame("workflow");
  if (how === "bug") throw new Error(mark("bug"));
  if (how === "again") return await w.continueAsNew(mark("next run"), neighbor, generation + 1);
  if (how === "wait") await Promise.all([acts.outside(mark("outside 1")), ...[2, 3].map((n) => settled(() => acts.outside(mark("outside " + n))))]);
  if (how === "wait") await w.sleep("1h");
  return texts;
}
`;

const CONVERTER = `import { DefaultFailureConverter } from "@temporalio/common";
export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });
`;

const activities = {
  keep(text: string): string {
    heartbeat({ progress: mark("heartbeat") });
    return `kept ${text}`;
  },
  fail(text: string): never {
    heartbeat(mark("heartbeat"));
    return failure(`activity of ${text} in ${activityInfo().activityType}`);
  },
  outside: (): never => {
    throw new CompleteAsyncError();
  },
};

async function rejects(promise: PromiseLike<unknown>): Promise<void> {
  const error = await Promise.resolve(promise).then(() => undefined, (error: Error) => error);
  assert.ok(error !== undefined, "it was expected to fail");
}

async function messages(scan: Scan, client: compat.Client, taskQueue: string): Promise<void> {
  const { workflow } = client;
  const started = await workflow.start("marked", {
    workflowId: "messages",
    taskQueue,
    args: [mark("start"), "neighbor", 1],
    memo: { about: mark("memo") },
    staticSummary: mark("summary"),
    staticDetails: mark("details"),
  } as never);
  const handle = scan.watchObject("compat WorkflowHandle", started) as compat.WorkflowHandle;
  await until(
    "it is open",
    async () => (await handle.query<string[], [string]>("seen", "")).includes("open"),
  );
  await handle.signal("note", mark("signal"));
  await handle.signalWithOptions("note", { args: [mark("signal")] } as never);
  await handle.executeUpdate("add", { args: [mark("update")] } as never);
  const update = await handle.startUpdate(
    "add",
    { args: [mark("update")], waitForStage: "ACCEPTED" } as never,
  );
  await update.result();
  await handle.getUpdateHandle(update.updateId).result();
  await rejects(handle.executeUpdate("refuse", { args: [mark("refused update")] } as never));
  await rejects(handle.executeUpdate("break", { args: [mark("broken update")] } as never));
  await rejects(handle.query("broken"));
  await handle.queryWithOptions("seen", { args: [mark("query")] } as never);
  assert.match(JSON.stringify((await handle.describe()).memo), new RegExp(MARK));
  assert.ok(await handle.fetchHistory());
  await rejects(
    workflow.start(
      "marked",
      { workflowId: "messages", taskQueue, args: [mark("twice"), "", 2] } as never,
    ),
  );
  await handle.signal("finish", "wait");
  const pending = async () =>
    ((await handle.describe()).raw as unknown as {
      pendingActivities: { activityId: string; state: unknown }[];
    })
      .pendingActivities;
  await until("its activities wait", async () => (await pending()).length === 3);
  const [one, two, three] = (await pending()).map(({ activityId }) => ({
    workflowId: "messages",
    activityId,
  }));
  await until("they were started", async () => {
    const beaten = await client.activity.heartbeat(one!, mark("heartbeat from outside")).then(
      () => true,
      () => false,
    );
    return beaten;
  });
  await client.activity.complete(one!, mark("result from outside"));
  const error = ApplicationFailure.create({
    message: mark("failure from outside"),
    details: [mark("detail")],
    nonRetryable: true,
  });
  await until(
    "the second one",
    () => client.activity.fail(two!, error).then(() => true, () => false),
  );
  await handle.cancel();
  await client.activity.reportCancellation(three!, mark("cancellation from outside")).catch(
    () => {},
  );
  await rejects(handle.result());
}

/** Activities without a workflow. */
async function standalone(client: compat.Client, taskQueue: string): Promise<void> {
  const options = {
    taskQueue,
    args: [mark("standalone argument")],
    summary: mark("summary of a standalone activity"),
    startToCloseTimeout: "1 minute",
    retry: { maximumAttempts: 1 },
  };
  const handle = await client.activity.start("keep", { ...options, id: "kept" });
  assert.match(await handle.result(), new RegExp(MARK));
  const described = await handle.describe({
    includeInput: true,
    includeOutcome: true,
    includeHeartbeatDetails: true,
  });
  const shown = [
    await described.getInput(),
    await described.getResult(),
    await described.getHeartbeatDetails(),
  ];
  for (const each of shown) assert.match(JSON.stringify(each), new RegExp(MARK));
  const failed = await client.activity.execute("fail", { ...options, id: "failed" })
    .catch((error: Error) => error);
  assert.ok(failed instanceof compat.ActivityExecutionFailedError);
  const waiting = await client.activity.start("outside", { ...options, id: "outside" });
  const address = { activityId: "outside", runId: waiting.runId! };
  await until(
    "a worker has it",
    () => client.activity.heartbeat(address, mark("heartbeat by id")).then(() => true, () => false),
  );
  await client.activity.complete(address, mark("result by id"));
  assert.match(await waiting.result(), new RegExp(MARK));
}

async function ends(scan: Scan, client: compat.Client, taskQueue: string): Promise<void> {
  const { workflow } = client;
  const start = (workflowId: string) =>
    workflow.start(
      "marked",
      { workflowId, taskQueue, args: [mark("start"), "neighbor", 2] } as never,
    );
  const again = await start("again");
  await again.signal("finish", "again");
  await until(
    "the next run",
    async () => (await workflow.getHandle("again").describe()).runId !== again.firstExecutionRunId,
  );
  await workflow.getHandle("again").signal("finish", "fail");
  await rejects(workflow.result("again"));
  const bug = await start("bug");
  await bug.signal("finish", "bug");
  await until(
    "its task failed",
    async () =>
      JSON.stringify(await bug.fetchHistory(), asText).includes(
        "workflowTaskFailedEventAttributes",
      ),
  );
  await scan.watchObject("compat WorkflowHandle", bug).terminate("ended");
  await workflow.signalWithStart("marked", {
    workflowId: "with-start",
    taskQueue,
    args: [mark("start"), "neighbor", 2],
    memo: { about: mark("memo") },
    signal: "note",
    signalArgs: [mark("signal with start")],
  } as never);
  await workflow.getHandle("with-start").signal("finish", "done");
  await rejects(
    workflow.execute(
      "child",
      { workflowId: "executed", taskQueue, args: [mark("child fail")] } as never,
    ),
  );
  await workflow.count();
  let listed = 0;
  for await (const { memo } of workflow.list()) {
    listed += JSON.stringify(memo)?.includes(MARK) ? 1 : 0;
  }
  assert.ok(listed > 0, "memos are decoded in lists");
}

/** Replays a run whose open task fails, which the replay worker logs. */
async function replayed(
  folder: string,
  dataConverter: object,
  client: compat.Client,
): Promise<void> {
  const options = { workflowsPath: join(folder, "workflows.js"), dataConverter };
  await Worker.runReplayHistory(
    options,
    await client.workflow.getHandle("bug").fetchHistory(),
    "bug",
  );
}

/** Writes the converter, and returns a data converter that has it and the codec. */
export function dataConverterIn(t: TestContext): { folder: string; dataConverter: object } {
  const folder = project(t, { "converter.js": CONVERTER, "workflows.js": WORKFLOWS });
  return {
    folder,
    dataConverter: { failureConverterPath: join(folder, "converter.js"), payloadCodecs: [codec] },
  };
}

/** All of it. The store is in `stores`; `lookAtFiles` is called while it is open. */
export async function driveCompat(
  scan: Scan,
  stores: string,
  folder: string,
  dataConverter: object,
  lookAtFiles: () => void,
): Promise<void> {
  scan.watchClass("compat WorkflowClient", compat.WorkflowClient, INTERNAL);
  scan.watchClass("compat AsyncCompletionClient", compat.AsyncCompletionClient, INTERNAL);
  const server = await startDevServer({
    port: 0,
    namespaces: ["default"],
    storeOf: (namespace) => join(stores, `${namespace}.sqlite`),
    logger: scan.logger("dev server"),
  });
  Runtime.install({
    logger: new DefaultLogger(
      "TRACE",
      ({ level, message, meta }) =>
        scan.look(`compat log ${level}`, `${message} ${JSON.stringify(meta, asText)}`),
    ),
  });
  const connection = await NativeConnection.connect({ address: `127.0.0.1:${server.port}` });
  const recorded = scan.recorded(connection.service, "compat worker");
  Object.defineProperty(connection, "service", { value: recorded });
  try {
    const taskQueue = "marked";
    const worker = await Worker.create({
      connection,
      taskQueue,
      dataConverter,
      workflowsPath: join(folder, "workflows.js"),
      activities,
    });
    const client = new compat.Client({
      connection: compat.Connection.over(scan.recorded(recorded, "compat client")),
      dataConverter,
    });
    await worker.runUntil(async () => {
      await client.workflow.start(
        "child",
        { workflowId: "neighbor", taskQueue, args: [mark("neighbor")] } as never,
      );
      await messages(scan, client, taskQueue);
      await ends(scan, client, taskQueue);
      await standalone(client, taskQueue);
      await replayed(folder, dataConverter, client);
    });
    lookAtFiles();
  } finally {
    await connection.close();
    await server.close();
    await Runtime._instance?.shutdown();
  }
}
