// What every store must do: memory, SQLite on each driver of Node and Deno, and SQLite on a
// browser's files. Runtime-neutral.
import type { ListQuery, Store } from "../../ts/engine/store.ts";
import { parseQuery } from "../../ts/engine/visibility/parse.ts";
import * as assert from "../cases/assert.ts";
import {
  attributes,
  batch,
  created,
  eventIds,
  events,
  row,
  write,
} from "../unit/engine/support/records.ts";

const utf8 = new TextEncoder();
const toArray = (bytes: Uint8Array) => [...bytes];
/** The store as it is, and then opened again. */
function* twice(store: Store, reopen: () => Store): Generator<Store> {
  yield store;
  yield reopen();
}
const BY_START: ListQuery = { orderBy: "StartTime", descending: true };

export interface StoreCheck {
  readonly name: string;
  readonly body: (store: Store, reopen: () => Store) => void;
}

/** Each on a new store; `reopen` closes it and opens it again (a store in memory stays open). */
export const storeChecks: StoreCheck[] = [];
const check = (name: string, body: StoreCheck["body"]) => void storeChecks.push({ name, body });

/** Opens a store, runs one check on it, looks for damage, and closes it. */
export function runCheck({ body }: StoreCheck, open: () => Store, keeps = true): void {
  let store = open();
  try {
    body(store, () => {
      if (!keeps) return store;
      store.close();
      return store = open();
    });
    assert.deepEqual(store.check(), []);
  } finally {
    store.close();
  }
}

/** A store that was closed refuses everything. */
export function runClosedCheck(open: () => Store): void {
  const store = open();
  store.close();
  store.close();
  assert.throws(() => store.load("wf"), /^StoreError: .*closed/);
  assert.throws(() => store.commit([]), /^StoreError: /);
}

check("a run is read as it was written, also after reopening", (store, reopen) => {
  const full = row("wf", "run-1", {
    historyLength: 3,
    historySizeBytes: 5_000_000_000,
    startTimeMs: 1_753_170_000_123.456,
    wakeAtMs: 1_753_170_009_999.5,
    ready: true,
    memo: utf8.encode("memo"),
    searchAttributes: utf8.encode("attributes"),
    firstRunId: "run-0",
  });
  const items = [
    { kind: 1, id: "7", value: utf8.encode("activity") },
    { kind: 1, id: "10", value: new Uint8Array(0) },
    { kind: 3, id: "t", value: utf8.encode("timer") },
  ];
  store.commit([write(full, { create: true, append: [batch(1, 3)], put: items })]);
  for (const current of twice(store, reopen)) {
    const record = current.load("wf", "run-1")!;
    assert.equal(record.found, true);
    assert.equal(record.askedWorkflowId, "wf");
    assert.equal(record.askedRunId, "run-1");
    assert.deepEqual(
      {
        ...record.row,
        memo: toArray(record.row!.memo),
        searchAttributes: toArray(record.row!.searchAttributes),
      },
      {
        ...full,
        memo: toArray(full.memo),
        searchAttributes: toArray(full.searchAttributes),
      },
    );
    assert.deepEqual(toArray(record.head), toArray(utf8.encode("head of run-1 at 3")));
    const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1);
    assert.deepEqual(
      record.items.map((item) => ({ ...item, value: toArray(item.value) })).sort(byId),
      items.map((item) => ({ ...item, value: toArray(item.value) })).sort(byId),
    );
  }
});

check(
  "an unknown run is undefined, and a run id is found only with its own workflow id",
  (store) => {
    store.commit([created("wf", "run-1")]);
    assert.equal(store.load("other"), undefined);
    assert.equal(store.load("wf", "run-2"), undefined);
    assert.equal(store.load("other", "run-1"), undefined);
    assert.throws(() => store.historyRange("other", "run-9", 1, 1), /^StoreError: /);
  },
);

check("without a run id the latest run is returned", (store, reopen) => {
  store.commit([created("wf", "b", 2, { startTimeMs: 5 })]);
  store.commit([created("wf", "a", 2, { startTimeMs: 3 }), created("other", "c")]);
  assert.equal(store.load("wf")?.row?.runId, "a");
  assert.equal(store.load("wf")?.askedRunId, "");
  assert.equal(reopen().load("wf", "")?.row?.runId, "a");
});

