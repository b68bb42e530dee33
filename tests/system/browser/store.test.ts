// runtime: node
// The store of a browser: what every store must do, what browsers refuse, quota, and files that go
// out and come in.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { open as openHere } from "../../../ts/mod.ts";
import { silentLogger } from "../../../ts/base/logger.ts";
import * as program from "../../faults/crash/program.ts";
import { inFolder } from "../../unit/engine/support/stores.ts";
import { serveSite, SITE } from "./support/site.ts";
import { browserSuite, opened } from "./support/suite.ts";

const { check, site, profile } = await browserSuite([
  "--host-resolver-rules=MAP insecure.test 127.0.0.1",
]);
const OPEN = { steps: 0, signals: 2, updates: 0 };

check("SQLite on the browser's files passes the store contract", async ({ newTab }) => {
  const { checks, failures } = await (await newTab()).page.evaluate(() =>
    tab.askWorker("contract.js", "go")
  ) as {
    checks: number;
    failures: string[];
  };
  assert.deepEqual(failures, []);
  assert.ok(checks >= 18, `${checks}`);
});

for (
  const [lack, reason, words] of [
    ["private", "blocked", /private window/],
    ["denied", "blocked", /private window/],
    ["old", "unsupported", /use a current/],
    ["lockless", "unsupported", /Web Locks/],
  ] as const
) {
  check(`a browser that lacks something says what (${lack})`, async ({ store, newTab }) => {
    const wrong = await (await newTab()).open({ store, engine: `refusing.js?${lack}` }) as {
      name: string;
      message: string;
      reason?: string;
    };
    assert.equal(wrong.name, "StoreUnavailableError");
    assert.equal(wrong.reason, reason);
    assert.match(wrong.message, words);
  });
}

check("a page without https gets an error that names the reason", async ({ store }) => {
  const made = await profile.tab(site.url.replace("127.0.0.1", "insecure.test"));
  const wrong = await made.open({ store }) as { name: string; message: string; reason?: string };
  await made.close();
  assert.deepEqual([wrong.name, wrong.reason], ["StoreUnavailableError", "insecure"]);
});

check("in an isolated page SQLite sets up only the file system in use", async ({ store }) => {
  const isolated = await serveSite(SITE, "", true);
  const made = await profile.tab(isolated.url);
  try {
    assert.ok(await made.page.evaluate(() => crossOriginIsolated));
    const one = await opened(made, { store });
    assert.equal(await one.start("one", { steps: 1, signals: 0, updates: 0 }), undefined);
    assert.deepEqual((await one.result("one")).steps, [1, 2]);
    assert.deepEqual(isolated.asked.filter((path) => /proxy|opfs/.test(path)), []);
  } finally {
    await made.close();
    await isolated.close();
  }
});

check(
  "an engine worker that is not served is reported with its address and advice",
  async ({ store, newTab }) => {
    const wrong = await (await newTab()).open({ store, engine: "missing.js" });
    assert.equal(wrong?.name, "EngineWorkerError");
    assert.match(wrong!.message, /serveEngine\(\)/);
  },
);

check(
  "an engine worker that crashes is restarted, and the tab continues",
  async ({ store, newTab }) => {
    const one = await opened(await newTab(), { store, engine: "refusing.js?crashing" });
    await one.page.evaluate(() => tab.crashEngine());
    await one.holds(() => tab.led().length >= 2, undefined);
    assert.equal(await one.count(), 0);
  },
);

