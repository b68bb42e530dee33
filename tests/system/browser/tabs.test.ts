// runtime: node
// Several tabs on one store, in a real browser: who leads, how the lead is handed over, and what
// becomes of calls meanwhile.
import assert from "node:assert/strict";
import { handOver } from "./support/loop.ts";
import type { Tab } from "./support/browser.ts";
import { browserSuite, opened } from "./support/suite.ts";

const { check } = await browserSuite();
const PLAN = { steps: 0, signals: 3, updates: 2 };

check(
  "P6: one tab leads, the others work through it, and the next one leads when it closes its store",
  async ({ store, newTab }) => {
    const first = await opened(await newTab(), { store });
    const second = await opened(await newTab(), { store });
    const third = await opened(await newTab(), { store });
    assert.deepEqual([await first.role(), await second.role(), await third.role()], [
      "leader",
      "follower",
      "follower",
    ]);
    const { leader } = await first.status();
    assert.equal((await second.status()).leader, leader);
    await second.start("a", { steps: 1, signals: 0, updates: 0 });
    assert.deepEqual((await third.result("a")).steps, [1, 2]);
    assert.equal(await first.count(), 1);
    await first.closeStore();
    // Whose engine asked for the lock first leads next: a tab is open once it has found the leader,
    // and its engine may start later.
    const next = await Promise.race(
      [second, third].map((tab) => tab.until("leader").then(() => tab)),
    );
    const other = next === second ? third : second;
    await other.holds(
      (old) => tab.status().role === "follower" && tab.status().leader !== old,
      leader,
    );
    assert.equal(await other.count(), 1);
    assert.equal(await first.role(), "none");
  },
);

check(
  "P4: calls in flight when the leading tab is closed are completed once by the next one, and applied once",
  async ({ store, newTab }) => {
    const leader = await opened(await newTab(), { store, stepMs: 600 });
    const next = await opened(await newTab(), { store });
    // The workflow is in a slow step of the leading tab: the update waits in the engine when that
    // tab goes.
    await next.start("w", { steps: 1, signals: 2, updates: 1 });
    const update = next.update("w", "u");
    const signals = (async () => {
      await next.signal("w", "s1");
      await next.signal("w", "s2");
    })();
    await handOver("close-of-two", leader, next);
    assert.equal(await update, undefined);
    await signals;
    const { steps, signals: got, updates } = await next.result("w");
    assert.deepEqual(steps, [1, 2]);
    assert.deepEqual(got, ["s1", "s2"]);
    assert.equal(updates.length, 1);
  },
);

check(
  "P4: a call whose response is lost with the leading tab is sent again and not applied twice",
  async ({ store, newTab }) => {
    const leader = await opened(await newTab(), { store });
    const next = await opened(await newTab(), { store });
    await next.start("w", PLAN);
    // Responses of the leading tab are lost: its changes are recorded, and its callers do not know.
    await next.page.evaluate(() => tab.deafen(true));
    const signal = next.signal("w", "s1");
    const update = next.update("w", "u1");
    const start = next.start("other", { steps: 0, signals: 0, updates: 0 });
    const answers = Promise.all([signal, update, start]);
    answers.catch(() => {});
    await leader.holds(async () => {
      const events = await tab.events("w");
      const done = ["workflowExecutionSignaled", "workflowExecutionUpdateCompleted"].every((kind) =>
        events.includes(kind)
      );
      return done && await tab.count() === 2;
    }, undefined);
    await next.page.evaluate(() => tab.deafen(false));
    await handOver("close-of-two", leader, next);
    assert.deepEqual(await answers, [undefined, undefined, undefined]);
    for (const name of ["s2", "s3"]) await next.signal("w", name);
    await next.update("w", "u2");
    const { signals, updates } = await next.result("w");
    assert.deepEqual(signals, ["s1", "s2", "s3"]);
    assert.deepEqual(updates, ["u1", "u2"]);
    assert.equal(await next.count(), 2);
  },
);