check("items are replaced and removed", (store, reopen) => {
  const item = (id: string, text: string) => ({ kind: 2, id, value: utf8.encode(text) });
  store.commit([{ ...created("wf", "r"), put: [item("a", "1"), item("b", "1"), item("c", "1")] }]);
  store.commit([
    write(row("wf", "r", { historyLength: 2 }), {
      put: [item("b", "2")],
      remove: [item("a", ""), item("unknown", "")],
    }),
  ]);
  const found = reopen().load("wf", "r")!.items.map((i) =>
    `${i.id}=${new TextDecoder().decode(i.value)}`
  );
  assert.deepEqual(found.sort(), ["b=2", "c=1"]);
});

check("every range of a history is cut exactly at its event ids", (store, reopen) => {
  store.commit([{ ...created("wf", "r", 3), append: [batch(1, 3)] }, created("other", "o", 4)]);
  store.commit([
    write(row("wf", "r", { historyLength: 9 }), { append: [batch(4, 4), batch(5, 9)] }),
  ]);
  store.commit([write(row("other", "o", { historyLength: 6 }), { append: [batch(5, 6)] })]);
  store.commit([write(row("wf", "r", { historyLength: 11 }), { append: [batch(10, 11)] })]);
  for (const current of twice(store, reopen)) {
    for (let from = 1; from <= 11; from++) {
      for (let to = from; to <= 11; to++) {
        const parts = current.historyRange("wf", "r", from, to);
        assert.deepEqual(
          eventIds(parts),
          Array.from({ length: to - from + 1 }, (_, i) => from + i),
        );
      }
    }
  }
  // Whole batches pass through as they were written.
  assert.deepEqual(toArray(reopen().historyRange("wf", "r", 5, 9)[0]!), toArray(events(5, 9)));
});

check("a range outside of the history is rejected", (store) => {
  store.commit([created("wf", "r", 3)]);
  for (const [from, to] of [[0, 2], [1, 4], [4, 4], [3, 2]] as const) {
    assert.throws(() => store.historyRange("wf", "r", from, to), /^StoreError: /);
  }
});

check("a history that grows while it is read stays consistent", (store) => {
  store.commit([created("wf", "r", 1)]);
  for (let last = 2; last <= 300; last++) {
    store.commit([write(row("wf", "r", { historyLength: last }), { append: [batch(last, last)] })]);
    if (last % 3 === 0) {
      assert.deepEqual(eventIds(store.historyRange("wf", "r", last - 1, last)), [last - 1, last]);
    }
    if (last % 50 === 0) {
      assert.equal(eventIds(store.historyRange("wf", "r", 1, last)).length, last);
    }
  }
});

check("ready and due runs come in order and in pages", (store, reopen) => {
  const more = [
    { ready: true, wakeAtMs: 50 },
    { ready: false, wakeAtMs: 20 },
    { ready: true, wakeAtMs: 0 },
    { ready: true, wakeAtMs: 20 },
    { ready: false, wakeAtMs: 90 },
  ];
  store.commit(more.map((m, i) => created(`wf-${i}`, `r${i}`, 1, m)));
  for (const current of twice(store, reopen)) {
    const ids = (runs: readonly { runId: string }[]) => runs.map((run) => run.runId);
    assert.deepEqual(ids(current.ready(10)), ["r0", "r2", "r3"]);
    const first = current.ready(2);
    assert.deepEqual(ids(first), ["r0", "r2"]);
    assert.deepEqual(ids(current.ready(2, first[1]!.position)), ["r3"]);
    assert.deepEqual(ids(current.due(50, 10)), ["r1", "r3", "r0"]);
    assert.deepEqual(ids(current.due(49, 10)), ["r1", "r3"]);
    assert.deepEqual(ids(current.due(50, 10, current.due(50, 1)[0]!.position)), ["r3", "r0"]);
    assert.deepEqual(ids(current.due(19, 10)), []);
    assert.equal(current.nextWake(), 20);
  }
  const current = reopen();
  current.commit([
    write(row("wf-1", "r1", { historyLength: 1 })),
    write(row("wf-3", "r3", { historyLength: 1, wakeAtMs: 60, ready: false })),
  ]);
  assert.equal(current.nextWake(), 50);
  assert.deepEqual(current.ready(10).map((run) => run.runId), ["r0", "r2"]);
});

check("nextWake is 0 if no timer is pending", (store) => {
  assert.equal(store.nextWake(), 0);
  store.commit([created("wf", "r")]);
  assert.equal(store.nextWake(), 0);
});

