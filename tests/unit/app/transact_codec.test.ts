// transact with a payload codec: arguments, results and failures of reducers are encoded by the
// codec's synchronous form before they are committed (docs/dev/semantics/database.md#transact).
// takes: 42 s
// runtime: node (long; shorter files of this room run in each runtime)
import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import {
  type App,
  ApplicationFailure,
  Client,
  type Database,
  EmbeddedEngine,
  open,
  type OpenOptions,
  silentLogger,
  Worker,
} from "../../../ts/mod.ts";
import { TestEnvironment } from "../../../ts/testing/mod.ts";
import {
  reducers as named,
  signal,
  transact,
  waitForSignal,
  workflow,
} from "../../../ts/workflow/mod.ts";
import { inFolder } from "../engine/support/stores.ts";
import { invertingCodec, invertingSyncCodec } from "../../support/codecs.ts";
import { until } from "../../support/until.ts";

/** How often each has run. */
const ran = { weigh: 0, refuse: 0 };
/**
 * They keep nothing of what they are given, so whatever is found in the file comes from history.
 */
const reducers = {
  weigh(database: Database, secret: string): { answer: string } {
    ran.weigh++;
    database.run("INSERT INTO weights (letters) VALUES (?)", secret.length);
    return { answer: `answer-${secret}` };
  },
  refuse(database: Database, secret: string): never {
    ran.refuse++;
    database.run("INSERT INTO weights (letters) VALUES (-1)");
    throw new ApplicationFailure(`refused-${secret}`, {
      type: "Refused",
      details: [{ why: `details-${secret}` }],
    });
  },
  count: (database: Database): number =>
    database.get<{ n: number }>("SELECT count(*) AS n FROM weights")!.n,
};
const migrations = [{
  name: "001 weights",
  sql: "CREATE TABLE weights (letters INTEGER NOT NULL)",
}];
const { weigh, refuse, count } = named<typeof reducers>();

const go = signal("go");
const vault = workflow("vault", async (secret: string): Promise<string[]> => {
  const { answer } = await transact(weigh, secret);
  transact(weigh, "forgotten-plaintext");
  let why = "";
  try {
    await transact(refuse, secret);
  } catch (e) {
    const { message, type, details } = e as ApplicationFailure & { details: { why: string }[] };
    why = `${type} ${message} ${details[0]?.why}`;
  }
  await waitForSignal(go);
  return [answer, why, String(await transact(count))];
});
const careless = workflow("careless", async (secret: string): Promise<void> => {
  transact(refuse, secret);
  await waitForSignal(go);
});

const SECRET = "plaintext-of-the-vault";
const codec = invertingSyncCodec();
const options = (path: string): OpenOptions => ({
  path,
  workflows: { vault, careless },
  reducers,
  migrations,
  codec,
  encodeCommonAttributes: true,
  logger: silentLogger,
  serve: false,
});

/** What is in a store's files, as text. */
const filed = (path: string): string =>
  [path, `${path}-wal`].filter((file) => existsSync(file)).map((file) =>
    readFileSync(file, "latin1")
  ).join("\n");

async function withApp<T>(given: OpenOptions, body: (app: App) => Promise<T>): Promise<T> {
  const app = await open(given);
  try {
    return await body(app);
  } finally {
    await app.close();
  }
}

test("arguments, results and errors reach workflow code decoded, and the file contains only encoded values", () =>
  inFolder(async (folder) => {
    const path = join(folder, "vault.sqlite");
    await withApp(options(path), async ({ client, engine }) => {
      await client.start(vault, { id: "v", args: [SECRET] });
      await until(
        "three reducers have run",
        () => engine.tables.all("SELECT 1 FROM weights").length === 2 && ran.refuse > 0,
      );
      await until(
        "it waits",
        () =>
          engine.sql("SELECT 1 FROM workflow WHERE status = 'suspended' AND phase >= 2").length ===
            1,
      );
    });
    const before = { ...ran };
    // Another process replays what is encoded.
    await withApp(options(path), async ({ client, engine }) => {
      const handle = client.getHandle(vault, "v");
      await handle.signal(go);
      const result = [`answer-${SECRET}`, `Refused refused-${SECRET} details-${SECRET}`, "2"];
      assert.deepEqual(await handle.result(), result);
      assert.deepEqual(engine.tables.all("SELECT letters FROM weights"), [{
        letters: SECRET.length,
      }, { letters: 19 }]);
      const { events } = await handle.fetchHistory();
      const marker = events.find((e) => e.attributes.case === "markerRecordedEventAttributes")!
        .attributes.value as {
          details: Record<string, { payloads: { metadata: Record<string, Uint8Array> }[] }>;
        };
      assert.match(
        new TextDecoder().decode(marker.details["result"]!.payloads[0]!.metadata["encoding"]),
        /inverted/,
      );
    });
    assert.deepEqual(ran, before, "replay runs no reducer");
    const found = filed(path);
    assert.ok(found.includes("binary/inverted"), "the histories are there");
    for (const word of [SECRET, "answer-", "refused-", "details-", "forgotten-plaintext"]) {
      assert.ok(!found.includes(word), word);
    }
  }));

test("a reducer that throws and is not awaited fails the task with an encoded failure", () =>
  inFolder(async (folder) => {
    const path = join(folder, "vault.sqlite");
    await withApp(options(path), async ({ client, engine }) => {
      const before = ran.refuse;
      const handle = await client.start(careless, { id: "c", args: [SECRET] });
      await until("it was tried again", () => ran.refuse >= before + 2);
      assert.deepEqual(engine.tables.all("SELECT * FROM weights"), []);
      const { events } = await handle.fetchHistory();
      const failed = events.find((e) => e.attributes.case === "workflowTaskFailedEventAttributes")!
        .attributes.value as {
          failure: { message: string };
        };
      assert.equal(failed.failure.message, "Encoded failure");
      await handle.terminate();
    });
    assert.ok(!filed(path).includes(SECRET));
  }));