check(
  "P6: a leading tab whose lock is taken away writes nothing more, and leads again when the lock is free",
  async (t) => {
    const { store, newTab } = t;
    const leader = await opened(await newTab(), { store });
    await leader.start("w", PLAN);
    const thief = await newTab();
    await thief.page.evaluate((store) => tab.steal(store), store);
    await leader.until("none");
    const signal = leader.signal("w", "s1");
    signal.catch(() => {});
    const held = new Promise((resolve) => setTimeout(() => resolve("held"), 3000));
    assert.equal(await Promise.race([signal, held]), "held");
    assert.equal(await leader.role(), "none");
    await thief.page.evaluate(() => tab.giveBack());
    await leader.until("leader");
    assert.equal(await signal, undefined);
    assert.deepEqual((await leader.led()).length, 2);
  },
);

check("a crashed leading tab is replaced", async ({ store, newTab }) => {
  const leader = await opened(await newTab(), { store });
  const next = await opened(await newTab(), { store });
  await leader.start("w", PLAN);
  await handOver("crash-of-two", leader, next);
  assert.deepEqual(await next.running(), ["w"]);
});

check(
  "a frozen leading tab is replaced, and follows when it resumes",
  async ({ store, newTab }) => {
    const leader = await opened(await newTab(), { store });
    const next = await opened(await newTab(), { store });
    await leader.start("w", PLAN);
    await handOver("freeze-of-two", leader, next);
    await next.signal("w", "s1");
    const cdp = await leader.cdp();
    await cdp.send("Page.setWebLifecycleState", { state: "active" });
    await leader.until("follower");
    await leader.signal("w", "s2");
    assert.equal(await next.role(), "leader");
    assert.deepEqual(await leader.running(), ["w"]);
  },
);

check(
  "a tab that was frozen while it waited gets its responses when it resumes",
  async ({ store, newTab }) => {
    // Opened first, it would lead; and a page in front is not frozen.
    const leader = await opened(await newTab(), { store, stepMs: 400 });
    const sleeper = await opened(await newTab(), { store });
    await leader.page.bringToFront();
    await sleeper.start("w", { steps: 1, signals: 0, updates: 1 });
    const update = sleeper.update("w", "u");
    const result = sleeper.result("w");
    Promise.all([update, result]).catch(() => {});
    const cdp = await sleeper.cdp();
    await cdp.send("Page.setWebLifecycleState", { state: "frozen" });
    await leader.holds(
      async () => (await tab.running()).length === 0 || (await tab.events("w")).length > 8,
      undefined,
    );
    await cdp.send("Page.setWebLifecycleState", { state: "active" });
    assert.equal(await update, undefined);
    assert.deepEqual((await result).steps, [1, 2]);
    assert.equal(await leader.role(), "leader");
  },
);

check("a hanging leading page is replaced while other tabs wait", async ({ store, newTab }) => {
  const leader = await opened(await newTab(), { store });
  const next = await opened(await newTab(), { store });
  await leader.page.evaluate(() => tab.hang());
  await next.start("w", { steps: 1, signals: 0, updates: 0 });
  await next.until("leader");
  assert.deepEqual((await next.result("w")).steps, [1, 2]);
  await next.page.evaluate(() => tab.endHangs());
  await leader.until("follower");
});

/** The halves of the core that a page has loaded, itself and for its workers. */
const halvesOf = ({ page }: Tab) =>
  page.evaluate(() =>
    performance.getEntriesByType("resource").map(({ name }) =>
      /(worker|engine)_wasm-\w+\.js$/.exec(name)?.[1]
    )
      .filter((half) => half !== undefined).sort()
  );

check(
  "a tab with lead: false calls and never leads, and loads no core",
  async ({ store, newTab }) => {
    const leader = await opened(await newTab(), { store });
    const caller = await opened(await newTab(), { store, lead: false });
    assert.deepEqual(await halvesOf(leader), ["engine", "worker"]);
    assert.deepEqual(await halvesOf(caller), []);
    await caller.start("w", { steps: 1, signals: 0, updates: 0 });
    assert.deepEqual((await caller.result("w")).steps, [1, 2]);
    await leader.close();
    const count = caller.count();
    const again = await opened(await newTab(), { store });
    assert.equal(await count, 1);
    assert.equal(await caller.role(), "follower");
    assert.equal(await again.role(), "leader");
  },
);

