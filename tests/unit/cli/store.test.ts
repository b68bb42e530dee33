// `temporalex store ...`: each command with success, JSON and a user's error; while another process
// holds the store; killed halfway.
// takes: 10 s
// runtime: node (long; shorter files of this room run in each runtime)
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { delay } from "@std/async/delay";
import { DeferredServer } from "../../../ts/app/deferred_server.ts";
import { Client, silentLogger } from "../../../ts/client/mod.ts";
import { EmbeddedEngine, SqliteStore } from "../../../ts/engine/mod.ts";
import { builtins } from "../../../ts/engine/sqlite/builtins.ts";
import { loadLibrary } from "../../../ts/engine/sqlite/libraries.ts";
import { Worker } from "../../../ts/worker/mod.ts";
import { sleep, waitForSignal, workflow } from "../../../ts/workflow/mod.ts";
import { run } from "./support/run.ts";
import { startCommand } from "./support/process.ts";

const quick = workflow("Quick", async (name: string) => {
  await sleep("1ms");
  return `done ${name}`;
});
const waits = workflow("Waits", async () => await waitForSignal({ kind: "signal", name: "go" }));
const MODULE = `import { sleep, waitForSignal, workflow } from "temporalex/workflow";
export const quick = workflow("Quick", async (name: string) => {
  await sleep("1ms");
  return "done " + name;
});
`;

