// Which payloads a worker's codec gets, and where its converters are used, compared with the
// official worker on the same server. A payload that the run never gets is not decoded, so one that
// no longer decodes (its key is gone) fails no task.
// takes: 30 s
// runtime: node (compares servers and programs; other files cover the runtime)
import assert from "node:assert/strict";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Client, Connection } from "../../../ts/compat/client/mod.ts";
import { ApplicationFailure, type PayloadCodec } from "../../../ts/compat/common/mod.ts";
import {
  bundleWorkflowCode,
  DefaultLogger,
  NativeConnection,
  Runtime,
  Worker,
} from "../../../ts/compat/worker/mod.ts";
import { encodingOf, invertingCodec } from "../../support/codecs.ts";
import { until } from "../../support/until.ts";
import { DevServer, noServer } from "./support/dev_server.ts";
import { noOfficial, official, root } from "./support/official.ts";

const skip = noOfficial !== false ? noOfficial : noServer;
// Next to the official packages, which the workflows import. Webpack does not resolve a path
// through a link.
const folder = skip === false
  ? mkdtempSync(
    join(realpathSync(join(root, "tests/system/interop/node_modules")), ".temporalex-codec-"),
  )
  : "";
const workflowsPath = join(folder, "workflows.mjs");
const WORKFLOWS = `import * as w from "@temporalio/workflow";
const { echo, refuse } = w.proxyActivities({ startToCloseTimeout: "10s", taskQueue: "codec-helper", retry: { maximumAttempts: 1 } });
const { local } = w.proxyLocalActivities({ startToCloseTimeout: "10s" });
const go = w.defineSignal("go"), add = w.defineUpdate("add"), said = w.defineQuery("said");
export async function child() {
  await new Promise((resolve) => w.setHandler(go, resolve));
  return "result of the child";
}
export async function all(text) {
  let gone = false;
  w.setHandler(go, () => void (gone = true));
  w.setHandler(said, (question) => "answer to " + question);
  w.setHandler(add, (argument) => "result of an update", {
    validator: (argument) => {
      if (argument === "argument of a rejected update") throw new Error("rejected");
    },
  });
  w.upsertMemo({ later: "memo of later" });
  await echo("argument of an activity");
  await refuse("argument of a failing activity").catch(() => {});
  await local("argument of a local activity");
  const handle = await w.startChild(child, { taskQueue: "codec-helper", args: ["argument of a child"], memo: { of: "memo of a child" } });
  await handle.signal("go", "argument of a signal to the child");
  await handle.result();
  await w.sleep("1ms", { summary: "summary of a timer" });
  await w.condition(() => gone);
  if (text === "argument of the first run") await w.continueAsNew("argument of the second run");
  return "result of the workflow";
}
`;
const activities = {
  echo: () => Promise.resolve("result of an activity"),
  local: () => Promise.resolve("result of a local activity"),
  refuse: () =>
    Promise.reject(ApplicationFailure.nonRetryable("refused", "Refused", "details of a failure")),
};

// deno-lint-ignore no-explicit-any
type Any = any;
type Given = Parameters<ReturnType<typeof invertingCodec>["decode"]>[0];
let server: DevServer, sdk: Any, theirs: Any, ours: NativeConnection, client: Client, helper: Any;
let ended: Promise<unknown>, workflowBundle: Any;
let connection: Connection;

before(async () => {
  if (skip !== false) return;
  writeFileSync(workflowsPath, WORKFLOWS);
  server = await DevServer.start();
  sdk = official("@temporalio/worker");
  sdk.Runtime.install({ logger: new sdk.DefaultLogger("ERROR"), shutdownSignals: [] });
  Runtime.install({ logger: new DefaultLogger("ERROR"), shutdownSignals: [] });
  [ours, theirs] = await Promise.all(
    [NativeConnection, sdk.NativeConnection].map((each) =>
      each.connect({ address: server.address })
    ),
  );
  connection = await Connection.connect({ address: server.address });
  workflowBundle = await sdk.bundleWorkflowCode({
    workflowsPath,
    logger: new sdk.DefaultLogger("ERROR"),
  });
  client = new Client({ connection, dataConverter: { payloadCodecs: [invertingCodec()] } });
  const taskQueue = "codec-helper";
  const dataConverter = { payloadCodecs: [invertingCodec()] };
  helper = await Worker.create({
    connection: ours,
    taskQueue,
    activities,
    workflowsPath,
    dataConverter,
  });
  ended = helper.run();
}, { timeout: 120_000 });

