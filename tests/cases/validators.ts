// Validators run once, live, and never on replay: only their verdict remains. A forbidden action
// rejects their update and nothing else, the workflow continues, and a view lets them read
// everything.
import {
  noreply,
  on,
  receive,
  reply,
  signal,
  sleep,
  stop,
  update,
  workflow,
} from "../../ts/workflow/mod.ts";
import { createInlineRealm } from "../../ts/realm/inline_realm.ts";
import { lookAt } from "../../ts/executor/primitives/state_changes.ts";
import { view } from "../../ts/executor/primitives/read_only_view.ts";
import { deepEqual, equal, match, throws } from "./assert.ts";
import type { Case } from "./case.ts";
import { drive } from "./driver.ts";
import { MiniServer } from "./mini_server.ts";
import { readWorkflowTask } from "../../ts/messages/workflow_task.ts";

const ask = update<[number], unknown>("ask");
const add = signal<[number]>("add");
const end = signal("end");

class Money {
  #cents: number;
  readonly label = "money";
  constructor(cents: number) {
    this.#cents = cents;
  }
  get cents(): number {
    return this.#cents;
  }
  less(other: Money): boolean {
    return this.#cents < other.#cents;
  }
  take(cents: number): void {
    this.#cents -= cents;
  }
  static sum(...all: Money[]): number {
    return all.reduce((total, each) => total + each.#cents, 0);
  }
}

const compiled = new WeakMap<object, number>();
/** As compilers write a private field. */
class Compiled {
  constructor(value: number) {
    compiled.set(this, value);
  }
  get value(): number {
    const value = compiled.get(this);
    if (value === undefined) {
      throw new TypeError(
        "Cannot read private member from an object whose class did not declare it",
      );
    }
    return value;
  }
}

class Bag extends Map<string, number> {
  put(key: string): void {
    this.set(key, 1);
  }
  count(): number {
    return [...this.values()].length;
  }
}

const makeState = () => {
  const counter = { n: 3 };
  return {
    list: [3, 1, 2],
    inner: { list: [{ n: 1 }] },
    money: new Money(500),
    other: new Money(700),
    compiled: new Compiled(5),
    url: new URL("http://a/b?c=1#d"),
    map: new Map([["a", { n: 1 }]]),
    set: new Set([1, 2]),
    bag: new Bag([["x", 1]]),
    date: new Date(0),
    bytes: new Uint8Array([3, 1, 2]),
    data: new DataView(new ArrayBuffer(4)),
    expression: /x/g,
    error: new RangeError("far"),
    bound: counterOf.bind(counter),
    arrow: () => counter.n,
    proxy: new Proxy({ a: 1 }, {
      get: (target, key, receiver) => key === "b" ? 2 : Reflect.get(target, key, receiver),
    }),
    boxed: Object(5) as unknown as number,
    iterator: [1, 2][Symbol.iterator](),
    promise: Promise.resolve(1),
    number: new Intl.NumberFormat("en-US"),
    counter,
  };
};
type State = ReturnType<typeof makeState>;

function counterOf(this: { n: number }): number {
  return this.n;
}

/** [what is read, its value] */
const READS: readonly (readonly [(s: State) => unknown, unknown])[] = [
  [(s) => s.money.cents, 500],
  [(s) => s.money.less(s.other), true],
  [(s) => Money.sum(s.money, s.other), 1200],
  [(s) => s.money.label, "money"],
  [(s) => s.money instanceof Money, true],
  [(s) => s.compiled.value, 5],
  [(s) => [s.url.pathname, s.url.searchParams.get("c"), String(s.url), s.url.hash], [
    "/b",
    "1",
    "http://a/b?c=1#d",
    "#d",
  ]],
  [(s) => [...s.url.searchParams], [["c", "1"]]],
  [(s) => [s.map.get("a")!.n, s.map.size, [...s.map.keys()]], [1, 1, ["a"]]],
  [(s) => [[...s.set], s.set.has(2), [...new Set(s.set)]], [[1, 2], true, [1, 2]]],
  [(s) => [s.bag.count(), s.bag.size], [1, 1]],
  [(s) => [s.date.getTime(), s.date.toISOString(), JSON.stringify(s.date)], [
    0,
    "1970-01-01T00:00:00.000Z",
    '"1970-01-01T00:00:00.000Z"',
  ]],
  [
    (
      s,
    ) => [s.bytes[0], s.bytes.length, [...s.bytes.slice().sort()], s.bytes.reduce((a, b) => a + b)],
    [3, 3, [1, 2, 3], 6],
  ],
  [(s) => s.data.getInt8(0), 0],
  [
    (
      s,
    ) => [
      s.expression.test("x"),
      s.expression.test("x"),
      "axa".replace(s.expression, "y"),
      s.expression.lastIndex,
    ],
    [
      true,
      true,
      "aya",
      0,
    ],
  ],
  [(s) => [s.error.message, typeof s.error.stack, s.error instanceof RangeError], [
    "far",
    "string",
    true,
  ]],
  [(s) => [s.bound(), s.arrow()], [3, 3]],
  [(s) => [s.proxy.a, (s.proxy as { b?: number }).b, Object.keys(s.proxy)], [1, 2, ["a"]]],
  [(s) => [s.boxed.valueOf(), s.boxed + 1], [5, 6]],
  [(s) => s.number.format(1234), "1,234"],
  [(s) => structuredClone(s.inner), { list: [{ n: 1 }] }],
  [(s) => Object.getOwnPropertyDescriptor(s.inner, "list")!.value[0].n, 1],
  [
    (s) =>
      Object.entries(Object.getOwnPropertyDescriptors(s.counter)).map((
        [key, { value }],
      ) => [key, value]),
    [["n", 3]],
  ],
  [(s) => s.list.slice().sort(), [1, 2, 3]],
  [(s) => s.list.toSorted?.() ?? [1, 2, 3], [1, 2, 3]],
];

/** [what is written, what the failure says] */
const WRITES: readonly (readonly [(s: State, args: number[]) => unknown, RegExp])[] = [
  [
    (s) => s.list.sort(),
    /^state\.list\[\d\] was written: validators and queries must not change the state/,
  ],
  [(s) => s.list.push(1), /^state\.list\[3\] was written/],
  [
    (s) => Object.getOwnPropertyDescriptor(s, "list")!.value.push(1),
    /^state\.list\[3\] was written/,
  ],
  [(s) => s.list.length = 0, /^state\.list\.length was written/],
  [(s) => s.inner.list[0]!.n = 2, /^state\.inner\.list\[0\]\.n was written/],
  [(_s, args) => args.push(1), /^args\[1\] was written/],
  [(s) => delete (s as { list?: unknown }).list, /^state\.list was deleted/],
  [(s) => s.url.pathname = "/x", /^state\.url\.pathname was written/],
  [(s) => s.url.searchParams.set("c", "2"), /^state\.url\.searchParams\.set\(\) was called/],
  [(s) => s.map.set("b", { n: 2 }), /^state\.map\.set\(\) was called/],
  [(s) => s.map.delete("a"), /^state\.map\.delete\(\) was called/],
  [(s) => s.map.clear(), /^state\.map\.clear\(\) was called/],
  [(s) => s.set.add(3), /^state\.set\.add\(\) was called/],
  [(s) => s.url.searchParams.append("d", "2"), /^state\.url\.searchParams\.append\(\) was called/],
  [(s) => s.map.get("a")!.n = 2, /^state\.map\.get\(\)\.n was written/],
  [(s) => s.map.forEach((each) => each.n = 2), /\.n was written/],
  [(s) => s.bag.put("y"), /^state\.bag\.set\(\) was called/],
  [(s) => s.date.setTime(1), /^state\.date\.setTime\(\) was called/],
  [(s) => s.bytes[0] = 1, /^state\.bytes\[0\] was written/],
  [(s) => s.bytes.sort(), /^state\.bytes\.sort\(\) was called/],
  [(s) => s.bytes.forEach((_x, _i, all) => all[0] = 9), /\[0\] was written/],
  [(s) => s.iterator.next(), /^state\.iterator\.next\(\) was called/],
  [(s) => s.promise.then(() => {}), /^state\.promise\.then\(\) was called/],
  [(s) => (s.arrow as unknown as { x: number }).x = 1, /^state\.arrow\.x was written/],
  [(s) => s.proxy.a = 2, /^state\.proxy\.a was written/],
  // Where objects themselves had to be given, by comparison.
  [
    (s) => [s.money.cents, s.list.sort()],
    /^state\.list was changed: validators and queries must not change the state/,
  ],
  [(s) => [s.money.cents, s.map.set("b", { n: 2 })], /^state\.map was changed/],
  [(s) => [s.money.cents, s.date.setTime(1)], /^state\.date was changed/],
  [(s) => [s.money.cents, s.bytes.fill(9)], /^state\.(?:bytes|data)\S* was changed/],
  [(s) => [s.money.cents, s.url.hash = "x"], /^state\.url was changed/],
];

const machine = (validate: (s: State, args: number[]) => unknown) =>
  workflow("W", () =>
    receive(makeState(), [
      on(ask, (_, s) => reply([s.list, s.money.cents, s.counter.n], s), {
        validate: (args, s) => void validate(s as State, args as number[]),
      }),
      on(add, ([n], s) => noreply({ ...s, list: [...s.list, n] })),
      on(end, async (_, s) => {
        // As many timers as the state says: a replay with another state diverges.
        for (let i = 0; i < s.list[0]! + s.money.cents / 100 + s.counter.n; i++) void sleep(i + 1);
        return stop({ ...s, list: s.list });
      }),
    ]).then((s) => [s.list, s.money.cents, s.counter.n]));

export const cases: Case[] = [
  {
    name:
      "validators read everything: fields with #, the platform's classes, bound functions, proxies",
    async run() {
      const wrong: string[] = [];
      for (const [read, expected] of READS) {
        const seen: unknown[] = [];
        const d = await drive(machine((s) => void seen.push(read(s))));
        const u = d.server.update("u", "ask", 1);
        await d.task();
        d.server.signal("end");
        if (d.server.taskFailure === undefined) await d.task();
        const said = JSON.stringify(seen.at(-1));
        if (
          u.failure !== undefined || d.server.taskFailure !== undefined ||
          said !== JSON.stringify(expected)
        ) {
          wrong.push(
            `${read}: ${u.failure?.message ?? d.server.taskFailure?.failure.message ?? said}`,
          );
        }
        deepEqual(u.result ?? [[3, 1, 2], 500, 3], [[3, 1, 2], 500, 3]);
        if (d.server.taskFailure === undefined) deepEqual(await d.finish(), [[3, 1, 2], 500, 3]);
      }
      equal(wrong.join("\n"), "");
    },
  },
  {
    name:
      "the update of a validator that writes is rejected, by what it wrote, and the workflow continues",
    async run() {
      const wrong: string[] = [];
      for (const [write, expected] of WRITES) {
        const d = await drive(machine((s, args) => args[0] === 1 ? write(s, args) : undefined));
        const u = d.server.update("u", "ask", 1);
        await d.task();
        const after = d.server.update("after", "ask", 2);
        d.server.signal("add", 4);
        await d.task();
        d.server.signal("end");
        await d.task();
        if (!expected.test(u.failure?.message ?? "")) {
          wrong.push(
            `${write}: ${
              u.failure?.message ?? d.server.taskFailure?.failure.message ??
                JSON.stringify(u.result)
            }`,
          );
        } else {
          deepEqual(after.result, [[3, 1, 2, 4], 500, 3]);
          deepEqual(await d.finish(), [[3, 1, 2, 4], 500, 3]);
        }
      }
      equal(wrong.join("\n"), "");
    },
  },
  {
    name:
      "what a validator changes unseen (fields with #, what a function closes over) is undone, accepted or rejected",
    async run() {
      for (const cached of [true, false]) {
        const change: ((s: State) => void)[] = [
          (s) => s.money.take(100),
          (s) => void (s as unknown as { bump(): number }).bump(),
        ];
        for (const [i, touch] of change.entries()) {
          const base = machine(() => {});
          let n = 0;
          const w = workflow(base.name, () => {
            n = 0;
            return receive({ ...makeState(), bump: () => ++n }, [
              on(ask, (_, s) => reply([s.money.cents, n], s), {
                validate: ([k], s) => {
                  touch(s as State);
                  if (k === 0) throw new Error("refused");
                },
              }),
              on(end, (_, s) => stop(s)),
            ]).then(async (s) => {
              await sleep(s.money.cents + n);
              return s.money.cents + n;
            });
          });
          const d = await drive(w, { cached });
          const rejected = d.server.update("a", "ask", 0);
          const accepted = [d.server.update("b", "ask", 1), d.server.update("c", "ask", 2)];
          await d.task();
          equal(rejected.failure?.message, "refused");
          // The private state of a function is not compared: memory that was collected is rebuilt.
          deepEqual(accepted.map((u) => u.result), [[500, 0], [500, 0]], `change ${i}`);
          const again = d.server.update("a", "ask", 3);
          await d.task();
          deepEqual(again.result, [500, 0]);
          d.server.signal("end");
          await d.task();
          d.server.fireTimer("1");
          await d.task();
          equal(await d.finish(), 500);
        }
      }
    },
  },
  {
    name: "a rejection that a validator leaves unhandled rejects its update, not the task",
    async run() {
      const d = await drive(machine((_s, [k]) => {
        if (k === 1) void Promise.reject(new Error("not handled"));
        if (k === 2) void (async () => (await null, await sleep(1)))();
      }));
      const [a, b, c] = [1, 2, 3].map((n) => d.server.update(`u${n}`, "ask", n));
      await d.task();
      equal(d.server.taskFailure, undefined);
      match(
        a!.failure!.message,
        /unhandled promise rejection in a workflow \(Error: not handled\)/,
      );
      match(b!.failure!.message, /sleep was called in a validator/);
      deepEqual(c!.result, [[3, 1, 2], 500, 3]);
      d.server.signal("end");
      await d.task();
      await d.finish();
    },
  },
  {
    name: "changes of state that were made in place are found",
    run() {
      const state = makeState();
      const found = (change: () => unknown) => {
        const changed = lookAt({ state });
        equal(changed(), undefined);
        change();
        return changed() ?? "nothing";
      };
      match(found(() => state.inner.list[0]!.n++), /^state\.inner\.list\[0\]$/);
      match(found(() => state.set.add(9)), /^state\.set$/);
      match(found(() => state.data.setInt8(0, 1)), /^state\.data/);
      const fields = state.counter as { n?: number; m?: number };
      match(found(() => (delete fields.n, fields.m = 4)), /^state\.counter$/);
      match(
        found(() => (delete fields.m, fields.n = 4)),
        /^state\.counter$/,
        "renamed, with the same value",
      );
      match(found(() => Object.freeze(state.counter) && (state.list = [1])), /^state$/);
      match(found(() => Object.setPrototypeOf(state.inner, { size: 1 })), /^state\.inner$/);
      equal(found(() => state.money.take(1)), "nothing", "it cannot be seen");
      // Read at once: no run has to be gone through again for it.
      equal(view(state).number.format(1234), "1,234");
      throws(() => (view(state).counter.n = 5), /state\.counter\.n was written/);
    },
  },
  {
    name: "what a validator leaves does not reach runs of another realm in its thread",
    async run() {
      const make = async (name: string) => {
        const w = workflow(name, async () => {
          for (let i = 0; i < 20; i++) await sleep(1);
          return await receive(0, [
            on(ask, (_, s) => reply(s, s), {
              validate: ([n]) => {
                (async () => (await null, n === 1 && await sleep(1)))().catch(() => {});
              },
            }),
            on(end, (_, s) => stop(s)),
          ]);
        });
        const realm = await createInlineRealm({ workflows: [w] });
        const server = new MiniServer(name, { runId: `${name}-4000` });
        const task = async () =>
          server.report(await realm.runTask(readWorkflowTask(server.openTask({ sticky: true }))));
        return { realm, server, task };
      };
      const [a, b] = [await make("A"), await make("B")];
      const until = async ({ server, task }: typeof a) => {
        await task();
        while (server.timers.size > 0) {
          for (const id of [...server.timers.keys()]) server.fireTimer(id);
          await task();
        }
      };
      const ready = until(a);
      await ready;
      const other = until(b);
      for (let i = 0; i < 10; i++) {
        const bad = a.server.update(`bad${i}`, "ask", 1);
        const good = a.server.update(`good${i}`, "ask", 2);
        await a.task();
        equal(a.server.taskFailure?.failure.message, undefined);
        match(bad.failure!.message, /sleep was called in a validator/);
        equal(good.result, 0);
      }
      await other;
      equal(b.server.taskFailure, undefined, b.server.taskFailure?.failure.message);
      for (const { realm } of [a, b]) await realm.dispose();
    },
  },
];
