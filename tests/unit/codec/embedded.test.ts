// Codecs end to end on the embedded engine and a SQLite file: every way a value takes goes through
// the codec, and nothing readable stays behind, neither in the file nor in the log.
// takes: 5 s
import { fromBinary } from "@bufbuild/protobuf";
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import {
  type App,
  type ApplicationFailure,
  Client,
  createWorkerRealm,
  decodeHistory,
  type LogFields,
  type Logger,
  open,
  type OpenOptions,
  type PayloadCodec,
  PayloadCodecError,
  silentLogger,
  Worker,
  WorkflowFailedError,
} from "../../../ts/mod.ts";
import { HistorySchema } from "../../../ts/messages/generated/temporal/api/history/v1/message_pb.ts";
import { invertingCodec } from "../../support/codecs.ts";
import { until } from "../../support/until.ts";
import * as activities from "./activities.ts";
import { EXPECTED, live } from "./live.ts";
import { end, logged, reject, unread } from "./workflows/logged.ts";
import { finish, note, SECRET, secrets, seen } from "./workflows/secrets.ts";

const workflows = new URL("./workflows/secrets.ts", import.meta.url);

/** A log, as lines of its messages and fields. */
function recordingLogger(): Logger & { lines: string[] } {
  const lines: string[] = [];
  const show = (value: unknown): unknown =>
    value instanceof Error
      ? `${value.name} ${value.message} ${value.stack} ${show(value.cause)}`
      : value;
  const log = (level: string) => (message: string, fields: LogFields = {}) =>
    void lines.push(
      `${level} ${message} ${
        JSON.stringify(fields, (_, value) => typeof value === "bigint" ? `${value}` : show(value))
      }`,
    );
  return { lines, debug: log("debug"), info: log("info"), warn: log("warn"), error: log("error") };
}