after(async () => {
  helper?.shutdown();
  await ended;
  for (const each of [connection, ours, theirs]) await each?.close();
  await server?.stop();
  if (folder !== "") rmSync(folder, { recursive: true, force: true });
});

/** Notes what it decodes, and decodes nothing that `refuses` is true of. */
function noting(refuses = (_text: string) => false): PayloadCodec & { noted: string[] } {
  const inner = invertingCodec();
  const noted: string[] = [];
  return {
    noted,
    encode: (payloads) => inner.encode(payloads as Given),
    decode: async (payloads) => {
      const decoded = await inner.decode(payloads as Given);
      const texts = decoded.map(({ data }) => new TextDecoder().decode(data));
      noted.push(
        ...texts.filter((_, i) => encodingOf((payloads as Given)[i]!) === "binary/inverted"),
      );
      const refused = texts.find(refuses);
      if (refused !== undefined) throw new Error(`the key of ${refused} is gone`);
      return decoded;
    },
  };
}

/** The program for either worker: the official one would bundle the file again each time. */
const programOf = (worker: Any) => worker === Worker ? { workflowsPath } : { workflowBundle };

const SDKS: readonly ["official" | "ours", () => Any, () => Any][] = [
  ["official", () => sdk.Worker, () => theirs],
  ["ours", () => Worker, () => ours],
];

/** Runs the program; what was decoded of it while it was in the cache, or with no cache. */
async function live(
  name: string,
  WorkerOf: Any,
  at: Any,
  payloadCodecs: unknown[],
  maxCachedWorkflows?: number,
) {
  const taskQueue = `codec-${name}`;
  const worker = await WorkerOf.create({
    ...{ connection: at, taskQueue, activities, dataConverter: { payloadCodecs } },
    ...programOf(WorkerOf),
    ...(maxCachedWorkflows !== undefined && { maxCachedWorkflows }),
  });
  return await worker.runUntil(async () => {
    const options = {
      taskQueue,
      workflowId: name,
      args: ["argument of the first run"],
      memo: { of: "memo of the start" },
    };
    const handle = await client.workflow.start("all", { ...options, workflowTaskTimeout: "10s" });
    const first = client.workflow.getHandle(name, handle.firstExecutionRunId, {
      followRuns: false,
    });
    assert.equal(await first.query("said", "argument of a query"), "answer to argument of a query");
    assert.equal(
      await first.executeUpdate("add", { args: ["argument of an update"] }),
      "result of an update",
    );
    await assert.rejects(first.executeUpdate("add", { args: ["argument of a rejected update"] }));
    await first.signal("go", "argument of a signal");
    await assert.rejects(first.result());
    const second = client.workflow.getHandle(name);
    await second.signal("go", "argument of a signal");
    assert.equal(await second.result(), "result of the workflow");
    return { first: await first.fetchHistory(), second: await second.fetchHistory() };
  });
}

test(
  "a codec receives the same payloads as in the official worker, live and in a replay",
  { skip, timeout: 120_000 },
  async (t) => {
    const seen: { [name: string]: unknown } = {};
    for (const [name, worker, at] of SDKS) {
      const codec = noting();
      const histories = await live(name, worker(), at(), [codec]);
      const replayed: { [run: string]: string[] } = {};
      for (const [run, history] of Object.entries(histories)) {
        const counting = noting();
        await worker().runReplayHistory(
          { ...programOf(worker()), dataConverter: { payloadCodecs: [counting] } },
          history,
          name,
        );
        replayed[run] = counting.noted.sort();
      }
      // Here arguments of a local activity are not encoded on their way to it: they never leave the
      // process.
      const noted = codec.noted.filter((text) => text !== '"argument of a local activity"');
      seen[name] = { live: [...new Set(noted)].sort(), replayed };
    }
    t.diagnostic(JSON.stringify(seen["official"], undefined, 1));
    assert.deepEqual(seen["ours"], seen["official"]);
  },
);