check("a commit is all or nothing", (store, reopen) => {
  store.commit([created("a", "a1", 2), {
    ...created("b", "b1", 2),
    put: [{ kind: 1, id: "x", value: utf8.encode("old") }],
  }]);
  const good = write(row("b", "b1", { historyLength: 4, status: 2, ready: true }), {
    append: [batch(3, 4)],
    put: [{ kind: 1, id: "x", value: utf8.encode("new") }, {
      kind: 1,
      id: "y",
      value: utf8.encode("new"),
    }],
  });
  const bad = [
    write(row("missing", "m1")),
    created("a", "a1", 2),
    write(row("a", "a1", { historyLength: 5 }), { append: [batch(4, 5)] }),
    write(row("a", "a1", { historyLength: 3 }), { append: [batch(2, 3)] }),
    write(row("a", "a1", { historyLength: 9 }), { append: [batch(3, 4)] }),
    { ...good, row: undefined },
  ];
  for (const wrong of bad) {
    assert.throws(() => store.commit([created("c", "c1"), good, wrong]), /^StoreError: /);
    for (const current of twice(store, () => store = reopen())) {
      assert.equal(current.load("c"), undefined);
      const b = current.load("b")!;
      assert.equal(b.row?.historyLength, 2);
      assert.equal(b.row?.status, 1);
      assert.deepEqual(b.items.map((item) => new TextDecoder().decode(item.value)), ["old"]);
      assert.deepEqual(eventIds(current.historyRange("b", "b1", 1, 2)), [1, 2]);
      assert.throws(() => current.historyRange("b", "b1", 1, 3), /^StoreError: /);
      assert.deepEqual(current.check(), []);
    }
  }
  // And the store still works.
  store.commit([good]);
  assert.deepEqual(eventIds(store.historyRange("b", "b1", 1, 4)), [1, 2, 3, 4]);
});

check("an empty commit succeeds", (store) => store.commit([]));

check("text and bytes of every kind survive", (store, reopen) => {
  const text = "ä 漢字 🂡 ' \" ; -- %_ \u{10ffff}";
  const bytes = Uint8Array.from({ length: 70_000 }, (_, i) => (i * 7) % 256);
  store.commit([{
    ...created(text, "r", 1),
    put: [{ kind: 4, id: text, value: bytes }],
    head: bytes,
  }]);
  const record = reopen().load(text)!;
  assert.equal(record.row?.workflowId, text);
  assert.equal(record.items[0]?.id, text);
  assert.deepEqual(toArray(record.items[0]!.value), toArray(bytes));
  assert.deepEqual(toArray(record.head), toArray(bytes));
});

check("committed data does not change with the caller's buffers", (store) => {
  const shared = utf8.encode("0123456789");
  store.commit([{
    ...created("wf", "r", 1),
    head: shared.subarray(2, 5),
    put: [{ kind: 1, id: "i", value: shared.subarray(5, 7) }],
  }]);
  shared.fill(0);
  const record = store.load("wf")!;
  assert.equal(new TextDecoder().decode(record.head), "234");
  assert.equal(new TextDecoder().decode(record.items[0]!.value), "56");
});

check(
  "pages of a list are complete and in order, with equal times and changes in between",
  (store) => {
    const writes = Array.from({ length: 25 }, (_, i) =>
      created(`wf-${i}`, `r${i}`, 1, {
        startTimeMs: 100 + Math.floor(i / 4),
        closeTimeMs: i % 3 === 0 ? 500 + (i % 6) : 0,
        status: i % 3 === 0 ? 2 : 1,
      }));
    store.commit(writes);
    for (
      const query of [
        "",
        "ORDER BY StartTime ASC",
        "ORDER BY StartTime DESC",
        "ORDER BY CloseTime ASC",
        "ExecutionStatus = 'Running'",
      ].map((text) => parseQuery(text))
    ) {
      const seen: string[] = [];
      let after = undefined;
      do {
        const page = store.list(query, 4, after);
        assert.ok(page.rows.length <= 4);
        seen.push(...page.rows.map((r) => r.runId));
        after = page.next;
        // A run that starts now must not shift the pages of what was there.
        if (seen.length === 8 && query.where === undefined) {
          store.commit([
            created(
              `new-${query.orderBy}${query.descending}`,
              `n-${query.orderBy}${query.descending}`,
              1,
              {
                startTimeMs: 99_999,
              },
            ),
          ]);
        }
      } while (after !== undefined);
      assert.equal(new Set(seen).size, seen.length);
      const old = seen.filter((id) => id.startsWith("r"));
      assert.equal(old.length, query.where === undefined ? 25 : 16);
      const key = (id: string) => {
        const w = writes[Number(id.slice(1))]!.row!;
        return (query.orderBy === "StartTime" ? w.startTimeMs : w.closeTimeMs || 1e9) * 1000 +
          Number(id.slice(1));
      };
      const sorted = [...old].sort((
        a,
        b,
      ) => (query.descending ? key(b) - key(a) : key(a) - key(b)));
      assert.deepEqual(old, sorted);
    }
    assert.equal(store.list(BY_START, 1000).next, undefined);
    assert.equal(store.count(), 29);
    assert.equal(store.count(parseQuery("ExecutionStatus = 'Completed'").where), 9);
  },
);