check("workflows can run in the page itself", async ({ store, newTab }) => {
  const one = await opened(await newTab(), { store, inline: true });
  await one.start("w", { steps: 2, signals: 1, updates: 1 });
  await one.update("w", "u");
  await one.reload();
  await opened(one, { store, inline: true });
  await one.signal("w", "s");
  assert.deepEqual((await one.result("w")).steps, [1, 2, 3, 4]);
});

check("a client-only tab reports that no tab leads", async ({ store, newTab }) => {
  const wrong = await (await newTab()).open({ store, lead: false });
  assert.equal(wrong?.name, "NoLeaderError");
});

check(
  "a tab whose workflows cannot be loaded reports it, and other tabs lead",
  async ({ store, newTab }) => {
    const broken = await newTab();
    const wrong = await broken.open({ store, realm: "missing.js" });
    assert.match(wrong?.message ?? "", /realm's worker could not be started/);
    const whole = await opened(await newTab(), { store });
    assert.equal(await whole.role(), "leader");
    // Next to a leading tab it can still call.
    await opened(broken, { store, realm: "missing.js" });
    await broken.start("w", { steps: 1, signals: 0, updates: 0 });
    assert.deepEqual((await broken.result("w")).steps, [1, 2]);
  },
);

check("P7: invalid messages on the tabs' channels are ignored", async ({ store, newTab }) => {
  const leader = await opened(await newTab(), { store });
  const next = await opened(await newTab(), { store });
  await next.page.evaluate(
    (store) =>
      tab.babble(store, [
        ...[null, 7, "x", [], {}, { k: "call" }, {
          k: "call",
          from: 1,
          id: "x",
          method: "startWorkflowExecution",
        }],
        { k: "call", from: "x", id: 1, method: "toString", request: new Uint8Array(3) },
        {
          k: "call",
          from: "x",
          id: 1,
          method: "startWorkflowExecution",
          request: new Uint8Array([255, 255]),
        },
        { k: "import", from: "x", id: 2, file: "text" },
        { k: "cancel", from: "x", id: 99 },
        { k: "answer" },
        { temporalex: 1, kind: "leader" },
        { temporalex: 1, kind: "nonsense", from: "x", protocol: 1, schema: 1, version: "0" },
      ]),
    store,
  );
  await next.start("w", { steps: 1, signals: 0, updates: 0 });
  assert.deepEqual((await next.result("w")).steps, [1, 2]);
  assert.equal(await leader.role(), "leader");
});

check(
  "a tab of a later version makes older pages release the store, and asks them to reload",
  async ({ store, newTab }) => {
    const leader = await opened(await newTab(), { store });
    const other = await newTab();
    await other.page.evaluate(
      (store) => tab.pretend(store, { protocol: 1, schema: 1000, version: "9.9.9" }),
      store,
    );
    await leader.until("none");
    const { problem } = await leader.status();
    assert.equal(problem?.name, "PageOutdatedError");
    assert.match(problem!.message, /temporalex 9\.9\.9.*reload this page/);
    // The store is free for the later version, which moves the schema.
    assert.equal(
      await other.page.evaluate((store) => tab.askWorker("newer.js", store), store),
      "done",
    );
    const late = await other.open({ store });
    assert.equal(late?.name, "StoreVersionError");
    assert.match(late!.message, /schema version 1000/);
  },
);

check("a tab with another protocol gets an error at once", async ({ store, newTab }) => {
  const older = await opened(await newTab(), { store });
  const other = await newTab();
  await other.page.evaluate(
    (store) => tab.pretend(store, { protocol: 1000, schema: 1, version: "9.9.9" }),
    store,
  );
  await older.until("none");
  assert.match(await older.start("w", PLAN) ?? "", /reload this page/);
});