/** Given to a run by no worker: what it has made itself, and what became of its tasks. */
const NOT_GIVEN =
  /argument of an? (failing activity|activity|local activity|signal to the child)|memo of later|summary|result of an update/;

test(
  "a payload that the run never receives may be undecodable",
  { skip, timeout: 120_000 },
  async () => {
    for (const [name, worker, at] of SDKS) {
      // Without a cache each task is of the whole history.
      const histories = await live(`${name}-refusing`, worker(), at(), [
        noting((text) => NOT_GIVEN.test(text) && !/local/.test(text)),
      ], 0);
      const payloadCodecs = [noting((text) => NOT_GIVEN.test(text))];
      for (const history of Object.values(histories)) {
        await worker().runReplayHistory(
          { ...programOf(worker()), dataConverter: { payloadCodecs } },
          history,
          name,
        );
      }
      const refusing = [noting((text) => /result of an activity/.test(text))];
      await assert.rejects(
        worker().runReplayHistory(
          { ...programOf(worker()), dataConverter: { payloadCodecs: refusing } },
          histories.first,
          name,
        ),
        /^ReplayError: Replay failed due workflow task failure\. Details: .*the key of \\?"result of an activity\\?" is gone/,
      );
    }
  },
);

const CONVERTER =
  `const { CompositePayloadConverter, JsonPayloadConverter } = require("@temporalio/common");
class Own extends JsonPayloadConverter {
  encodingType = "json/own";
  toPayload(value) {
    const payload = super.toPayload(value);
    return payload && { ...payload, metadata: { encoding: new TextEncoder().encode(this.encodingType) } };
  }
}
exports.payloadConverter = new CompositePayloadConverter(new Own(), new JsonPayloadConverter());
`;
const CALLS = `import { proxyActivities } from "@temporalio/workflow";
const { take, give } = proxyActivities({ startToCloseTimeout: "10s" });
export const calls = async (text) => void (await Promise.all([give(), take(text)]));
`;

test(
  "workflows of a bundle use the bundle's converter; the worker's converter is used in its thread",
  { skip },
  async () => {
    const payloadConverterPath = join(folder, "converter.cjs"),
      workflows = join(folder, "calls.mjs");
    writeFileSync(payloadConverterPath, CONVERTER);
    writeFileSync(workflows, CALLS);
    const seen: { [sdk: string]: string[] } = {};
    for (const [name, worker, at] of SDKS) {
      const bundle = name === "ours" ? bundleWorkflowCode : sdk.bundleWorkflowCode;
      const lines: string[] = seen[name] = [];
      const codes = new Map<boolean, string>();
      for (const made of [false, true]) {
        const options = { workflowsPath: workflows, logger: new DefaultLogger("ERROR") };
        codes.set(made, (await bundle({ ...options, ...(made && { payloadConverterPath }) })).code);
      }
      for (const [made, given] of [[false, true], [true, false], [true, true]] as const) {
        const taskQueue = `bundles-${name}-${made}-${given}`;
        const of = await worker().create({
          ...{
            connection: at(),
            taskQueue,
            workflowBundle: { code: codes.get(made)! },
            activities: { take: () => {}, give: () => "text" },
          },
          ...(given && { dataConverter: { payloadConverterPath } }),
        });
        const handle = await new Client({ connection }).workflow.start("calls", {
          taskQueue,
          workflowId: taskQueue,
          args: ["text"],
        });
        const attributes = async (field: string) => {
          const { events } = await handle.fetchHistory() as Any;
          return events.map((event: Any) => event[`activityTask${field}EventAttributes`]).filter((
            each: Any,
          ) => each);
        };
        const encoding = (payloads: Any) =>
          new TextDecoder().decode(payloads?.payloads?.[0]?.metadata.encoding);
        // Where the two differ, one does not read what the other has written, and the run does not
        // end.
        const [argument, result] = await of.runUntil(async () => {
          await until(
            "an activity has come to its end",
            async () => (await attributes("Completed")).length > 0,
          );
          await handle.terminate().catch(() => {});
          return [
            (await attributes("Scheduled"))[1].input,
            (await attributes("Completed"))[0].result,
          ];
        });
        lines.push(`bundle ${made}, worker ${given}: ${encoding(argument)}, ${encoding(result)}`);
      }
    }
    assert.deepEqual(seen["ours"], seen["official"]);
  },
);
