// runtime: node
// Reducers and tables in a browser (docs/dev/semantics/database.md#transact): they come with the
// engine worker's entry, and run in the tab that leads, in the transaction that commits the
// workflow task.
import assert from "node:assert/strict";
import type { Tab } from "./support/browser.ts";
import { browserSuite, opened } from "./support/suite.ts";

const { check } = await browserSuite();
const GAME = { engine: "game_engine.js", realm: "game_realm.js" };

const execute = (tab: Tab, type: string, id: string, args: unknown[] = []): Promise<unknown> =>
  tab.page.evaluate(([t, i, a]) => globalThis.tab.execute(t, i, a), [type, id, args] as const);
const rows = (tab: Tab, sql: string): Promise<unknown> =>
  tab.page.evaluate((text) => globalThis.tab.rows(text), sql);
const lines = async (tab: Tab): Promise<string[]> =>
  (await rows(tab, "SELECT line FROM combat_log ORDER BY id") as { line: string }[]).map((
    { line },
  ) => line);

check("reducers run in the leading tab; every tab reads the tables", async ({ store, newTab }) => {
  const leader = await opened(await newTab(), { store, ...GAME });
  const follower = await opened(await newTab(), { store, ...GAME });
  assert.equal(await follower.role(), "follower");
  assert.equal(await execute(follower, "Fight", "fight", ["orc", [10, 20]]), 70);
  for (const tab of [leader, follower]) {
    assert.deepEqual(await rows(tab, "SELECT name, hp FROM npc"), [{ name: "orc", hp: 70 }]);
    assert.deepEqual(await lines(tab), ["orc is hit for 10", "orc is hit for 20"]);
  }
  assert.equal(await execute(leader, "Survives", "survives"), "TypeError: not today: never");
  assert.deepEqual((await lines(leader)).slice(2), ["before", "after"]);
});

check(
  "a schedule of a tab starts its workflow, and a closed run is reset",
  async ({ store, newTab }) => {
    const leader = await opened(await newTab(), { store, ...GAME });
    const follower = await opened(await newTab(), { store, ...GAME });
    await follower.page.evaluate(() => tab.schedule("raid", "Fight", "raid", ["orc", [10]]));
    await leader.holds(
      async () =>
        (await tab.rows("SELECT 1 FROM workflow WHERE status = 'Completed'") as unknown[])
          .length ===
          1,
      undefined,
    );
    const [{ id }] = await rows(leader, "SELECT id FROM workflow") as [{ id: string }];
    assert.match(id, /^raid-/);
    assert.equal(await follower.page.evaluate((each) => tab.resetResult(each), id), 90);
    assert.equal((await lines(leader)).length, 2, "the reducers of the second run ran again");
  },
);

check(
  "functions of the application run in the leading tab, called from every tab",
  async ({ store, newTab }) => {
    const leader = await opened(await newTab(), { store, ...GAME });
    const follower = await opened(await newTab(), { store, ...GAME });
    const call = (at: Tab, name: string, ...args: unknown[]) =>
      at.page.evaluate(([n, a]) => globalThis.tab.call(n, ...a), [name, args] as const);
    assert.equal(await call(follower, "hunt", "h1", "orc"), "h1");
    assert.equal(await call(leader, "hunt", "h2", "elf"), "h2");
    // Subscriptions are committed with the first tasks.
    await leader.holds(
      async () =>
        (await tab.rows("SELECT 1 FROM workflow WHERE history_length > 3") as unknown[]).length ===
          2,
      undefined,
    );
    assert.equal(await call(follower, "kill", "orc", "ada"), 1);
    assert.equal(await follower.page.evaluate(() => tab.result("h1")), "orc by ada");
    const { name, message } = await call(follower, "killUnknown") as Error;
    assert.equal(
      `${name}: ${message}`,
      'FunctionFailedError: function "killUnknown" failed and was rolled back: no such target',
    );
    assert.match(
      (await call(follower, "missing") as Error).message,
      /^unknown function "missing"; known functions: "hunt", "kill", "killUnknown"$/,
    );
    assert.deepEqual(await lines(follower), ["hunt of orc", "hunt of elf", "orc killed"]);
    assert.equal(await leader.page.evaluate(() => tab.count()), 2);
  },
);

