// The query language of list and count: what it reads, what it refuses and where, and that SQL and
// memory mean the same by it.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { MemoryStore } from "../../../ts/engine/memory_store.ts";
import { SqliteStore } from "../../../ts/engine/sqlite/store.ts";
import { Kind } from "../../../ts/engine/visibility/attributes.ts";
import {
  type Condition,
  type Field,
  matches,
  negated,
} from "../../../ts/engine/visibility/condition.ts";
import { parseQuery } from "../../../ts/engine/visibility/parse.ts";
import { ServiceError } from "../../../ts/service/raw.ts";
import { testSeed } from "../../support/seed.ts";
import { attributes, created, row } from "./support/records.ts";
import { inFolder, sqliteDrivers } from "./support/stores.ts";

const T = Date.UTC(2026, 0, 31, 12);

test("conditions are read with their precedence", () => {
  const compare = (field: Field, op: string, value: string | number) => ({
    kind: "compare",
    field,
    op,
    value,
  });
  assert.deepEqual(parseQuery("WorkflowType = 'Cart'").where, compare("WorkflowType", "=", "Cart"));
  assert.deepEqual(parseQuery("WorkflowId != 'a' AND RunId = \"b\" OR TaskQueue <> 'c'").where, {
    kind: "or",
    parts: [
      { kind: "and", parts: [compare("WorkflowId", "!=", "a"), compare("RunId", "=", "b")] },
      compare("TaskQueue", "!=", "c"),
    ],
  });
  assert.deepEqual(parseQuery("WorkflowId='a' and (RunId='b' or RunId='c')").where, {
    kind: "and",
    parts: [compare("WorkflowId", "=", "a"), {
      kind: "or",
      parts: [compare("RunId", "=", "b"), compare("RunId", "=", "c")],
    }],
  });
  assert.deepEqual(parseQuery("`WorkflowId` IN ('a', 'b')").where, {
    kind: "in",
    field: "WorkflowId",
    values: ["a", "b"],
    negated: false,
  });
  assert.deepEqual(parseQuery("ExecutionStatus NOT IN ('Running', 'TimedOut', 6)").where, {
    kind: "in",
    field: "ExecutionStatus",
    values: [1, 7, 6],
    negated: true,
  });
  assert.deepEqual(parseQuery("WorkflowId STARTS_WITH 'order-'").where, {
    kind: "startsWith",
    field: "WorkflowId",
    prefix: "order-",
    negated: false,
  });
  assert.deepEqual(parseQuery("CloseTime IS NULL").where, {
    kind: "null",
    field: "CloseTime",
    negated: false,
  });
  assert.deepEqual(parseQuery("CloseTime IS NOT NULL").where, {
    kind: "null",
    field: "CloseTime",
    negated: true,
  });
  assert.deepEqual(
    parseQuery("StartTime BETWEEN '2026-01-31T12:00:00Z' AND '2026-01-31T13:30:00.5+01:00'").where,
    {
      kind: "between",
      field: "StartTime",
      low: T,
      high: T + 30 * 60_000 + 500,
      negated: false,
    },
  );
});

test("values are read in every form", () => {
  const value = (query: string) => (parseQuery(query).where as { value: string | number }).value;
  assert.equal(value("WorkflowId = 'it''s'"), "it's");
  assert.equal(value(`WorkflowId = "say \\"hi\\""`), 'say "hi"');
  assert.equal(value("WorkflowId = ''"), "");
  assert.equal(value("StartTime > '2026-01-31'"), Date.UTC(2026, 0, 31));
  assert.equal(value("StartTime > '2026-01-31T12:00:00.123456789Z'"), T + 123.456789);
  assert.equal(value("StartTime > '2026-01-31T10:30:00-01:30'"), T);
  assert.equal(value("StartTime > '2026-01-31T14:00:00+02:00'"), T);
  assert.equal(value(`StartTime >= ${T}000000`), T);
  assert.equal(value(`CloseTime < ${T}500250`), T + 0.5);
  for (
    const [name, number] of [
      ["Running", 1],
      ["completed", 2],
      ["FAILED", 3],
      ["Canceled", 4],
      ["Terminated", 5],
      ["ContinuedAsNew", 6],
      ["CONTINUED_AS_NEW", 6],
      ["TimedOut", 7],
      ["Paused", 8],
    ]
  ) {
    assert.equal(value(`ExecutionStatus = '${name}'`), number);
  }
});

