// Lists and counts of stores with many runs: indexes alone find the runs, pages follow each other
// as in memory, and stores of the version before are brought to the new indexes.
// takes: 4 s
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { MemoryStore } from "../../../ts/engine/memory_store.ts";
import type { SqlDatabase } from "../../../ts/engine/sqlite/driver.ts";
import { countByStatus, countRuns, listPage } from "../../../ts/engine/sqlite/lists.ts";
import { openFile } from "../../../ts/engine/sqlite/open.ts";
import { purgeableSql } from "../../../ts/engine/sqlite/statements.ts";
import { SqliteStore } from "../../../ts/engine/sqlite/store.ts";
import type { ListPosition, Store } from "../../../ts/engine/store.ts";
import { parseQuery } from "../../../ts/engine/visibility/parse.ts";
import { created, row, write } from "./support/records.ts";
import { downgradeFile } from "./support/older_files.ts";
import { inFolder, sqliteDrivers, storeKinds } from "./support/stores.ts";

const TYPES = ["Order", "Refund", "Rare", "Order"];

/** Several types, all statuses, starts and closes in different orders, many of them at one time. */
const RUNS = Array.from({ length: 240 }, (_, i) => {
  const status = i % 3 === 0 ? 1 : i % 8 + 1;
  const isOpen = status === 1 || status === 8;
  return created(`w${i % 50}`, `r${i}`, 1, {
    ...{ workflowType: TYPES[i % 4]!, status, startTimeMs: 1000 + (i * 37) % 100 },
    closeTimeMs: isOpen ? 0 : 2000 + (i * 53) % 40,
  });
});

const QUERIES = [
  "",
  "ExecutionStatus = 'Running'",
  "ExecutionStatus = 'Completed'",
  "ExecutionStatus != 'Running'",
  "ExecutionStatus IN ('Running', 'Paused', 'Failed')",
  "ExecutionStatus = 'Failed' AND ExecutionStatus = 'Running'",
  "WorkflowType = 'Order'",
  "WorkflowType = 'Absent'",
  "WorkflowType = 'Order' AND WorkflowType = 'Rare'",
  "WorkflowType IN ('Order', 'Rare', 'Order')",
  "WorkflowType != 'Order'",
  "WorkflowType = 'Order' AND ExecutionStatus = 'Failed'",
  "CloseTime IS NULL",
  "CloseTime IS NOT NULL",
  "CloseTime IS NULL AND WorkflowType IN ('Order', 'Rare')",
  "CloseTime > '1970-01-01T00:00:02.010Z'",
  "ExecutionStatus NOT IN ('Failed') AND CloseTime <= '1970-01-01T00:00:02.030Z'",
  "WorkflowType = 'Order' AND StartTime > '1970-01-01T00:00:01.030Z'",
  "StartTime > '1970-01-01T00:00:01.030Z'",
];
/** Found by an index on other fields, or not at all. */
const OTHERS = [
  "WorkflowId = 'w7' AND ExecutionStatus != 'Running'",
  "WorkflowId STARTS_WITH 'w1' AND WorkflowType = 'Order'",
  "RunId IN ('r5', 'r6', 'r7')",
  "TaskQueue = 'queue' AND ExecutionStatus = 'Failed'",
  "HistoryLength >= 1 AND HistorySizeBytes >= 0 AND StateTransitionCount = 0",
  "ExecutionDuration > '1s' AND ExecutionDuration < 1030000000",
  "ExecutionDuration IS NULL",
  "ExecutionTime > '1970-01-01T00:00:01.030Z' AND RootWorkflowId = 'w7'",
  "ParentWorkflowId IS NULL AND RootWorkflowId STARTS_WITH 'w1'",
  "ExecutionStatus = 'Failed' OR WorkflowType = 'Rare'",
  "CloseTime IS NULL OR WorkflowType STARTS_WITH 'R'",
  "ExecutionStatus = 'Failed' OR CloseTime IS NOT NULL AND NOT WorkflowType = 'Rare'",
  `WorkflowType IN (${Array.from({ length: 20 }, (_, i) => `'T${i}'`).join(", ")}, 'Order')`,
];