async function withApp(
  options: Partial<OpenOptions>,
  body: (app: App, folder: string, log: string[]) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "temporalex-codec-"));
  const logger = recordingLogger();
  const app = await open({
    path: join(folder, "store.sqlite"),
    workflows,
    activities,
    logger,
    ...options,
  });
  try {
    await body(app, folder, logger.lines);
  } finally {
    await app.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Every byte of the store: the file, its journal and other files next to it. */
function stored(folder: string): string {
  const files = readdirSync(folder).map((name) => join(folder, name)).filter((path) =>
    statSync(path).isFile()
  );
  return files.map((path) => readFileSync(path).toString("latin1")).join("\n");
}

test("store and log contain no plain text, and every value arrives decoded", () => {
  const failures: string[] = [];
  const worker = {
    events: {
      workflowTaskFailed: ({ message }: { message: string }) => void failures.push(message),
    },
  };
  return withApp(
    { codec: invertingCodec(), encodeCommonAttributes: true, worker },
    async (app, folder, log) => {
      const { handle } = await live(app.client, "w", "done");
      assert.deepEqual(await handle.result(), EXPECTED);
      const bad = await live(app.client, "bad", "fail");
      const error = await bad.handle.result().catch((e) => e);
      assert.ok(error instanceof WorkflowFailedError);
      const cause = error.cause as ApplicationFailure;
      assert.equal(cause.message, `${SECRET} workflow failure`);
      assert.equal(cause.type, "Bad");
      assert.deepEqual(cause.details, [{ of: `${SECRET} details` }]);
      assert.match(cause.stack!, /secrets/);
      // A bug fails the task, again and again; the listeners of this process may see it.
      const bug = await app.client.start(secrets, { id: "bug", args: ["a", 1] });
      await bug.signal(finish, "bug");
      await until("the task has failed", () => failures.length > 0);
      assert.match(failures[0]!, /SECRET bug/);
      await bug.terminate();
      const bytes = stored(folder);
      assert.ok(
        bytes.includes("Secrets") && bytes.includes("binary/inverted"),
        "the store is what it is taken for",
      );
      const at = bytes.indexOf(SECRET);
      assert.equal(at, -1, `the store has ${JSON.stringify(bytes.slice(at - 60, at + 60))}`);
      assert.deepEqual(log.filter((line) => line.includes(SECRET)), []);
      assert.ok(log.some((line) => line.includes('handler of signal "spoil" failed')));
      assert.ok(
        log.some((line) => line.includes("an activity failed")),
        "the log is what it is taken for",
      );
      // An export stays encoded unless it is asked for.
      assert.ok(!(await bad.first.historyJson()).includes(SECRET));
      assert.ok(!Buffer.from(await bad.first.historyBytes()).includes(SECRET));
      assert.ok(
        Buffer.from(await bad.first.historyBytes({ decode: true })).includes(`${SECRET} failure`),
      );
    },
  );
});

for (const encodeCommonAttributes of [true, false]) {
  const hidden = encodeCommonAttributes ? "without" : "with";
  test(`lines of the executor are logged ${hidden} texts of errors, and names of signals always`, () => {
    const workflows = new URL("./workflows/logged.ts", import.meta.url);
    return withApp(
      { codec: invertingCodec(), encodeCommonAttributes, workflows },
      async (app, _folder, log) => {
        const handle = await app.client.start(logged, { id: "logged", args: [] });
        await handle.signal(reject, `${SECRET} in a handler`);
        await handle.signal(unread);
        await handle.signal(end);
        assert.equal(await handle.result(), "ended");
        const failed = log.find((line) =>
          /^error the handler of signal "reject" failed/.test(line)
        );
        assert.equal(failed?.includes(SECRET), !encodeCommonAttributes, failed);
        const ended = log.find((line) => /^warn the workflow ended with 1 unprocessed/.test(line));
        assert.match(ended ?? "", /"signals":\["unread"\],"count":1/);
      },
    );
  });
}

test("without encodeCommonAttributes only the texts of failures are readable", () =>
  withApp({ codec: invertingCodec() }, async (app, folder) => {
    const { handle } = await live(app.client, "w", "done");
    assert.deepEqual(await handle.result(), EXPECTED);
    const bytes = stored(folder);
    assert.ok(bytes.includes(`${SECRET} failure`));
    for (
      const kept of [
        "start",
        "signal",
        "update",
        "memo",
        "summary",
        "buffered",
        "heartbeat",
        "side effect",
        "detail after",
      ]
    ) {
      assert.ok(!bytes.includes(`${SECRET} ${kept}`), kept);
    }
  }));

test("an encrypted history replays with the codec; without it the error names the missing codec", () =>
  withApp({ codec: invertingCodec(), encodeCommonAttributes: true }, async (app) => {
    const { first } = await live(app.client, "w", "done");
    const history = await first.historyBytes();
    const realm = await createWorkerRealm({
      workflows,
      cacheSize: 0,
      runOptions: { namespace: "default", identity: "replay" },
    });
    try {
      const verdict = await realm.replay("w", await decodeHistory(history, invertingCodec()));
      assert.equal(verdict.verdict, "ok", verdict.error?.message);
      assert.equal(
        (await realm.replay("w", await first.historyBytes({ decode: true }))).verdict,
        "ok",
      );
      const without = await realm.replay("w", history);
      assert.equal(without.verdict, "failed");
      assert.match(without.error!.message, /binary\/inverted.*check that the payload codec/);
    } finally {
      await realm.dispose();
    }
  }));

test("workflows of a running worker are replaced: encoded histories are checked against the new code", () =>
  withApp({ codec: invertingCodec() }, async (app) => {
    const handle = await app.client.start(secrets, { id: "w", args: ["a", 1] });
    await until("it receives", async () => (await handle.query(seen, "")).includes("open"));
    const { checkedRuns } = await app.worker.replaceWorkflows();
    assert.equal(checkedRuns, 1);
    await handle.signal(finish, "done");
    assert.equal((await handle.result()).generation, 1);
  }));

test("runs from before the codec continue with it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "temporalex-codec-"));
  const path = join(folder, "store.sqlite");
  try {
    const before = await open({ path, workflows, activities, logger: silentLogger });
    const handle = await before.client.start(secrets, { id: "w", args: ["plain start", 1] });
    await handle.signal(note, "plain signal");
    await until("it is there", async () => (await handle.query(seen, "")).includes("plain signal"));
    await before.close();
    const after = await open({
      path,
      workflows,
      activities,
      logger: silentLogger,
      codec: invertingCodec(),
    });
    const again = after.client.getHandle(secrets, "w");
    await again.signal(note, `${SECRET} signal`);
    await again.signal(finish, "done");
    const result = await again.result();
    assert.equal(result.result, "kept plain start argument");
    assert.deepEqual(result.caught.slice(2, 4), ["plain signal", `${SECRET} signal`]);
    await after.close();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

/** A codec that fails while a switch is on. */
function fragile(): PayloadCodec & { failing: "encode" | "decode" | "both" | undefined } {
  const inner = invertingCodec();
  const codec = {
    failing: undefined as "encode" | "decode" | "both" | undefined,
    encode: (payloads: Parameters<PayloadCodec["encode"]>[0]) =>
      codec.check("encode") ?? inner.encode(payloads),
    decode: (payloads: Parameters<PayloadCodec["decode"]>[0]) =>
      codec.check("decode") ?? inner.decode(payloads),
    check: (verb: "encode" | "decode") =>
      codec.failing === verb || codec.failing === "both"
        ? Promise.reject(new Error("no key k1"))
        : undefined,
  };
  return codec;
}

test("a workflow task that cannot be decoded fails with the codec's error, and the run continues when the codec works again", () =>
  withApp({}, async (app) => {
    const codec = fragile();
    const failures: string[] = [];
    const client = new Client({
      service: app.engine,
      taskQueue: "coded",
      codec: invertingCodec(),
      logger: silentLogger,
    });
    const worker = await Worker.create({
      service: app.engine,
      taskQueue: "coded",
      workflows,
      activities,
      codec,
      cachedWorkflows: 0,
      logger: silentLogger,
      events: { workflowTaskFailed: ({ message }) => void failures.push(message) },
    });
    await worker.runUntil(async () => {
      codec.failing = "decode";
      const handle = await client.start(secrets, {
        id: "coded",
        args: ["a", 1],
        taskTimeout: "1s",
      });
      await until("the task failed", () => failures.length > 0);
      assert.match(
        failures[0]!,
        /could not decode WorkflowExecutionStartedEventAttributes.input: Error: no key k1/,
      );
      await until("history says so", async () => {
        const { events } = await handle.fetchHistory();
        return events.some(({ attributes: { case: name, value } }) =>
          name === "workflowTaskFailedEventAttributes" && /no key k1/.test(value.failure!.message)
        );
      });
      codec.failing = undefined;
      await handle.signal(finish, "done");
      assert.equal((await handle.result()).generation, 1);
      // A query of a closed run fails with the reason.
      codec.failing = "decode";
      await assert.rejects(handle.query(seen, ""), /no key k1/);
    });
  }));

test("a result that cannot be encoded fails its task or attempt, which is retried", () =>
  withApp({}, async (app) => {
    const codec = fragile();
    const tasks: string[] = [];
    const attempts: string[] = [];
    const client = new Client({
      service: app.engine,
      taskQueue: "coded",
      codec: invertingCodec(),
      logger: silentLogger,
    });
    const worker = await Worker.create({
      service: app.engine,
      taskQueue: "coded",
      workflows,
      activities: {
        ...activities,
        keep: (text: string) => {
          codec.failing = attempts.length === 0 ? "encode" : undefined;
          return Promise.resolve(`kept ${text}`);
        },
      },
      codec,
      logger: silentLogger,
      events: {
        workflowTaskFailed: ({ message }) => void tasks.push(message),
        activityFailed: ({ activityType, message }) => {
          codec.failing = undefined;
          if (activityType === "keep") attempts.push(message);
        },
      },
    });
    await worker.runUntil(async () => {
      codec.failing = "encode";
      const handle = await client.start(secrets, {
        id: "coded",
        args: ["a", 1],
        taskTimeout: "1s",
      });
      await until("the task failed", () => tasks.length > 0);
      assert.match(tasks[0]!, /could not encode .*: Error: no key k1/);
      codec.failing = undefined;
      await until("the attempt failed", () => attempts.length > 0);
      assert.match(
        attempts[0]!,
        /could not encode RespondActivityTaskCompletedRequest.result: Error: no key k1/,
      );
      await handle.signal(finish, "done");
      assert.equal((await handle.result()).result, "kept a argument");
    });
  }));

test("an activity task that cannot be decoded fails retryably; a failure that cannot be encoded is still reported", () =>
  withApp({}, async (app) => {
    const codec = fragile();
    const client = new Client({
      service: app.engine,
      taskQueue: "coded",
      codec: invertingCodec(),
      logger: silentLogger,
    });
    const common = { service: app.engine, taskQueue: "coded", logger: silentLogger };
    const flows = await Worker.create({ ...common, workflows, codec: invertingCodec() });
    const failed: string[] = [];
    const acts = await Worker.create({
      ...common,
      activities,
      codec,
      encodeCommonAttributes: true,
      events: {
        activityFailed: ({ activityType, message }) => {
          failed.push(`${activityType}: ${message}`);
          codec.failing = failed.length < 2 ? undefined : "encode";
        },
      },
    });
    codec.failing = "decode";
    await flows.runUntil(() =>
      acts.runUntil(async () => {
        const handle = await client.start(secrets, { id: "coded", args: ["a", 1] });
        await handle.signal(finish, "done");
        const { result, caught } = await handle.result();
        assert.equal(result, "kept a argument");
        assert.match(
          failed[0]!,
          /^keep: the payload codec could not decode PollActivityTaskQueueResponse.input: Error: no key k1/,
        );
        // The last attempt failed with what could not be encoded: its type is left, and no word of
        // it.
        assert.match(caught[0]!, /^the payload codec could not encode \S+: Error$/);
      })
    );
    const history = fromBinary(
      HistorySchema,
      await client.getHandle(secrets, "coded").historyBytes(),
    );
    const event = history.events.find(({ attributes }) =>
      attributes.case === "activityTaskFailedEventAttributes"
    )!;
    assert.ok(!JSON.stringify(event, (_, v) => typeof v === "bigint" ? 0 : v).includes(SECRET));
  }));

test("a client call with a failing codec rejects with a specific error, and nothing is sent", () =>
  withApp({}, async (app) => {
    const codec = fragile();
    const client = new Client({
      service: app.engine,
      taskQueue: "default",
      codec,
      logger: silentLogger,
    });
    codec.failing = "encode";
    const start = client.start(secrets, { id: "w", args: ["a", 1], memo: { x: 1 } });
    await assert.rejects(start, (error: PayloadCodecError) => {
      assert.ok(error instanceof PayloadCodecError);
      assert.equal(error.direction, "encode");
      assert.match(error.message, /StartWorkflowExecutionRequest.input: Error: no key k1/);
      assert.equal((error.cause as Error).message, "no key k1");
      return true;
    });
    codec.failing = undefined;
    for await (const run of client.list()) assert.fail(`${run.workflowId} was started`);
    // The worker of this application has no codec: it cannot read what this client sends.
    const other = await open({
      workflows,
      activities,
      logger: silentLogger,
      codec: invertingCodec(),
    });
    const handle = await other.client.start(secrets, {
      id: "w",
      args: ["a", 1],
      memo: { about: "memo" },
    });
    await handle.signal(finish, "done");
    await handle.result();
    const broken = new Client({ service: other.engine, codec, logger: silentLogger });
    codec.failing = "decode";
    await assert.rejects(
      broken.getHandle(secrets, "w").result(),
      /could not decode WorkflowExecutionCompletedEventAttributes.result/,
    );
    // A list shows what can be shown.
    const shown: string[] = [];
    for await (const run of broken.list()) shown.push(run.workflowId);
    assert.deepEqual(shown, ["w"]);
    assert.equal((await broken.getHandle(secrets, "w").describe()).status, "COMPLETED");
    await other.close();
  }));

test("size limits apply after encoding: a value may be large before it and not after it", () =>
  withApp({}, async (app) => {
    const blobs = new Map<string, Uint8Array>();
    const utf8 = new TextEncoder();
    const outside: PayloadCodec = {
      encode: (payloads) =>
        Promise.resolve(payloads.map((payload) => {
          if (payload.data.length < 1000) return payload;
          const key = `blob${blobs.size}`;
          blobs.set(key, payload.data);
          return {
            metadata: { ...payload.metadata, blob: utf8.encode(key) },
            data: new Uint8Array(0),
          };
        })),
      decode: (payloads) =>
        Promise.resolve(payloads.map((payload) => {
          const { blob, ...metadata } = payload.metadata;
          return blob === undefined
            ? payload
            : { metadata, data: blobs.get(new TextDecoder().decode(blob))! };
        })),
    };
    const large = "x".repeat(3_000_000);
    const worker = await Worker.create({
      service: app.engine,
      taskQueue: "large",
      workflows,
      activities: { ...activities, keep: (text: string) => Promise.resolve(text) },
      codec: outside,
      logger: silentLogger,
    });
    const client = new Client({
      service: app.engine,
      taskQueue: "large",
      codec: outside,
      logger: silentLogger,
    });
    await worker.runUntil(async () => {
      const handle = await client.start(secrets, { id: "large", args: [large, 1] });
      await handle.signal(finish, "done");
      assert.equal((await handle.result()).result.length, large.length + " argument".length);
      assert.ok((await handle.historyBytes()).length < 20_000);
    });
    const inflating: PayloadCodec = {
      encode: (payloads) =>
        Promise.resolve(payloads.map((p) => ({ ...p, data: new Uint8Array(3_000_000) }))),
      decode: (payloads) => Promise.resolve(payloads),
    };
    const inflated = new Client({
      service: app.engine,
      taskQueue: "large",
      codec: inflating,
      logger: silentLogger,
    });
    await assert.rejects(
      inflated.start(secrets, { id: "inflated", args: ["a", 1] }),
      /StartWorkflowExecutionRequest.input \(encoded\) takes 600\d{4} bytes, more than/,
    );
  }));