test("any other name in backquotes is an attribute", () => {
  assert.deepEqual(parseQuery("`RunIt` IS NULL").where, {
    kind: "noAttribute",
    name: "RunIt",
    negated: false,
  });
  assert.equal(parseQuery("`RunId` = 'x'").where?.kind, "compare");
});

test("NOT precedes a comparison or a group, and binds tighter than AND", () => {
  const same = (query: string, other: string) =>
    assert.deepEqual(parseQuery(query).where, parseQuery(other).where, query);
  same("NOT WorkflowId = 'a'", "WorkflowId != 'a'");
  same("not StartTime >= '2026-01-01'", "StartTime < '2026-01-01'");
  same("NOT WorkflowId = 'a' AND RunId = 'b'", "WorkflowId != 'a' AND RunId = 'b'");
  same(
    "NOT (WorkflowId = 'a' OR CloseTime IS NULL)",
    "WorkflowId != 'a' AND CloseTime IS NOT NULL",
  );
  same(
    "NOT (WorkflowId = 'a' AND NOT TaskQueue IN ('q'))",
    "WorkflowId != 'a' OR TaskQueue IN ('q')",
  );
  same("NOT WorkflowId STARTS_WITH 'a'", "WorkflowId NOT STARTS_WITH 'a'");
  same("NOT StartTime BETWEEN 1 AND 2", "StartTime NOT BETWEEN 1 AND 2");
  same("NOT NOT RunId = 'b'", "RunId = 'b'");
  assert.throws(() => parseQuery("NOT"), /expected a field/);
  assert.throws(() => parseQuery("NOT ".repeat(60) + "RunId = 'b'"), /nested deeper than 50/);
});

test("NOT selects the runs that the condition does not, including runs without a CloseTime", () => {
  const rows = TEXTS.flatMap((id, i) =>
    [0, TIMES[i % TIMES.length]!].map((closeTimeMs) => ({
      ...row(id, `r${i}`),
      startTimeMs: TIMES[(i + 1) % TIMES.length]!,
      closeTimeMs,
    }))
  );
  fc.assert(
    fc.property(condition, (given) => {
      const it = given as Condition;
      for (const each of rows) {
        const run = { row: each, head: NO_HEAD };
        const [yes, no] = [matches(run, it), matches(run, negated(it))];
        if (each.closeTimeMs === 0) assert.ok(!(yes && no));
        else assert.equal(no, !yes);
      }
    }),
    { seed: testSeed() },
  );
});

test("ORDER BY is parsed; by default open runs come first, then closed runs, the latest close first", () => {
  assert.deepEqual(parseQuery(""), { orderBy: "CloseTime", descending: true });
  assert.deepEqual(parseQuery("  "), { orderBy: "CloseTime", descending: true });
  assert.deepEqual(parseQuery("order by CloseTime"), { orderBy: "CloseTime", descending: true });
  assert.deepEqual(parseQuery("ORDER BY StartTime ASC"), {
    orderBy: "StartTime",
    descending: false,
  });
  assert.equal(parseQuery("RunId = 'x' ORDER BY CloseTime DESC").orderBy, "CloseTime");
});

test("parentheses are nested 49 deep at most", () => {
  const nested = (depth: number) => `${"(".repeat(depth)}RunId = 'x'${")".repeat(depth)}`;
  assert.ok(parseQuery(nested(49)).where);
  assert.throws(() => parseQuery(nested(50)), /nested deeper than 50/);
  // Depth is what is open at one time.
  assert.ok(parseQuery(Array.from({ length: 60 }, () => nested(2)).join(" OR ")).where);
});