check("purge removes closed runs that are no longer needed", (store, reopen) => {
  store.commit([
    created("old", "o1", 3, { status: 2, closeTimeMs: 100 }),
    created("old", "o2", 3, { status: 2, closeTimeMs: 300 }),
    created("open", "p1", 3),
    created("busy", "b1", 3, { status: 2, closeTimeMs: 100, ready: true }),
    created("waits", "w1", 3, { status: 2, closeTimeMs: 100, wakeAtMs: 7 }),
  ]);
  store.commit([
    write(row("old", "o1", { historyLength: 5, status: 2, closeTimeMs: 100 }), {
      append: [batch(4, 5)],
      put: [{ kind: 1, id: "i", value: utf8.encode("x") }],
    }),
  ]);
  assert.equal(eventIds(store.historyRange("old", "o1", 1, 5)).length, 5);
  assert.deepEqual(store.purge({ closedBefore: 100 }), []);
  assert.deepEqual(store.purge({ closedBefore: 101 }), ["o1"]);
  assert.equal(store.load("old", "o1"), undefined);
  assert.throws(() => store.historyRange("old", "o1", 1, 5), /^StoreError: /);
  assert.equal(store.load("old")?.row?.runId, "o2");
  assert.deepEqual(store.check(), []);
  const again = reopen();
  assert.equal(again.count(), 4);
  assert.deepEqual(again.purge({ closedBefore: 1e12, limit: 5 }), ["o2"]);
  assert.equal(again.load("old"), undefined);
  // An id whose runs are all gone can be used again.
  again.commit([created("old", "o3", 2)]);
  assert.deepEqual(eventIds(again.historyRange("old", "o3", 1, 2)), [1, 2]);
});

check("purge processes many runs in batches and obeys its limit", (store) => {
  store.commit(
    Array.from(
      { length: 450 },
      (_, i) => created(`w${i}`, `r${i}`, 2, { status: 2, closeTimeMs: 10 + i }),
    ),
  );
  assert.equal(store.purge({ closedBefore: 1e9, limit: 10 }).length, 10);
  assert.equal(store.load("w9"), undefined);
  assert.ok(store.load("w10"));
  assert.equal(store.purge({ closedBefore: 1e9 }).length, 440);
  assert.equal(store.count(), 0);
});