check(
  "a full store rejects writes with a clear error, keeps its data, and continues when there is space",
  async ({ store, newTab }) => {
    const one = await opened(await newTab(), { store });
    await one.start("kept", { ...OPEN, signals: 1000 });
    const { usage } = await one.page.evaluate(() => tab.storage());
    const cdp = await one.cdp();
    const origin = new URL(site.url).origin;
    await cdp.send("Storage.overrideQuotaForOrigin", { origin, quotaSize: (usage ?? 0) + 40_000 });
    let refusal: string | undefined;
    for (let n = 0; n < 200 && refusal === undefined; n++) {
      refusal = await one.signal("kept", `${n}-${"x".repeat(8000)}`);
    }
    await cdp.send("Storage.overrideQuotaForOrigin", { origin });
    assert.match(refusal ?? "nothing was refused", /storage quota/);
    assert.equal(await one.role(), "leader");
    assert.equal(await one.start("after", { steps: 1, signals: 0, updates: 0 }), undefined);
    assert.deepEqual((await one.result("after")).steps, [1, 2]);
    await one.reload();
    await opened(one, { store });
    assert.equal(await one.count(), 2);
  },
);

check(
  "the page can read whether the browser granted persistent storage",
  async ({ store, newTab }) => {
    const one = await opened(await newTab(), { store });
    assert.equal(typeof await one.page.evaluate(() => tab.persisted()), "boolean");
    const { usage, quota } = await one.page.evaluate(() => tab.storage());
    assert.ok(usage! > 0 && quota! > usage!);
  },
);

check(
  "an exported store opens in Node, continues there, and can be imported again",
  async ({ store, newTab }) => {
    const one = await opened(await newTab(), { store });
    const two = await opened(await newTab(), { store });
    await one.start("travels", OPEN);
    await one.signal("travels", "from the tab");
    await inFolder(async (folder) => {
      const path = join(folder, "exported.db");
      // A tab that follows can export too.
      writeFileSync(path, await two.exportStore());
      const app = await openHere({
        path,
        workflows: program,
        activities: { step: (n: number) => Promise.resolve(n) },
        logger: silentLogger,
      });
      await app.client.start(program.crash, { id: "made in Node", args: [OPEN] });
      const handle = app.client.getHandle(program.crash, "travels");
      await handle.signal(program.post, "from Node");
      assert.deepEqual((await handle.result()).signals, ["from the tab", "from Node"]);
      await app.close();
      const { readFileSync } = await import("node:fs");
      const bytes = readFileSync(path);
      const refused = await two.importStore(bytes);
      assert.equal(refused?.name, "StoreNotEmptyError");
      assert.match(refused!.message, /has 1 run.*force: true/);
      assert.deepEqual(await one.running(), ["travels"]);
      assert.equal(await two.importStore(bytes, true), undefined);
      assert.deepEqual(await one.running(), ["made in Node"]);
      assert.deepEqual((await two.result("travels")).signals, ["from the tab", "from Node"]);
      // Its worker has come along.
      await two.signal("made in Node", "a");
      await two.signal("made in Node", "b");
      assert.deepEqual((await one.result("made in Node")).signals, ["a", "b"]);
      await one.reload();
      await opened(one, { store });
      assert.equal(await one.count(), 2);
    });
  },
);

check(
  "P7: an invalid, damaged, truncated or newer file is rejected, and the store is unchanged",
  async ({ store, newTab }) => {
    const one = await opened(await newTab(), { store });
    await one.start("kept", OPEN);
    const good = Buffer.from(await one.exportStore());
    const changed = (change: (bytes: Buffer) => void) => {
      const bytes = Buffer.from(good);
      change(bytes);
      return bytes;
    };
    const cases: [string, Buffer, string, RegExp][] = [
      ["empty", Buffer.alloc(0), "NotAStoreError", /not a SQLite database/],
      [
        "text",
        Buffer.from("hello, this is a text and no database at all"),
        "NotAStoreError",
        /not a SQLite database/,
      ],
      [
        "another program's",
        changed((b) => b.writeUInt32BE(1, 68)),
        "NotAStoreError",
        /another program/,
      ],
      [
        "newer",
        changed((b) => b.writeUInt32BE(1000, 60)),
        "StoreVersionError",
        /schema version 1000/,
      ],
      ["cut short", good.subarray(0, 8192), "StoreCorruptError", /is truncated/],
      ["damaged", changed((b) => b.fill(0xaa, 4096, 4096 * 6)), "StoreCorruptError", /damaged/],
    ];
    for (const [name, bytes, error, words] of cases) {
      const wrong = await one.importStore(bytes, true);
      assert.equal(wrong?.name, error, `${name}: ${wrong?.message}`);
      assert.match(wrong!.message, words, name);
      assert.deepEqual(await one.running(), ["kept"], name);
    }
    await one.signal("kept", "1");
    await one.signal("kept", "2");
    assert.deepEqual((await one.result("kept")).signals, ["1", "2"]);
  },
);