test("other syntax is rejected with its position", () => {
  const cases: [query: string, message: RegExp][] = [
    [
      "workflowtype = 'x'",
      /unknown field "workflowtype"; known fields: WorkflowType.*"workflowtype" at position 1$/,
    ],
    ["WorkflowIdd = 'x'", /unknown field "WorkflowIdd"/],
    ["WorkflwId = 'x'", /unknown field "WorkflwId"/],
    ["StarTTime = 'x'", /unknown field "StarTTime"/],
    ["RunIt = 'x'", /unknown field "RunIt".*in backquotes\); found "RunIt" at position 1$/],
    [
      "RootRunId > 5",
      /unknown field "RootRunId"; known fields: WorkflowType.*, and search attributes by name/,
    ],
    ["Region", /expected a comparison after Region: .*the end of the query at position 7$/],
    [
      "Region = north",
      /expected a value for Region: a quoted string, a number, true or false; found "north" at position 10$/,
    ],
    ["Region > true", /booleans support only = and !=; found "true" at position 10$/],
    [
      "Region BETWEEN 1 AND 'x'",
      /BETWEEN needs two strings, two numbers or two times; found 'x' at position 22$/,
    ],
    ["Region BETWEEN true AND false", /BETWEEN needs two strings/],
    [
      "Region STARTS_WITH 5",
      /STARTS_WITH needs a string: put the value in quotes; found "5" at position 20$/,
    ],
    [
      `Region IN (${Array.from({ length: 1001 }, () => "'x'").join(",")})`,
      /a query can have at most 1000 values/,
    ],
    [
      "WorkflowId",
      /expected a comparison after WorkflowId: .*the end of the query at position 11$/,
    ],
    ["WorkflowId = ", /expected a value for WorkflowId .*the end of the query at position 14$/],
    ["WorkflowId = x", /expected a value for WorkflowId .*found "x" at position 14$/],
    [
      "WorkflowId = 5",
      /WorkflowId is a string: put the value in quotes; found "5" at position 14$/,
    ],
    ["WorkflowId = 'x", /unterminated quoted string.*position 14$/],
    [
      "WorkflowId = 'x' XOR RunId = 'y'",
      /expected AND, OR, ORDER BY or the end of the query; found "XOR" at position 18$/,
    ],
    ["(WorkflowId = 'x'", /expected "\)"; found the end of the query at position 18$/],
    [
      "WorkflowId = 'x')",
      /expected AND, OR, ORDER BY or the end of the query; found "\)" at position 17$/,
    ],
    ["AND WorkflowId = 'x'", /expected a field .*found "AND" at position 1$/],
    ["WorkflowId IN 'x'", /expected "\(" after IN; found 'x' at position 15$/],
    [
      "WorkflowId IN ('x' 'y')",
      /expected "," or "\)" in the list of IN; found 'y' at position 20$/,
    ],
    ["WorkflowId IN ()", /expected a value .*found "\)" at position 16$/],
    ["StartTime BETWEEN '2026-01-01' OR '2026-01-02'", /expected AND; found "OR" at position 32$/],
    [
      "StartTime = 'yesterday'",
      /StartTime must be a time such as .*found 'yesterday' at position 13$/,
    ],
    ["StartTime = '2026-02-30T00:00:00Z'", /StartTime must be a time such as/],
    ["StartTime = '2026-01-01T25:00:00Z'", /StartTime must be a time such as/],
    ["StartTime = 1.5", /\(nanoseconds since the epoch\).*found "1.5" at position 13$/],
    [
      "StartTime STARTS_WITH '2026'",
      /STARTS_WITH needs a string field, and StartTime is not a string; found "STARTS_WITH" at position 11$/,
    ],
    [
      "ExecutionStatus = 'Sleeping'",
      /ExecutionStatus must be one of .*found 'Sleeping' at position 19$/,
    ],
    ["ExecutionStatus = 99", /ExecutionStatus must be one of /],
    [
      "ExecutionStatus > 1",
      /ExecutionStatus supports only =, != and IN; found ">" at position 17$/,
    ],
    ["ExecutionStatus BETWEEN 1 AND 2", /ExecutionStatus supports only/],
    [
      "ORDER BY WorkflowId",
      /runs can be ordered by StartTime or CloseTime only; found "WorkflowId" at position 10$/,
    ],
    ["ORDER StartTime", /expected BY; found "StartTime" at position 7$/],
    ["WorkflowId = 'x'; DROP TABLE runs", /unexpected character; found ";" at position 17$/],
    [
      "WorkflowId LIKE 'x%'",
      /expected a comparison after WorkflowId.*found "LIKE" at position 12$/,
    ],
    [
      "GROUP BY ExecutionStatus",
      /runs can be counted in groups, but not listed; found "GROUP" at position 1$/,
    ],
    ["(".repeat(60) + "RunId='x'" + ")".repeat(60), /nested deeper than 50/],
    [
      `RunId IN (${Array.from({ length: 1001 }, () => "'x'").join(",")})`,
      /a query can have at most 1000 values/,
    ],
    ["RunId='" + "x".repeat(20_000) + "'", /longer than 16384/],
  ];
  for (const [query, message] of cases) {
    assert.throws(() => parseQuery(query), (e: Error) => {
      assert.ok(e instanceof ServiceError && e.code === 3, `${query}: ${e}`);
      assert.match(e.message, message);
      return true;
    });
  }
});

