// Messages with Standard Schema validators, read-only views, definitions.
import {
  ApplicationFailure,
  noreply,
  on,
  publishState,
  query,
  receive,
  reply,
  signal,
  sleep,
  type StandardSchemaV1,
  stop,
  update,
  waitForSignal,
  workflow,
} from "../../ts/workflow/mod.ts";
import { nativePrograms } from "../../ts/executor/run/native_program.ts";
import { isWorkflowDefinition } from "../../ts/executor/program/definition.ts";
import { original, view } from "../../ts/executor/primitives/read_only_view.ts";
import { deepEqual, equal, match, throws } from "./assert.ts";
import type { Case } from "./case.ts";
import { drive } from "./driver.ts";

/** A validator as a library would make one. */
function schema<T>(
  check: (value: unknown) => { value: T } | { issues: { message: string; path?: string[] }[] },
): StandardSchemaV1<unknown, T> {
  return { "~standard": { version: 1, vendor: "test", validate: check } };
}
const whole = schema<number>((value) => {
  const n = Number(value);
  return Number.isInteger(n)
    ? { value: n }
    : { issues: [{ message: `${value} is not whole`, path: ["n"] }] };
});
const late = {
  "~standard": { version: 1, vendor: "test", validate: async () => ({ value: 1 }) },
} as StandardSchemaV1<
  unknown,
  number
>;

const add = update<[number], number>("add", { args: [whole] });
const bump = signal<[number]>("bump", { args: [whole] });
const end = signal("end");