/** Run ids of all pages. */
function pages(store: Store, text: string, size: number): string[][] {
  const query = parseQuery(text);
  const found: string[][] = [];
  let after: ListPosition | undefined;
  do {
    const page = store.list(query, size, after);
    found.push(page.rows.map(({ runId }) => runId));
    assert.ok(
      page.next === undefined || page.rows.length === size,
      "a page that is not the last one is full",
    );
    after = page.next;
  } while (after !== undefined);
  return found;
}

/** The order that is promised, written down without any of the stores' means. */
function expected(text: string): string[] {
  const { where: _, orderBy, descending } = parseQuery(text);
  const memory = new MemoryStore();
  memory.commit(RUNS);
  const selected = new Set(memory.list(parseQuery(text), 1000).rows.map(({ runId }) => runId));
  const place = (i: number) =>
    orderBy === "StartTime" ? RUNS[i]!.row!.startTimeMs : RUNS[i]!.row!.closeTimeMs || Infinity;
  const order = RUNS.map((_, i) => i).sort((
    a,
    b,
  ) => (place(a) === place(b) ? a - b : place(a) - place(b)));
  return (descending ? order.reverse() : order).map((i) => `r${i}`).filter((id) =>
    selected.has(id)
  );
}

for (const kind of storeKinds) {
  test(
    `${kind.name}: pages of every size follow each other in order, and counts agree`,
    { skip: kind.skip },
    () =>
      inFolder((folder) => {
        const store = kind.open(join(folder, "store.db"));
        store.commit(RUNS);
        for (const query of [...QUERIES, ...OTHERS]) {
          for (
            const order of [
              "",
              " ORDER BY CloseTime ASC",
              " ORDER BY StartTime",
              " ORDER BY StartTime ASC",
            ]
          ) {
            const ids = expected(query + order);
            for (const size of [1, 7, 1000]) {
              assert.deepEqual(pages(store, query + order, size).flat(), ids, `${query}${order}`);
            }
          }
          const { where } = parseQuery(query);
          const ids = expected(query);
          assert.equal(store.count(where), ids.length, query);
          const counts = new Map<number, number>();
          for (const id of ids) {
            const { status } = RUNS[Number(id.slice(1))]!.row!;
            counts.set(status, (counts.get(status) ?? 0) + 1);
          }
          const sorted = (map: ReadonlyMap<number, number>) => [...map].sort(([a], [b]) => a - b);
          assert.deepEqual(sorted(store.countByStatus(where)), sorted(counts), query);
        }
        store.close();
      }),
  );
}

/** The plans of all statements that are prepared meanwhile. */
function plansOf(database: SqlDatabase, body: (database: SqlDatabase) => void): string[] {
  const statements: string[] = [];
  const recording: SqlDatabase = {
    exec: (sql) => database.exec(sql),
    prepare(sql) {
      statements.push(sql);
      return database.prepare(sql);
    },
    close() {},
  };
  body(recording);
  return statements.map((sql) => {
    const plan = database.prepare(`EXPLAIN QUERY PLAN ${sql}`);
    const params = Array.from(sql.matchAll(/\?/g), () => 1);
    return `${plan.all(params).map(({ detail }) => detail).join("; ")}: ${sql}`;
  });
}