check(
  "a run continues in the next leading tab, and replay does not run reducers",
  async ({ store, newTab }) => {
    const first = await opened(await newTab(), { store, ...GAME });
    void execute(first, "Forgets", "f").catch(() => {});
    await first.holds(
      async () => (await tab.rows("SELECT 1 FROM combat_log") as unknown[]).length === 2,
      undefined,
    );
    const next = await opened(await newTab(), { store, ...GAME });
    await first.close();
    await next.until("leader");
    await next.page.evaluate(() => tab.signalBare("f", "go"));
    assert.equal(await next.page.evaluate(() => tab.result("f")), "gone");
    assert.deepEqual(await lines(next), ["one", "two"]);
  },
);

check(
  "manual timers of a run are fired by the leading tab or another tab",
  async ({ store, newTab }) => {
    const leader = await opened(await newTab(), { store, ...GAME });
    const follower = await opened(await newTab(), { store, ...GAME });
    await follower.page.evaluate(() => tab.startByHand("Fight", "fight", ["orc", [10, 20]]));
    const fire = (at: Tab, name: string) =>
      at.page.evaluate((timer) => globalThis.tab.fireTimer("fight", timer), name);
    const waits = (at: Tab, timers: number) =>
      at.holds(async (count) => {
        const [open] = await tab.rows(
          "SELECT count(*) AS n FROM workflow_timer WHERE timer_id = ?",
          String(count),
        ) as {
          n: number;
        }[];
        return open!.n === 1;
      }, timers);
    await waits(follower, 1);
    assert.match(
      (await fire(follower, "expire"))!.message,
      /workflow "fight" has no open timer "expire"; open timers: /,
    );
    assert.equal(await fire(follower, "1"), undefined);
    await waits(leader, 2);
    assert.equal(await fire(leader, "2"), undefined);
    await leader.holds(
      async () =>
        (await tab.rows("SELECT 1 FROM workflow WHERE status = 'completed'") as unknown[])
          .length === 1,
      undefined,
    );
  },
);

check("a page cannot write tables or read missing tables", async ({ store, newTab }) => {
  const one = await opened(await newTab(), { store, ...GAME });
  const said = async (sql: string) => {
    const { name, message } = await rows(one, sql) as { name: string; message: string };
    return `${name}: ${message}`;
  };
  assert.match(
    await said("DELETE FROM npc"),
    /^DatabaseError: only reducers and transactions can write/,
  );
  assert.match(await said("DROP TABLE npc"), /^DatabaseError: DROP is not for this handle/);
  assert.match(await said("SELECT * FROM monsters"), /no such table: monsters/);
});

check("an engine worker without reducers fails the task with advice", async ({ store, newTab }) => {
  const one = await opened(await newTab(), { store, realm: GAME.realm });
  void execute(one, "Forgets", "f").catch(() => {});
  await one.holds(async () => (await tab.failures("f")).length > 0, undefined);
  const [failure] = await one.page.evaluate(() => tab.failures("f"));
  assert.match(failure!, /serveEngine\(\{ reducers \}\)/);
});

check(
  "reducers with a codec: the engine worker uses the same codec, and the store contains no plain text",
  async ({ store, newTab }) => {
    const options = { store, realm: GAME.realm, engine: "coded_engine.js", coded: true };
    const leader = await opened(await newTab(), options);
    assert.equal(await execute(leader, "Fight", "fight", ["orc", [10, 20]]), 70);
    assert.equal(await execute(leader, "Survives", "survives"), "TypeError: not today: never");
    // The names that reducers keep in tables of the application are its own business; what they
    // returned is in histories alone.
    const found = await leader.page.evaluate(() => tab.found('{"hp":70}'));
    assert.equal(found, false);
    // A tab that leads later replays it.
    void execute(leader, "Forgets", "f").catch(() => {});
    await leader.holds(
      async () =>
        (await tab.rows("SELECT 1 FROM combat_log WHERE line = 'two'") as unknown[]).length === 1,
      undefined,
    );
    const next = await opened(await newTab(), options);
    await leader.close();
    await next.until("leader");
    await next.page.evaluate(() => tab.signalBare("f", "go"));
    assert.equal(await next.page.evaluate(() => tab.result("f")), "gone");
  },
);

check("a codec on only one side is rejected", async ({ store, newTab }) => {
  const wrong = await (await newTab()).open({ store, ...GAME, coded: true });
  assert.match(wrong?.message ?? "it was opened", /serveEngine\(\{ reducers, codec \}\)/);
  const bare = await (await newTab()).open({ store, realm: GAME.realm, engine: "coded_engine.js" });
  assert.match(
    bare?.message ?? "it was opened",
    /the engine worker has a codec and the page does not/,
  );
});