async function inFolder(body: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "temporalex-store-cli-"));
  try {
    await body(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function withEngine<T>(path: string, body: (client: Client) => Promise<T>): Promise<T> {
  const engine = await EmbeddedEngine.open({ path });
  const client = new Client({ service: engine, taskQueue: "q", logger: silentLogger });
  const worker = await Worker.create({
    service: engine,
    taskQueue: "q",
    workflows: [{ quick, waits }],
    realm: "inline",
    logger: silentLogger,
  });
  const served = new DeferredServer(engine, true, silentLogger);
  try {
    return await worker.runUntil(() => served.address.then(() => body(client)));
  } finally {
    await served.retire();
    await engine.close();
    await served.close();
  }
}

/** A folder with a store of `closed` closed runs and one open one. */
const filled = (closed: number, body: (folder: string, store: string) => Promise<void>) =>
  inFolder(async (folder) => {
    const store = join(folder, "shop.sqlite");
    await withEngine(store, async (client) => {
      await client.start(waits, { id: "open" });
      await Promise.all(
        Array.from(
          { length: closed },
          (_, i) => client.execute(quick, { id: `q ${i}/x`, args: [`${i}`] }),
        ),
      );
    });
    await body(folder, store);
  });

const json = async (args: readonly string[], cwd: string) => {
  const { code, out, err } = await run([...args, "--json"], { cwd });
  assert.equal(code, 0, err);
  return JSON.parse(out);
};
const fails = async (args: readonly string[], cwd: string, code: number, message: RegExp) => {
  const result = await run(args, { cwd });
  assert.equal(result.code, code, `${result.out}${result.err}`);
  assert.match(result.err, message);
  const asJson = await run([...args, "--json"], { cwd });
  assert.match(JSON.parse(asJson.err.trim().split("\n").at(-1)!).error.message, message);
};

test("store backup writes a checked copy, also while a process has the store open", () =>
  filled(5, async (folder, store) => {
    const text = await run(["store", "backup", "copy.sqlite", "--store", "shop.sqlite"], {
      cwd: folder,
    });
    assert.equal(text.code, 0, text.err);
    assert.match(text.out, /copy\.sqlite: 6 runs \(1 open\), .*kB, checked\n$/);
    await fails(
      ["store", "backup", "copy.sqlite", "--store", store],
      folder,
      1,
      /copy\.sqlite already exists/,
    );
    await fails(
      ["store", "backup", "b.sqlite", "--store", "nowhere.sqlite"],
      folder,
      1,
      /the store .*nowhere.* does not exist/,
    );
    await fails(["store", "backup", "--store", store], folder, 2, /to/);
    await withEngine(store, async () => {
      const held = await json(["store", "backup", "held.sqlite", "--store", store], folder);
      assert.deepEqual([held.runs, held.openRuns, typeof held.heldBy], [6, 1, "number"]);
    });
    await withEngine(join(folder, "held.sqlite"), async (client) => {
      assert.equal(await client.getHandle(quick, "q 3/x").result(), "done 3");
    });
  }));

test("store check reports a sound store, damaged runs with exit code 1, and replays", () =>
  filled(3, async (folder, store) => {
    writeFileSync(join(folder, "w.ts"), MODULE);
    const sound = await run(["store", "check", "--store", store], { cwd: folder });
    assert.equal(sound.code, 0, sound.out + sound.err);
    assert.match(sound.out, /^sound: 4 runs \(1 open\), \d+ events\n$/);
    const replayed = await json(
      ["store", "check", "--store", store, "--workflows", "w.ts"],
      folder,
    );
    assert.deepEqual([replayed.ok, replayed.replayed, replayed.notReplayed], [true, 3, {
      Waits: 1,
    }]);
    writeFileSync(join(folder, "w.ts"), MODULE.replace('await sleep("1ms");', ""));
    const diverging = await run([
      "store",
      "check",
      "--store",
      store,
      "--workflows",
      "w.ts",
      "--json",
    ], { cwd: folder });
    assert.equal(diverging.code, 1);
    assert.deepEqual(JSON.parse(diverging.out).problems.map(({ kind }: { kind: string }) => kind), [
      "diverges",
      "diverges",
      "diverges",
    ]);
    const told = await run(["store", "check", "--store", store, "--workflows", "w.ts"], {
      cwd: folder,
    });
    assert.match(
      told.out,
      /^diverges {2}Quick .*\n {4}this code does not replay it from event \d+ on.*: /m,
    );
    assert.doesNotMatch(
      told.out,
      /damaged/,
      "the store is sound: it is the code that does not fit",
    );
    const database = loadLibrary(builtins()!).open(store);
    database.exec("UPDATE runs SET head = x'00' WHERE workflow_id = 'q 1/x'");
    database.close();
    const damaged = await run(["store", "check", "--store", store], { cwd: folder });
    assert.equal(damaged.code, 1);
    assert.match(
      damaged.out,
      /damaged {2}Quick "q 1\/x" \(run [0-9a-f-]+\)\n {4}its state cannot be decoded\n1 problem: 4 runs/,
    );
    writeFileSync(join(folder, "text.sqlite"), "no store at all");
    await fails(["store", "check", "--store", "text.sqlite"], folder, 1, /not a SQLite database/);
    await fails(
      ["store", "check", "--store", store, "--workflows", "nowhere.ts"],
      folder,
      2,
      /nowhere\.ts/,
    );
  }));

test("store check: damaged pages of a file are reported without an exception", () =>
  filled(60, async (folder, store) => {
    const bytes = readFileSync(store);
    for (
      const [name, from, length] of [["a", 4096, 4096], ["b", 16_384, 40_000], [
        "c",
        bytes.length - 30_000,
        30_000,
      ]] as const
    ) {
      const copy = Buffer.from(bytes);
      for (let i = 0; i < length; i++) copy[from + i] = (i * 31 + 7) & 0xff;
      writeFileSync(join(folder, `${name}.sqlite`), copy);
      const found = await run(["store", "check", "--store", `${name}.sqlite`], { cwd: folder });
      assert.equal(found.code, 1, `${name}: ${found.out}${found.err}`);
      assert.doesNotMatch(found.err, /bug of temporalex/);
    }
    writeFileSync(join(folder, "cut.sqlite"), bytes.subarray(0, bytes.length - 4096));
    await fails(["store", "check", "--store", "cut.sqlite"], folder, 1, /is truncated/);
  }));

test("store purge selects by age and query and supports a dry run; open runs stay, and space is released", () =>
  filled(300, async (folder, store) => {
    const purge = (...args: string[]) => ["store", "purge", "--store", store, ...args];
    await fails(purge(), folder, 2, /say which closed runs/);
    await fails(purge("--query", "Nope"), folder, 2, /Nope/);
    await fails(purge("--older-than", "soon"), folder, 2, /duration/);
    assert.deepEqual((await json(purge("--older-than", "1h"), folder)).runs, 0);
    const query = ["--query", `WorkflowId = "q 7/x" OR WorkflowType = "Waits"`];
    await withEngine(store, async () => {
      const dry = await json(purge(...query, "--dry-run"), folder);
      assert.deepEqual([dry.runs, dry.left], [1, 300]);
    });
    const alone = await EmbeddedEngine.open({ path: store });
    await fails(
      purge(...query),
      folder,
      1,
      /is open in process \d+, which does not let others.*end that first.*--retention 30d/,
    );
    await alone.close();
    assert.deepEqual((await json(purge(...query, "--keep-space"), folder)).left, 300);
    // A process that serves its store is asked; the open run is not touched, though the query
    // selects it.
    await withEngine(store, async () => {
      const some = await json(
        purge("--query", `WorkflowId = "q 8/x" OR WorkflowType = "Waits"`),
        folder,
      );
      assert.deepEqual([some.runs, some.left, some.held], [1, 299, true]);
      assert.deepEqual((await json(purge("--older-than", "1h"), folder)).runs, 0);
    });
    const text = await run(purge("--older-than", "0s"), { cwd: folder });
    assert.equal(text.code, 0, text.err);
    assert.match(text.out, /^298 runs removed, 1 run left; [\d.]+ .B given back/);
    assert.equal((await run(["store", "check", "--store", store], { cwd: folder })).code, 0);
  }));

test("store export and import round-trip lines and files, with and without a process that has the store open", () =>
  filled(4, async (folder, store) => {
    const text = await run([
      "store",
      "export",
      "--store",
      store,
      "--query",
      'WorkflowType = "Quick"',
      "--to",
      "out/",
    ], {
      cwd: folder,
    });
    assert.equal(text.code, 0, text.err);
    assert.equal(text.out, "4 runs written to out/, a file for each\n");
    const files = readdirSync(join(folder, "out"));
    assert.equal(files.length, 4);
    assert.ok(files.every((name) => /^q%20\d%2Fx\.[0-9a-f-]+\.json$/.test(name)), files.join());
    writeFileSync(join(folder, "w.ts"), MODULE);
    const replayed = await run([
      "replay",
      "--workflows",
      "w.ts",
      ...files.map((name) => `out/${name}`),
    ], {
      cwd: folder,
      read: (path) => Promise.resolve(new Uint8Array(readFileSync(path))),
    });
    assert.equal(replayed.code, 0, replayed.out + replayed.err);
    await withEngine(store, async () => {
      const all = await json(["store", "export", "--store", store, "--to", "all.jsonl"], folder);
      assert.equal(all.runs, 5);
    });
    const one = await run(["store", "export", "--store", store, "-w", "q 2/x"], { cwd: folder });
    assert.equal(JSON.parse(one.out).workflowId, "q 2/x");
    assert.equal(
      JSON.parse(one.out).history.events[0].eventType,
      "EVENT_TYPE_WORKFLOW_EXECUTION_STARTED",
    );
    assert.equal(
      (await run(["store", "export", "--store", store, "-w", "q 2/x", "--to", "-"], {
        cwd: folder,
      })).out,
      one.out,
    );
    await fails(
      ["store", "export", "--store", store, "--to", "all.jsonl"],
      folder,
      1,
      /exists already/,
    );
    await fails(["store", "export", "--store", store, "-w", "absent"], folder, 1, /absent/);
    await fails(
      ["store", "export", "--store", store, "-w", "a", "--query", "b"],
      folder,
      2,
      /cannot be used together/,
    );

    const into = ["--store", "other.sqlite"];
    await fails(
      ["store", "import", "all.jsonl", ...into],
      folder,
      1,
      /nothing was imported[\s\S]*all\.jsonl:\d: run .* is open/,
    );
    const dry = await json(
      ["store", "import", "all.jsonl", ...into, "--closed-only", "--dry-run"],
      folder,
    );
    assert.deepEqual([dry.imported, dry.skippedOpen], [4, 1]);
    const first = await json(["store", "import", `out/${files[0]}`, ...into], folder);
    assert.equal(first.imported, 1);
    await fails(
      ["store", "import", "all.jsonl", ...into, "--closed-only"],
      folder,
      1,
      /is already in the store/,
    );
    const rest = await json([
      "store",
      "import",
      "all.jsonl",
      ...into,
      "--closed-only",
      "--skip-existing",
    ], folder);
    assert.deepEqual([rest.imported, rest.skippedExisting, rest.skippedOpen], [3, 1, 1]);
    await withEngine(join(folder, "other.sqlite"), async (client) => {
      for (let i = 0; i < 4; i++) {
        assert.equal(await client.getHandle(quick, `q ${i}/x`).result(), `done ${i}`);
      }
      await fails(
        ["store", "import", `out/${files[0]}`, ...into, "--skip-existing"],
        folder,
        1,
        /is open in another engine/,
      );
    });
    assert.equal((await run(["store", "check", ...into], { cwd: folder })).code, 0);
  }));

test("store import accepts whole stores and runs of stores, and rejects invalid histories", () =>
  filled(3, async (folder, store) => {
    const whole = await json(["store", "import", store, "--store", "new.sqlite"], folder);
    assert.deepEqual([whole.imported, whole.openRuns], [4, 1]);
    await withEngine(join(folder, "new.sqlite"), async (client) => {
      await client.getHandle(waits, "open").signal("go");
      await client.getHandle(waits, "open").result();
    });
    SqliteStore.open(join(folder, "there.sqlite")).close();
    await fails(
      ["store", "import", store, "--store", "there.sqlite"],
      folder,
      1,
      /is open: import it with --open to continue it in this store/,
    );
    const closed = await json([
      "store",
      "import",
      store,
      "--store",
      "there.sqlite",
      "--closed-only",
    ], folder);
    assert.deepEqual([closed.imported, closed.skippedOpen], [3, 1]);
    writeFileSync(join(folder, "no.json"), '{"events": 3}');
    await fails(
      ["store", "import", "no.json", "--store", "there.sqlite"],
      folder,
      1,
      /nothing was imported[\s\S]*no\.json/,
    );
    await fails(
      ["store", "import", "nowhere.json", "--store", "there.sqlite"],
      folder,
      1,
      /file not found: nowhere/,
    );
  }));

test("store import --open continues open runs of stores and histories; conflicts and wrong options are rejected", () =>
  filled(2, async (folder, store) => {
    await json(["store", "export", "--store", store, "--to", "all.jsonl"], folder);
    const into = (
      target: string,
      ...args: string[]
    ) => ["store", "import", ...args, "--store", target];
    SqliteStore.open(join(folder, "a.sqlite")).close();
    for (const [target, source] of [["a.sqlite", store], ["b.sqlite", "all.jsonl"]] as const) {
      const moved = await json(into(target, source, "--open"), folder);
      assert.deepEqual([moved.imported, moved.importedOpen], [3, 1]);
      await fails(into(target, source, "--open"), folder, 1, /is already in the store/);
      await withEngine(join(folder, target), async (client) => {
        await client.getHandle(waits, "open").signal("go");
        await client.getHandle(waits, "open").result();
      });
    }
    // Another run of the workflow is open.
    await withEngine(
      join(folder, "c.sqlite"),
      async (client) => void await client.start(waits, { id: "open" }),
    );
    await fails(into("c.sqlite", "all.jsonl", "--open"), folder, 1, /a workflow has one open run/);
    const both = into("d.sqlite", "all.jsonl", store, "--open");
    await fails(both, folder, 1, /is in the sources twice; remove one of them/);
    assert.equal(
      existsSync(join(folder, "d.sqlite")) && (await json(
        ["store", "check", "--store", "d.sqlite"],
        folder,
      )).runs,
      0,
    );
    await fails(
      into("d.sqlite", store, "--open", "--closed-only"),
      folder,
      2,
      /exclude each other/,
    );
    await fails(into("d.sqlite"), folder, 2, /name files to import, or use --from-cluster/);
    await fails(
      into("d.sqlite", store, "--open", "--terminate-source"),
      folder,
      2,
      /--terminate-source needs --from-cluster and --open/,
    );
  }));

test("store import --closed-only does not depend on the text of ids", () =>
  inFolder(async (folder) => {
    const store = join(folder, "shop.sqlite");
    await withEngine(
      store,
      async (client) => void await client.execute(quick, { id: "x is open (y", args: ["1"] }),
    );
    await json(["store", "export", "--store", store, "--to", "all.jsonl"], folder);
    const again = ["store", "import", "all.jsonl", "--store", store, "--closed-only"];
    await fails(again, folder, 1, /is already in the store/);
  }));

test("after a kill during backup, purge or import the store is sound, and the next call continues", () =>
  filled(400, async (folder, store) => {
    const check = async (path: string) => {
      const { code, out, err } = await run(["store", "check", "--store", path], { cwd: folder });
      assert.equal(code, 0, out + err);
    };
    const kill = async (args: readonly string[], afterMs: number) => {
      const started = startCommand([...args, "--json"], folder);
      await delay(afterMs);
      await started.end("SIGKILL");
    };
    await json(["store", "export", "--store", store, "--to", "all.jsonl"], folder);
    const backupAndPurge = async (afterMs: number, i: number) => {
      await kill(["store", "backup", `copy${i}.sqlite`, "--store", store], afterMs);
      if (existsSync(join(folder, `copy${i}.sqlite`))) await check(join(folder, `copy${i}.sqlite`));
      const query = ["--query", `WorkflowId BETWEEN "q ${i + 1}" AND "q ${i + 2}"`];
      await kill(["store", "purge", "--store", store, ...query], afterMs);
      await check(store);
    };
    const importing = async (afterMs: number) => {
      await kill([
        "store",
        "import",
        "all.jsonl",
        "--store",
        "other.sqlite",
        "--closed-only",
        "--skip-existing",
      ], afterMs);
      // Killed while it was made, a store is an empty file (or one whose journal takes its pages
      // back), and the next opening makes it.
      if (existsSync(join(folder, "other.sqlite"))) {
        const { code, out, err } = await run(["store", "check", "--store", "other.sqlite"], {
          cwd: folder,
        });
        if (code !== 0) {
          assert.match(err, /other\.sqlite does not contain a store: the file is empty/, out);
        }
      }
    };
    for (const [i, afterMs] of [150, 220, 300, 400, 550].entries()) {
      await Promise.all([backupAndPurge(afterMs, i), importing(afterMs)]);
    }
    await json([
      "store",
      "import",
      "all.jsonl",
      "--store",
      "other.sqlite",
      "--closed-only",
      "--skip-existing",
    ], folder);
    await withEngine(
      join(folder, "other.sqlite"),
      async (client) => assert.equal(await client.count(), 400),
    );
    await json(["store", "purge", "--store", store, "--older-than", "0s"], folder);
    await json(["store", "backup", "last.sqlite", "--store", store], folder);
    await check("last.sqlite");
  }));