export const cases: Case[] = [
  {
    name:
      "schemas: an update with invalid arguments is rejected; handlers get the output of the schema",
    async run() {
      const w = workflow(
        "W",
        () => receive(0, [on(add, ([n], s) => reply(s + n, s + n)), on(end, (_, s) => stop(s))]),
      );
      const d = await drive(w);
      const bad = d.server.update("u1", "add", 1.5);
      const good = d.server.update("u2", "add", "41");
      await d.task();
      equal(bad.stage, "rejected");
      match(
        bad.failure!.message,
        /^the arguments of update "add" are not valid: argument 0\.n: 1\.5 is not whole/,
      );
      const info = bad.failure!.failureInfo;
      equal(info.case === "applicationFailureInfo" && info.value.type, "InvalidArguments");
      equal(good.result, 41);
      d.server.signal("end");
      await d.task();
      equal(await d.finish(), 41);
    },
  },
  {
    name:
      "schemas: a signal with invalid arguments is logged and dropped, in a receive and in waitForSignal",
    async run() {
      const w = workflow("W", async () => {
        const first = await waitForSignal(bump);
        return [
          first,
          await receive(0, [on(bump, ([n], s) => noreply(s + n)), on(end, (_, s) => stop(s))]),
        ];
      });
      const d = await drive(w);
      for (const n of ["x", 7, "y", 2]) d.server.signal("bump", n);
      d.server.signal("end");
      await d.task();
      deepEqual(await d.finish(), [7, 2]);
      equal(d.logs.length, 2);
      match(
        d.logs[0]!.message,
        /signal "bump" was dropped: the arguments of signal "bump" are not valid/,
      );
      match(d.logs[1]!.message, /the handler of signal "bump" failed/);
    },
  },
  {
    name:
      "schemas: an async schema rejects its update; a signal cannot be rejected, so its task fails",
    async run() {
      const odd = update<[number], number>("odd", { args: [late] });
      const strange = signal<[number]>("strange", { args: [late] });
      const d = await drive(
        workflow("W", () =>
          receive(0, [
            on(odd, (_, s) => reply(s, s)),
            on(strange, (_, s) => noreply(s)),
          ])),
      );
      const u = d.server.update("u", "odd", 1);
      await d.task();
      equal(d.server.taskFailure, undefined);
      match(u.failure!.message, /the schema of argument 0 of update "odd" is asynchronous/);
      d.server.signal("strange", 1);
      await d.task();
      match(
        d.server.taskFailure!.failure.message,
        /the schema of argument 0 of signal "strange" is asynchronous/,
      );
    },
  },
  {
    name:
      "schemas: a schema that calls the workflow API rejects its update, also if it catches the error",
    async run() {
      const calling = schema<number>((value) => {
        try {
          void sleep(1);
        } catch {
          // As a library may.
        }
        return { value: value as number };
      });
      const odd = update<[number], number>("odd", { args: [calling] });
      const d = await drive(
        workflow(
          "W",
          () => receive(0, [on(odd, (_, s) => reply(s, s)), on(end, (_, s) => stop(s))]),
        ),
      );
      const u = d.server.update("u", "odd", 1);
      await d.task();
      equal(d.server.taskFailure, undefined);
      match(u.failure?.message ?? "accepted", /sleep was called in a schema/);
      d.server.signal("end");
      await d.task();
      equal(await d.finish(), 0);
    },
  },
  {
    name:
      "schemas: an update that was accepted under another schema still gets its arguments on replay",
    async run() {
      let strict = false;
      const changing = schema<number>((value) =>
        strict ? { issues: [{ message: "no longer" }] } : { value: value as number }
      );
      const changed = update<[number], number>("changed", { args: [changing] });
      const w = workflow(
        "W",
        () =>
          receive(0, [on(changed, ([n], s) => reply(s + n, s + n)), on(end, (_, s) => stop(s))]),
      );
      const d = await drive(w, { cached: false });
      const u = d.server.update("u", "changed", 3);
      await d.task();
      equal(u.result, 3);
      strict = true;
      d.server.signal("end");
      await d.task();
      equal(await d.finish(), 3);
    },
  },
  {
    name:
      "a validator that swallows the error of a forbidden call does not get its update accepted",
    async run() {
      const d = await drive(workflow("W", () =>
        receive(0, [on(add, (_, s) => reply(s, s), {
          validate: () => {
            try {
              void sleep(1);
            } catch {
              // swallowed
            }
          },
        })])));
      const u = d.server.update("u", "add", 1);
      await d.task();
      equal(d.server.taskFailure, undefined);
      match(u.failure!.message, /sleep was called in a validator/);
    },
  },
  {
    name: "an error that a validator throws is the caller's failure, with its type and details",
    async run() {
      const d = await drive(workflow("W", () =>
        receive(0, [on(add, (_, s) => reply(s, s), {
          validate: ([n]) => {
            throw new ApplicationFailure(`not ${n}`, {
              type: "NotThat",
              nonRetryable: true,
              details: [{ n }],
            });
          },
        })])));
      const u = d.server.update("u", "add", 1);
      await d.task();
      const info = u.failure!.failureInfo;
      deepEqual([
        u.stage,
        u.failure!.message,
        info.case === "applicationFailureInfo" && info.value.type,
      ], [
        "rejected",
        "not 1",
        "NotThat",
      ]);
    },
  },
  {
    name: "views: reading works everywhere, writing throws, and the original is unchanged",
    run() {
      class Account {
        balance = 5;
        get double(): number {
          return this.balance * 2;
        }
        deposit(n: number): void {
          this.balance += n;
        }
      }
      const state = {
        list: [3, 1, 2],
        nested: { deep: { n: 1 } },
        frozen: Object.freeze({ inner: { n: 1 } }),
        map: new Map([["a", { n: 1 }]]),
        set: new Set([1, 2]),
        date: new Date(0),
        bytes: new Uint8Array([1, 2, 3]),
        account: new Account(),
      };
      const before = JSON.stringify(state);
      const v = view(state);
      deepEqual([v.list.length, v.list.map((x) => x + 1), [...v.list], Array.isArray(v.list)], [
        3,
        [4, 2, 3],
        [3, 1, 2],
        true,
      ]);
      deepEqual([v.nested.deep.n, v.map.get("a")?.n, v.map.size, [...v.map.keys()], v.set.has(2), [
        ...v.set,
      ]], [
        1,
        1,
        1,
        ["a"],
        true,
        [1, 2],
      ]);
      deepEqual([
        v.date.getTime(),
        v.bytes[1],
        v.bytes.length,
        v.account.double,
        v.account instanceof Account,
      ], [
        0,
        2,
        3,
        10,
        true,
      ]);
      deepEqual(Object.keys(v), Object.keys(state));
      equal(JSON.stringify(v), before);
      equal("list" in v, true);
      deepEqual({ ...v.nested.deep }, { n: 1 });
      const seen: unknown[] = [];
      v.map.forEach((value, key) => void seen.push(key, value.n));
      deepEqual(seen, ["a", 1]);
      const refused: (() => unknown)[] = [
        () => (v.list[0] = 9),
        () => v.list.push(1),
        () => v.list.sort(),
        () => v.list.length = 0,
        () => delete (v as { nested?: unknown }).nested,
        () => (v.nested.deep.n = 2),
        () => (v.frozen.inner.n = 2),
        () => v.map.set("b", { n: 2 }),
        () => (v.map.get("a")!.n = 2),
        () => ([...v.map.values()][0]!.n = 2),
        () => v.map.forEach((value) => (value.n = 2)),
        () => v.set.add(3),
        () => v.date.setTime(1),
        () => (v.bytes[0] = 9),
        () => v.bytes.fill(0),
        () => v.account.deposit(1),
        () => Object.defineProperty(v, "x", { value: 1 }),
        () => Object.setPrototypeOf(v, null),
        () => Object.freeze(v),
      ];
      for (const write of refused) throws(write, /^MisuseError: .*read-only view/, String(write));
      equal(JSON.stringify(state), before);
      equal(view(state), v, "one object has one view");
      equal(view(v), v);
      equal(original(v), state);
      equal(view(5), 5);
    },
  },
  {
    name: "definitions: names are required, queries need handlers, duplicate names are rejected",
    run() {
      const status = query<number>("wire_name");
      const w = workflow("W", {
        messages: { status },
        queries: { status: () => 1 },
        run: async () => {},
      });
      deepEqual(Object.keys(w.queries), ["wire_name"]);
      equal(isWorkflowDefinition(w), true);
      equal(isWorkflowDefinition({ name: "W", run: () => {} }), false);
      // deno-lint-ignore no-explicit-any
      const untyped: any = workflow;
      const called = w as unknown as () => void;
      throws(
        () => called(),
        /TypeError: the workflow "W" was called: a workflow is started, not called/,
      );
      throws(() => untyped("", async () => {}), /TypeError: the name of a workflow must be/);
      throws(() => untyped("X", {}), /TypeError: workflow "X" needs a run function/);
      throws(
        () => untyped("X", { messages: { status }, run: async () => {} }),
        /declares the query "status" but has no handler/,
      );
      throws(() => signal(""), /TypeError: the name of a signal must be/);
      throws(() => nativePrograms([w, w]), /two workflows are named "W"/);
    },
  },
  {
    name: "a query may return the view of the state or a part of it",
    async run() {
      const w = workflow("W", {
        queries: {
          all: (p: unknown) => p,
          part: (p: { list: number[] }) => p.list,
          bytes: (p: { list: number[] }) => new Uint8Array(p.list),
        },
        run: async () => {
          publishState({ list: [1, 2] });
          await sleep(1);
        },
      });
      const d = await drive(w);
      await d.task();
      deepEqual((await d.query("all")).value, { list: [1, 2] });
      deepEqual((await d.query("part")).value, [1, 2]);
      deepEqual((await d.query("bytes")).value, new Uint8Array([1, 2]));
    },
  },
];