const NO_HEAD = new Uint8Array(0);

test("a comparison with the CloseTime of an open run never holds", () => {
  const open = { row: row("wf", "r"), head: NO_HEAD };
  for (
    const query of [
      "CloseTime > '1970-01-01'",
      "CloseTime != 5",
      "CloseTime NOT IN (5)",
      "CloseTime NOT BETWEEN 1 AND 2",
      "CloseTime IS NOT NULL",
    ]
  ) {
    assert.equal(matches(open, parseQuery(query).where!), false, query);
  }
  assert.equal(matches(open, parseQuery("CloseTime IS NULL").where!), true);
});

const TEXTS = [
  "",
  "a",
  "ab",
  "aB",
  "b",
  "ä",
  "a\ud7ff",
  "a\ue000",
  "a\uffff",
  "a\u{10000}",
  "a\u{10ffff}",
  "\u{10ffff}",
  "%",
  "_",
  "a'b",
];
const TIMES = [1, 2, 2.5, 3, 1_753_170_000_123];
/** Attributes of runs: each kind under each name. */
const VALUES: readonly { readonly [name: string]: unknown }[] = [
  {},
  { A: "a", B: ["a", "b", "a"], C: 2 },
  { A: ["ab", "", "%"], B: 0.5 },
  { A: true, B: new Date(1), C: "a\u{10000}" },
  { A: -1, B: false, C: ["ä"] },
  { A: new Date(2), C: [] },
  { A: 0, B: "a\ue000" },
];
const text = fc.constantFrom(...TEXTS);
const time = fc.constantFrom(...TIMES);
const stringField = fc.constantFrom("WorkflowType", "WorkflowId", "RunId", "TaskQueue");
const timeField = fc.constantFrom("StartTime", "CloseTime");
const op = fc.constantFrom("=", "!=", "<", "<=", ">", ">=");
const leaf = fc.oneof(
  fc.record({ kind: fc.constant("compare"), field: stringField, op, value: text }),
  fc.record({ kind: fc.constant("compare"), field: timeField, op, value: time }),
  fc.record({
    kind: fc.constant("compare"),
    field: fc.constant("ExecutionStatus"),
    op: fc.constantFrom("=", "!="),
    value: fc.integer({ min: 1, max: 8 }),
  }),
  fc.record({
    kind: fc.constant("in"),
    field: stringField,
    values: fc.array(text, { minLength: 1, maxLength: 4 }),
    negated: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant("in"),
    field: timeField,
    values: fc.array(time, { minLength: 1, maxLength: 3 }),
    negated: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant("between"),
    field: stringField,
    low: text,
    high: text,
    negated: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant("between"),
    field: timeField,
    low: time,
    high: time,
    negated: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant("startsWith"),
    field: stringField,
    prefix: text,
    negated: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant("null"),
    field: fc.oneof(stringField, timeField),
    negated: fc.boolean(),
  }),
);
const attribute = fc.constantFrom("A", "B", "C");
const number = fc.constantFrom(-1, 0, 0.5, 2, 3);
const of = <T>(kind: Kind, test: fc.Arbitrary<T>) => fc.record({ of: fc.constant(kind), test });
const testOf = (kind: Kind, value: fc.Arbitrary<string | number>) =>
  of(
    kind,
    fc.oneof(
      fc.record({
        kind: fc.constant("compare"),
        op: fc.constantFrom("=", "<", "<=", ">", ">="),
        value,
      }),
      fc.record({
        kind: fc.constant("in"),
        values: fc.array(value, { minLength: 1, maxLength: 3 }),
      }),
      fc.record({ kind: fc.constant("between"), low: value, high: value }),
    ),
  );
const attributeLeaf = fc.oneof(
  fc.record({
    kind: fc.constant("attribute"),
    name: attribute,
    tests: fc.array(
      fc.oneof(
        testOf(Kind.TEXT, text),
        testOf(Kind.NUMBER, number),
        testOf(Kind.TIME, fc.constantFrom(1, 2)),
        testOf(Kind.BOOL, fc.constantFrom(0, 1)),
        of(Kind.TEXT, fc.record({ kind: fc.constant("startsWith"), prefix: text })),
      ),
      { minLength: 1, maxLength: 2 },
    ),
    negated: fc.boolean(),
  }),
  fc.record({ kind: fc.constant("noAttribute"), name: attribute, negated: fc.boolean() }),
);
const { condition, anyCondition } = fc.letrec((tie) => ({
  anyCondition: fc.oneof({ depthSize: "small" }, leaf, attributeLeaf, tie("anyGroup")),
  anyGroup: fc.record({
    kind: fc.constantFrom("and", "or"),
    parts: fc.array(tie("anyCondition"), { minLength: 1, maxLength: 3 }),
  }),
  condition: fc.oneof({ depthSize: "small" }, leaf, tie("group")),
  group: fc.record({
    kind: fc.constantFrom("and", "or"),
    parts: fc.array(tie("condition"), { minLength: 1, maxLength: 3 }),
  }),
}));

