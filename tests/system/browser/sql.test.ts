// runtime: node
// SQL of a page (docs/dev/semantics/database.md#sql): the views over the origin's private files,
// asked by the tab that leads and by one that does not. What writes is refused, and a query without
// an end is stopped: the engine's thread waits for it.
import assert from "node:assert/strict";
import { hostile } from "../../unit/engine/support/hostile_sql.ts";
import type { Tab } from "./support/browser.ts";
import { browserSuite, opened } from "./support/suite.ts";

const { check } = await browserSuite();
const GAME = { engine: "game_engine.js", realm: "game_realm.js" };

const rows = (tab: Tab, sql: string): Promise<unknown> =>
  tab.page.evaluate((text) => globalThis.tab.rows(text), sql);
const start = (
  tab: Tab,
  type: string,
  id: string,
  args: unknown[],
  entityId: string,
  correlationId = "",
) =>
  tab.page.evaluate(
    ([t, i, a, e, c]) =>
      globalThis.tab.startFor(t, i, a, { entityId: e, ...(c !== "" && { correlationId: c }) }),
    [type, id, args, entityId, correlationId] as const,
  );

/** As the document has them; tests/unit/engine/sql_views.test.ts looks there. */
const DOCUMENTS = [
  "SELECT * FROM workflow WHERE entity_id = 42;",
  "SELECT * FROM workflow\nWHERE entity_id = 42\nAND workflow_type = 'buff'\nAND status IN ('Running', 'Suspended');",
  "SELECT id FROM workflow WHERE correlation_id = 'spell-uuid-here';",
];

check("SQL statements run in the leading tab and in a following tab", async ({ store, newTab }) => {
  const leader = await opened(await newTab(), { store, ...GAME });
  const follower = await opened(await newTab(), { store, ...GAME });
  await start(leader, "buff", "buff-1", [], "42", "spell-uuid-here");
  await start(follower, "Hunts", "hunts-1", ["orc"], "42", "spell-uuid-here");
  await start(leader, "Hunts", "hunts-2", ["orc"], "43");
  const suspended = "SELECT id FROM workflow WHERE status = 'suspended'";
  await leader.holds(async (sql) => (await tab.rows(sql) as unknown[]).length === 3, suspended);
  for (const tab of [leader, follower]) {
    const ids = async (sql: string) =>
      (await rows(tab, sql) as { id: string }[]).map(({ id }) => id).sort();
    assert.deepEqual(await ids(DOCUMENTS[0]!), ["buff-1", "hunts-1"]);
    assert.deepEqual(await ids(DOCUMENTS[1]!), ["buff-1"]);
    assert.deepEqual(await ids(DOCUMENTS[2]!), ["buff-1", "hunts-1"]);
    const shown = await rows(tab, "SELECT phase, state FROM workflow WHERE id = 'buff-1'");
    assert.deepEqual(shown, [{ phase: 0, state: '{"stacks":2}' }]);
  }
});

check("hostile statements of a page are rejected", async ({ store, newTab }) => {
  const one = await opened(await newTab(), { store, ...GAME });
  await start(one, "buff", "buff-1", [], "42");
  const statements = hostile("/other.db");
  assert.ok(statements.length >= 60);
  for (const sql of statements) {
    const said = await rows(one, sql) as { name?: string };
    assert.match(
      said.name ?? "it was run",
      /^(?:SqlRefusedError|DatabaseError)$/,
      JSON.stringify(sql),
    );
  }
  assert.deepEqual(await rows(one, "SELECT id FROM workflow"), [{ id: "buff-1" }]);
});

check("an endless query is stopped, and the engine continues", async ({ store, newTab }) => {
  const leader = await opened(await newTab(), { store, ...GAME });
  const follower = await opened(await newTab(), { store, ...GAME });
  const numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT";
  for (const tab of [leader, follower]) {
    const said = async (sql: string) => {
      const { name, message } = await rows(tab, sql) as { name: string; message: string };
      return `${name}: ${message}`;
    };
    assert.match(
      await said(`${numbers} count(*) FROM n`),
      /^SqlLimitError: the query was stopped after 2 s: reduce its work/,
    );
    assert.match(
      await said(`${numbers} i FROM n`),
      /^SqlLimitError: the (?:result has more than 100000 rows|query was stopped)/,
    );
    assert.match(
      await said("SELECT hex(zeroblob(9000000)) AS a"),
      /^SqlLimitError: the result is larger than 16777216 bytes/,
    );
  }
  await start(follower, "buff", "after", [], "42");
  assert.deepEqual(await rows(leader, "SELECT id FROM workflow"), [{ id: "after" }]);
  assert.equal(await leader.role(), "leader");
});