check("a codec keeps plain text out of the store", async ({ store, newTab }) => {
  const one = await opened(await newTab(), { store, coded: true });
  await one.start("w", OPEN);
  await one.signal("w", "a secret word");
  await one.signal("w", "another");
  assert.deepEqual((await one.result("w")).signals, ["a secret word", "another"]);
  const text = Buffer.from(await one.exportStore()).toString("latin1");
  assert.ok(!text.includes("a secret word"), "the store has the word");
  assert.ok(
    text.includes([..."a secret word"].reverse().join("")),
    "the store has not the encoded word",
  );
});

check(
  "P7: a store without its database is reported as damaged, not recreated; it can be deleted and a backup imported",
  async (t) => {
    const { store, newTab } = t;
    const one = await opened(await newTab(), { store });
    await one.start("kept", OPEN);
    const backup = await one.exportStore();
    const other = await newTab();
    assert.equal(
      (await other.page.evaluate((store) => tab.deleteStore(store), store))?.name,
      "StoreBusyError",
    );
    assert.deepEqual(await one.running(), ["kept"]);
    await one.closeStore();
    assert.equal(
      await other.page.evaluate((store) => tab.askWorker("vandal.js", store), store),
      "done",
    );
    const wrong = await other.open({ store });
    assert.equal(wrong?.name, "StoreCorruptError");
    assert.match(wrong!.message, /deleteStore/);
    assert.equal(await other.page.evaluate((store) => tab.deleteStore(store), store), undefined);
    await opened(other, { store });
    assert.equal(await other.count(), 0);
    assert.equal(await other.importStore(backup), undefined);
    assert.deepEqual(await other.running(), ["kept"]);
  },
);

check("a store can be deleted while its tab is releasing it", async ({ store, newTab }) => {
  const one = await opened(await newTab(), { store });
  await one.start("w", OPEN);
  await one.closeStore();
  await one.page.evaluate((store) => tab.steal(store), store);
  const other = await newTab();
  const deleted = other.page.evaluate((store) => tab.deleteStore(store), store);
  await one.holds(async () => (await navigator.locks.query()).pending!.length > 0, undefined);
  await one.page.evaluate(() => tab.giveBack());
  assert.equal(await deleted, undefined);
  await opened(other, { store });
  assert.equal(await other.count(), 0);
});

check("any tab can purge closed runs and check the store", async ({ store, newTab }) => {
  const one = await opened(await newTab(), { store });
  const two = await opened(await newTab(), { store });
  for (const id of ["a", "b", "c"]) {
    await one.start(id, { ...OPEN, signals: id === "c" ? 1 : 0 });
    if (id !== "c") await one.result(id);
  }
  assert.equal(await two.page.evaluate(() => tab.purge(Date.now() + 1000, 1)), 1);
  assert.equal(await two.page.evaluate(() => tab.purge(Date.now() + 1000)), 1);
  assert.deepEqual(await two.running(), ["c"]);
  assert.equal(await one.count(), 1);
  assert.deepEqual(await two.page.evaluate(() => tab.checkStore()), []);
});

check("P6: two stores of one site are isolated from each other", async ({ store, newTab }) => {
  const one = await opened(await newTab(), { store: `${store} ä/..*?` });
  const two = await opened(await newTab(), { store: `${store} b` });
  assert.deepEqual([await one.role(), await two.role()], ["leader", "leader"]);
  await one.start("w", OPEN);
  assert.deepEqual([await one.count(), await two.count()], [1, 0]);
});