for (const { driver, skip } of sqliteDrivers) {
  test(
    `${driver}: a query supports its maximum number of attribute conditions`,
    { skip },
    () =>
      inFolder((folder) => {
        const store = SqliteStore.open(join(folder, "store.db"), { driver, synchronous: "NORMAL" });
        try {
          store.commit([created("a", "1", 1, { searchAttributes: attributes({ A: 999 }) })]);
          assert.equal(
            store.count(
              parseQuery(Array.from({ length: 1000 }, (_, i) => `A = ${i}`).join(" OR ")).where,
            ),
            1,
          );
          assert.equal(
            store.count(
              parseQuery(`A IN (${Array.from({ length: 1000 }, (_, i) => i).join(", ")})`).where,
            ),
            1,
          );
        } finally {
          store.close();
        }
      }),
  );
  test(
    `${driver}: a status inside OR next to the same start time (SQLite 3.53 fails to plan its partial index)`,
    { skip },
    () =>
      inFolder((folder) => {
        const store = SqliteStore.open(join(folder, "store.db"), { driver, synchronous: "NORMAL" });
        try {
          store.commit([
            created("a", "1", 1, { status: 1, startTimeMs: 1 }),
            created("b", "2", 1, { status: 2, startTimeMs: 1 }),
          ]);
          const start: Condition = { kind: "compare", field: "StartTime", op: "=", value: 1 };
          const open = (status: number): Condition => ({
            kind: "compare",
            field: "ExecutionStatus",
            op: "=",
            value: status,
          });
          for (const status of [1, 2]) {
            const where: Condition = {
              kind: "or",
              parts: [start, { kind: "and", parts: [start, open(status)] }],
            };
            assert.equal(store.count(where), 2);
            assert.equal(
              store.list({ where, orderBy: "StartTime", descending: true }, 10).rows.length,
              2,
            );
            assert.equal(store.count({ kind: "and", parts: [start, open(status)] }), 1);
          }
        } finally {
          store.close();
        }
      }),
  );
  test(`${driver}: SQL and memory agree on every condition`, { skip }, () =>
    inFolder((folder) => {
      const sql = SqliteStore.open(join(folder, "store.db"), { driver, synchronous: "NORMAL" });
      const memory = new MemoryStore();
      let n = 0;
      const writes = TEXTS.flatMap((workflowId, i) =>
        [0, 1].map((open) =>
          created(workflowId, `${TEXTS[(i * 7 + open) % TEXTS.length]}#${n++}`, 1, {
            workflowType: TEXTS[(i * 3 + open) % TEXTS.length]!,
            taskQueue: TEXTS[(i * 5) % TEXTS.length]!,
            // Running and Paused are open, the six others are closed.
            status: open === 1 ? [1, 8][i % 2]! : 2 + i % 6,
            startTimeMs: TIMES[i % TIMES.length]!,
            closeTimeMs: open === 1 ? 0 : TIMES[(i + 1) % TIMES.length]!,
            searchAttributes: attributes(VALUES[n % VALUES.length]!),
          })
        )
      );
      for (const store of [sql, memory]) store.commit(writes);
      try {
        fc.assert(
          fc.property(
            anyCondition,
            fc.constantFrom("StartTime", "CloseTime"),
            fc.boolean(),
            (where, orderBy, descending) => {
              const query = {
                where: where as Condition,
                orderBy: orderBy as "StartTime",
                descending,
              };
              const ids = (store: SqliteStore | MemoryStore) =>
                store.list(query, 100).rows.map((r) => r.runId);
              assert.deepEqual(ids(sql), ids(memory));
              assert.equal(sql.count(query.where), memory.count(query.where));
            },
          ),
          { numRuns: 300, seed: testSeed() },
        );
      } finally {
        sql.close();
      }
    }));
}