for (const { driver, skip } of sqliteDrivers) {
  test(
    `${driver}: lists and counts by status, type and time use only indexes`,
    { skip },
    () =>
      inFolder((folder) => {
        const file = openFile(join(folder, "store.db"), { driver });
        try {
          for (const text of QUERIES) {
            const query = parseQuery(text);
            const plans = plansOf(file.database, (database) => {
              listPage(database, query, 10);
              listPage(database, query, 10, [9e15, 5]);
              listPage(database, query, 10, [2010, 5]);
              countRuns(database, query.where);
              countByStatus(database, query.where);
            });
            assert.ok(plans.length > 3, text);
            // These are tested row by row: no index has their fields in order.
            const isFree = text.includes("!= 'Order'");
            const isKept = (plan: string) => plan.includes(" temporalex_run_counts");
            const ofCounts = plans.filter((plan) => plan.includes("count(*)") || isKept(plan));
            // Neither the start nor the close time is in the kept counts.
            if (!/Time [<>]/.test(text)) assert.ok(ofCounts.every(isKept), text);
            for (const plan of plans.filter((each) => !each.includes("run_key = ?"))) {
              if (isKept(plan)) continue;
              if (!isFree) assert.match(plan, /^(?:SEARCH|SCAN) runs USING COVERING INDEX/, text);
              // A count in groups has few groups to sort, a list has all its runs.
              if (plan.includes("ORDER BY")) assert.doesNotMatch(plan, /TEMP B-TREE/, text);
            }
          }
          const [purge] = plansOf(
            file.database,
            (database) => void database.prepare(purgeableSql()),
          );
          assert.match(purge!, /^SEARCH runs USING INDEX runs_by_close \(close_time_ms<\?\):/);
        } finally {
          file.database.close();
          file.fence.release();
        }
      }),
  );

  test(
    `${driver}: lists and counts follow a run through steps, its close, and a step after that`,
    { skip },
    () =>
      inFolder((folder) => {
        const path = join(folder, "store.db");
        const store = SqliteStore.open(path, { driver });
        store.commit([created("wf", "r", 1)]);
        store.commit([write(row("wf", "r", { historyLength: 1, wakeAtMs: 7 }))]);
        store.commit([write(row("wf", "r", { historyLength: 1, status: 3, closeTimeMs: 5 }))]);
        // The same commit opens, steps and closes; a closed run is changed without being closed
        // again.
        store.commit([
          created("a", "ra", 1),
          write(row("a", "ra", { historyLength: 1, status: 2, closeTimeMs: 6 })),
        ]);
        store.commit([
          write(row("a", "ra", { historyLength: 1, status: 2, closeTimeMs: 6, nextRunId: "n" })),
        ]);
        const read = () => pages(store, "CloseTime IS NOT NULL", 1).flat();
        assert.deepEqual(read(), ["ra", "r"]);
        assert.deepEqual([...store.countByStatus()].sort(), [[2, 1], [3, 1]]);
        assert.equal(store.load("a")?.row?.nextRunId, "n");
        assert.deepEqual(store.check(), []);
        assert.equal(store.purge({ closedBefore: 6 }).length, 1);
        assert.deepEqual([...store.countByStatus()], [[2, 1]]);
        assert.deepEqual(store.check(), []);
        store.close();
      }),
  );

  test(
    `${driver}: a store without indexes of lists opens with its runs in the same order, and gets the indexes`,
    { skip },
    () =>
      inFolder((folder) => {
        const path = join(folder, "store.db");
        const former = SqliteStore.open(path, { driver });
        former.commit(RUNS);
        former.close();
        downgradeFile(path, driver, 4);
        const store = SqliteStore.open(path, { driver });
        for (const query of [...QUERIES, ...OTHERS]) {
          assert.deepEqual(pages(store, query, 9).flat(), expected(query), query);
        }
        assert.deepEqual(store.check(), []);
        store.commit([
          write(
            row("w0", "r0", {
              workflowType: "Order",
              historyLength: 1,
              status: 2,
              closeTimeMs: 9000,
              startTimeMs: 1000,
            }),
          ),
        ]);
        assert.equal(pages(store, "CloseTime IS NOT NULL", 5)[0]![0], "r0");
        const indexes = store.sql(
          "SELECT name FROM sqlite_schema WHERE type = 'index' AND name LIKE 'runs_%' ORDER BY name",
        );
        const names = indexes.map(({ name }) => name);
        for (
          const name of [
            "runs_open",
            "runs_by_close",
            "runs_closed_by_status",
            "runs_closed_by_type",
          ]
        ) {
          assert.ok(names.includes(name), name);
        }
        store.close();
      }),
  );
}