test("a codec error in the transaction fails the task, rolls back its reducers and quotes no value; the task is retried", () =>
  inFolder(async (folder) => {
    const path = join(folder, "vault.sqlite");
    for (const broken of ["encodeSync", "decodeSync"] as const) {
      const failing = { ...codec, fails: true };
      failing[broken] = (payloads) => {
        if (failing.fails) throw new Error(`no key for ${SECRET}`);
        return codec[broken](payloads);
      };
      await withApp({ ...options(path), codec: failing }, async ({ client, engine }) => {
        const handle = await client.start(vault, { id: broken, args: [SECRET] });
        const failures = async () =>
          (await handle.fetchHistory()).events.flatMap((e) =>
            e.attributes.case === "workflowTaskFailedEventAttributes"
              ? [e.attributes.value.failure?.message ?? ""]
              : []
          );
        await until("the task has failed", async () => (await failures()).length > 0);
        const [first] = await failures();
        assert.match(
          first!,
          /^the payload codec could not (?:encode what a reducer returned|decode what transact asks for): Error$/,
        );
        assert.deepEqual(
          engine.tables.all("SELECT * FROM weights WHERE letters = ?", SECRET.length),
          [],
        );
        failing.fails = false;
        await until(
          "the workflow continues",
          () => engine.tables.all("SELECT * FROM weights").length === 2,
        );
        await handle.signal(go);
        assert.equal((await handle.result())[2], "2");
      });
      assert.ok(!filed(path).includes(SECRET));
      await withApp(options(path), async ({ client }) => {
        assert.equal((await client.count()) > 0, true);
      });
      for (const end of ["", "-wal", "-shm"]) rmSync(path + end, { force: true });
    }
  }));

test("an async codec is rejected with an alternative before a file is created", () =>
  inFolder(async (folder) => {
    const path = join(folder, "none.sqlite");
    const wrong = /encodeSync.*decodeSync.*activities in place of reducers/s;
    await assert.rejects(open({ ...options(path), codec: invertingCodec() }), wrong);
    await assert.rejects(open({ ...options(path), codec: [codec, invertingCodec()] }), wrong);
    assert.equal(existsSync(path), false);
    await assert.rejects(EmbeddedEngine.open({ path, reducers, codec: invertingCodec() }), wrong);
    // Without reducers nothing waits.
    const { reducers: _, ...without } = options(path);
    await withApp(
      { ...without, codec: invertingCodec() },
      ({ engine }) => Promise.resolve(engine.tables.all("SELECT 1")),
    );
  }));

test("several codecs, in order; a promise instead of payloads is rejected", () =>
  inFolder(async (folder) => {
    const path = join(folder, "two.sqlite");
    await withApp(
      { ...options(path), codec: [codec, invertingSyncCodec("binary/outer")] },
      async ({ client, engine }) => {
        const handle = await client.start(vault, { id: "v", args: [SECRET] });
        await until(
          "the workflow continues",
          () => engine.tables.all("SELECT * FROM weights").length === 2,
        );
        await handle.signal(go);
        assert.equal((await handle.result())[0], `answer-${SECRET}`);
      },
    );
    const late = { ...codec, encodeSync: codec.encode as unknown as typeof codec.encodeSync };
    await withApp({ ...options(join(folder, "late.sqlite")), codec: late }, async ({ client }) => {
      const handle = await client.start(vault, { id: "v", args: [SECRET] });
      await until("the task has failed", async () => {
        const { events } = await handle.fetchHistory();
        return events.some((e) =>
          e.attributes.case === "workflowTaskFailedEventAttributes" &&
          /it returned a value of type object, not a list of payloads/.test(
            e.attributes.value.failure?.message ?? "",
          )
        );
      });
    });
  }));

test("an engine without the codec of its workers fails the task and names the missing option", () =>
  inFolder(async (folder) => {
    const engine = await EmbeddedEngine.open({
      path: join(folder, "game.sqlite"),
      reducers,
      migrations,
    });
    const common = { service: engine, taskQueue: "q", logger: silentLogger, codec };
    const worker = await Worker.create({ ...common, workflows: { vault } });
    try {
      await worker.runUntil(async () => {
        const handle = await new Client(common).start(vault, { id: "v", args: [SECRET] });
        await until("the task has failed", async () => {
          const { events } = await handle.fetchHistory();
          return events.some((e) =>
            e.attributes.case === "workflowTaskFailedEventAttributes" &&
            /was opened without a codec: EmbeddedEngine\.open\(\{ reducers, codec \}\)/.test(
              e.attributes.value.failure?.message ?? "",
            )
          );
        });
      });
    } finally {
      await engine.close();
    }
  }));

test("reducers with a codec work in a test environment", async () => {
  const env = await TestEnvironment.create({ reducers, migrations, codec });
  try {
    const result = await env.runWorker({ workflows: { vault } }, async () => {
      const handle = await env.client.start(vault, { id: "v", args: [SECRET] });
      await handle.signal(go);
      return await handle.result();
    });
    assert.deepEqual(result, [
      `answer-${SECRET}`,
      `Refused refused-${SECRET} details-${SECRET}`,
      "2",
    ]);
  } finally {
    await env.dispose();
  }
});