/** A store with runs of many attributes, and what queries over them select. */
const FLEET: { readonly [runId: string]: { readonly [name: string]: unknown } } = {
  a: {
    Region: "north",
    Tags: ["red", "blue"],
    Amount: 10,
    Due: new Date("2030-01-31T12:00:00Z"),
    Urgent: true,
  },
  b: { Region: "south", Tags: ["blue"], Amount: 10.5, Urgent: false },
  c: { Region: "northeast", Tags: [], Amount: -3, Due: new Date("2031-01-31T12:00:00Z") },
  d: { Region: "42", Amount: "10" },
  e: {},
};
const SELECTED: readonly (readonly [query: string, runIds: string])[] = [
  ["Region = 'north'", "a"],
  ["Region != 'north'", "bcd"],
  ["NOT Region = 'north'", "bcd"],
  ["Region IN ('north', 'south', 'west')", "ab"],
  ["Region NOT IN ('north', 'south')", "cd"],
  ["Region STARTS_WITH 'north'", "ac"],
  ["Region NOT STARTS_WITH 'north'", "bd"],
  ["Region BETWEEN 'north' AND 'o'", "ac"],
  ["Region < 'north'", "d"],
  ["Region >= 'north' AND Region < 'south'", "ac"],
  ["Region IS NULL", "e"],
  ["Region IS NOT NULL", "abcd"],
  ["NOT Region IS NULL", "abcd"],
  ["Region = 42", ""],
  ["Region = '42'", "d"],
  ["Tags = 'blue'", "ab"],
  ["Tags = 'red' AND Tags = 'blue'", "a"],
  ["Tags != 'red'", "b"],
  ["Tags IN ('red', 'green')", "a"],
  ["Tags NOT IN ('red', 'green')", "b"],
  ["Tags IS NULL", "cde"],
  ["Amount = 10", "a"],
  ["Amount = '10'", "d"],
  ["Amount > 0", "ab"],
  ["Amount BETWEEN -3 AND 10", "ac"],
  ["Amount NOT BETWEEN -3 AND 10", "bd"],
  ["Amount <= -3.0", "c"],
  ["Due = '2030-01-31T13:00:00+01:00'", "a"],
  ["Due > '2030-01-31T12:00:00Z'", "c"],
  ["Due BETWEEN '2030-01-01' AND '2030-12-31'", "a"],
  ["Due < 1900000000000000000", "a"],
  ["Urgent = true", "a"],
  ["Urgent != TRUE", "b"],
  ["Urgent = 1", ""],
  ["`Region` = 'south' OR Urgent = true", "ab"],
  ["Nothing = 'x'", ""],
  ["Nothing != 'x'", ""],
  ["Nothing IS NULL", "abcde"],
  ["Region = 'north' AND ExecutionStatus = 'Running'", "a"],
  ["Region = 'north' AND ExecutionStatus = 'Completed'", ""],
];

check(
  "queries select by search attributes: keyword lists by element, and each type separately",
  (store, reopen) => {
    store.commit(
      Object.entries(FLEET).map(([id, values]) =>
        created(`w-${id}`, id, 1, { searchAttributes: attributes(values) })
      ),
    );
    for (const current of twice(store, reopen)) {
      for (const [query, runIds] of SELECTED) {
        const { where } = parseQuery(query);
        const found = current.list({ ...BY_START, ...(where && { where }) }, 100).rows.map((
          found,
        ) => found.runId);
        assert.equal(found.sort().join(""), runIds, query);
        assert.equal(current.count(where), runIds.length, query);
      }
    }
  },
);

check(
  "search attributes change with the run, are removed with it, and are unchanged if a commit fails",
  (store, reopen) => {
    const found = (query: string, of: Store = store) =>
      of.list({ ...BY_START, where: parseQuery(query).where! }, 100).rows.length;
    const change = (
      values: { readonly [name: string]: unknown },
      historyLength: number,
      more = {},
    ) =>
      write(row("wf", "r", { historyLength, searchAttributes: attributes(values), ...more }), {
        append: [batch(historyLength, historyLength)],
      });
    store.commit([created("wf", "r", 1)]);
    assert.equal(found("Tags = 'red'"), 0);
    store.commit([change({ Tags: ["red", "blue"] }, 2)]);
    assert.equal(found("Tags = 'red'"), 1);
    // The second write is of a run that is not there.
    assert.throws(
      () => store.commit([change({ Tags: ["green"] }, 3), write(row("wf", "none"))]),
      /^StoreError/,
    );
    assert.deepEqual([found("Tags = 'red'"), found("Tags = 'green'")], [1, 0]);
    store.commit([change({ Tags: ["green"] }, 3)]);
    assert.deepEqual([found("Tags = 'red'"), found("Tags = 'green'")], [0, 1]);
    for (const current of twice(store, reopen)) {
      assert.deepEqual([found("Tags = 'red'", current), found("Tags = 'green'", current)], [0, 1]);
      store = current;
    }
    store.commit([change({}, 4, { status: 2, closeTimeMs: 5 })]);
    assert.equal(found("Tags IS NOT NULL"), 0);
    store.commit([
      created("wf", "s", 1, {
        status: 2,
        closeTimeMs: 5,
        searchAttributes: attributes({ Tags: ["red"] }),
      }),
    ]);
    assert.deepEqual(store.purge({ closedBefore: 10, where: parseQuery("Tags = 'red'").where! }), [
      "s",
    ]);
    assert.equal(found("Tags = 'red'"), 0);
  },
);
