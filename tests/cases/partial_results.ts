// What a canceled receive or parallel had reached: thrown with the failure, or returned.
import {
  activities,
  ActivityFailure,
  ApplicationFailure,
  CancelledFailure,
  continueAsNew,
  isCancellation,
  isParallelCancellation,
  isReceiveCancellation,
  noreply,
  on,
  parallel,
  receive,
  reply,
  type Settled,
  shield,
  signal,
  sleep,
  spawnAsync,
  stop,
  update,
  workflow,
} from "../../ts/workflow/mod.ts";
import { deepEqual, equal, match, ok } from "./assert.ts";
import type { Case } from "./case.ts";
import { drive } from "./driver.ts";

const acts = activities<{ work(x: number): number }>();
const add = signal<[number]>("add");
const slow = signal<[number]>("slow");
const later = signal<[number]>("later");
const end = signal("end");
const ask = update<[number], number>("ask");

const handlers = [
  on(add, ([n], s: number[]) => noreply([...s, n])),
  on(slow, async ([n], s: number[]) => (await sleep("1h").catch(() => {}), noreply([...s, n]))),
  on(later, ([n], s: number[]) =>
    spawnAsync(async (change) => {
      await sleep("1h").catch(() => {});
      await change((now) => [undefined, [...now, n]]);
    }, s)),
  on(ask, ([n], s: number[]) => reply(s.length, [...s, n])),
  on(end, (_, s: number[]) => stop(s)),
];

/** What code reads of a caught failure. */
const reached = (e: unknown) =>
  isReceiveCancellation(e) ? e.state : isParallelCancellation(e) ? e.results : "nothing";

const throwing = workflow("Throwing", () => receive([] as number[], handlers).catch(reached));
const returning = workflow(
  "Returning",
  () => receive([] as number[], handlers, { onCancel: "return" }),
);

export const cases: Case[] = [
  {
    name: "messages before the cancellation are in the state, in one task and in a task each",
    async run() {
      for (const together of [false, true]) {
        for (const definition of [throwing, returning]) {
          const d = await drive(definition);
          await d.task();
          for (const n of [1, 2, 3]) {
            d.server.signal("add", n);
            if (!together) await d.task();
          }
          d.server.requestCancel();
          // After the request: stays in the inbox.
          d.server.signal("add", 4);
          await d.task();
          const result = await d.finish();
          const state = [1, 2, 3];
          deepEqual(result, definition === throwing ? state : { canceled: true, state });
        }
      }
    },
  },
  {
    name: "messages that come with the start and a cancellation are processed first",
    async run() {
      const d = await drive(throwing);
      d.server.signal("add", 1);
      d.server.signal("add", 2);
      d.server.requestCancel();
      await d.task();
      deepEqual(await d.finish(), [1, 2]);
    },
  },
  {
    name:
      "the state includes handlers that end after the cancellation, sync and async, and updates",
    async run() {
      const d = await drive(throwing);
      const asked = d.server.update("u1", "ask", 7);
      await d.task();
      d.server.signal("later", 8);
      d.server.signal("slow", 9);
      await d.task();
      d.server.signal("add", 10);
      d.server.requestCancel();
      await d.task();
      equal(asked.result, 0);
      // The sync handler owns the state until it returns.
      deepEqual(await d.finish(), [7, 9, 8]);
    },
  },
  {
    name: "messages that waited for a busy handler stay buffered; a shielded receive takes them",
    async run() {
      const w = workflow("W", async () => {
        const got = await receive([] as number[], handlers, { onCancel: "return" });
        if (!got.canceled) return got.result;
        const rest = await shield(() => receive(got.state, handlers, { timeout: 0 }));
        return [got.state, rest.state];
      });
      const d = await drive(w);
      d.server.signal("slow", 1);
      await d.task();
      d.server.signal("add", 2);
      d.server.requestCancel();
      await d.task();
      deepEqual(await d.finish(), [[1], [1, 2]]);
    },
  },
  {
    name: "a receive that is not canceled returns its result in the other form of the union",
    async run() {
      const kinds = [
        { options: {}, result: [1] },
        { options: { timeout: "1h" }, result: { timedOut: false, state: [1] } },
        { options: { until: () => false }, result: { timedOut: false, stopped: true, state: [1] } },
      ] as const;
      for (const { options, result } of kinds) {
        const w = workflow(
          "W",
          () => receive([] as number[], handlers, { ...options, onCancel: "return" } as never),
        );
        const d = await drive(w);
        d.server.signal("add", 1);
        d.server.signal("end");
        await d.task();
        deepEqual(await d.finish(), { canceled: false, result });
      }
    },
  },
  {
    name: "a receive that is called after the cancellation reports its first state",
    async run() {
      const w = workflow("W", async () => {
        await sleep("1h").catch(() => {});
        return [
          await receive([1], handlers).catch(reached),
          await receive([2], handlers, { onCancel: "return" }),
        ];
      });
      const d = await drive(w);
      await d.task();
      d.server.requestCancel();
      await d.task();
      deepEqual(await d.finish(), [[1], { canceled: true, state: [2] }]);
    },
  },
  {
    name: "a thrown state fails the workflow as before: canceled, with the same failure",
    async run() {
      const d = await drive(workflow("W", () => receive([] as number[], handlers)));
      d.server.signal("add", 1);
      await d.task();
      d.server.requestCancel("enough");
      await d.task();
      equal(d.server.closed?.kind, "cancelled");
      await d.checkReplay();
    },
  },
  {
    name: "a returned cancellation counts as seen: continue-as-new does not pass it on",
    async run() {
      for (const what of ["receive", "parallel"]) {
        const w = workflow("W", async () => {
          if (what === "receive") await receive([] as number[], handlers, { onCancel: "return" });
          else await parallel([() => sleep("1h")], { onCancel: "return" });
          return continueAsNew();
        });
        const d = await drive(w);
        await d.task();
        d.server.requestCancel();
        await d.task();
        equal(d.server.closed?.kind, "continued");
        deepEqual(Object.keys(d.server.closed?.next?.headers ?? {}), []);
        await d.checkReplay();
      }
    },
  },
  {
    name: "a canceled parallel has the outcome of every branch, thrown and returned",
    async run() {
      const branches = [
        () => acts.work(1),
        () => sleep("1h"),
        () => "done",
        () => {
          throw new ApplicationFailure("own", { type: "Own" });
        },
        () => sleep("1h").catch(() => "handled"),
      ] as const;
      const shown = (results: readonly Settled<unknown>[]) =>
        results.map((r) =>
          r.ok ? r.value : [(r.error as Error).name, isCancellation(r.error), reached(r.error)]
        );
      const w = workflow("W", async () => {
        const [returned, thrown] = await Promise.all([
          parallel(branches, { onCancel: "return" }),
          parallel(branches).catch((e) => [
            e instanceof ActivityFailure,
            isCancellation(e),
            isParallelCancellation(e) && shown(e.results),
          ]),
        ]);
        return [returned.canceled ? shown(returned.results) : "not canceled", thrown];
      });
      const d = await drive(w);
      await d.task();
      d.server.completeActivity("1", 11);
      await d.task();
      d.server.requestCancel();
      await d.task();
      const rest = [
        ["CancelledFailure", true, "nothing"],
        "done",
        ["ApplicationFailure", false, "nothing"],
        "handled",
      ];
      deepEqual(await d.finish(), [
        [11, ...rest],
        [true, true, [["ActivityFailure", true, "nothing"], ...rest]],
      ]);
    },
  },
  {
    name: "nested: each canceled parallel has the outcomes of its branches",
    async run() {
      const w = workflow("W", async () => {
        const seen: unknown[] = [];
        const inner = () =>
          parallel([() => sleep("1h"), () => "inner"]).catch((e) => {
            seen.push(isParallelCancellation(e) && e.results.map((r) => r.ok));
            throw e;
          });
        try {
          await parallel([() => "outer", inner, () => "more"]);
        } catch (e) {
          ok(e instanceof CancelledFailure && isParallelCancellation(e));
          const { results } = e;
          const [, second] = results;
          seen.push(results.map((r) => r.ok));
          seen.push(
            !second!.ok && isParallelCancellation(second!.error) &&
              second!.error.results.map((r) => r.ok),
          );
        }
        return seen;
      });
      const d = await drive(w);
      await d.task();
      d.server.requestCancel();
      await d.task();
      deepEqual(await d.finish(), [[false, true], [true, false, true], [false, true]]);
    },
  },
  {
    name: "a shielded parallel, and one whose branches handle the cancellation, are not canceled",
    async run() {
      const w = workflow("W", async () => {
        const handled = await parallel([() => sleep("1h").catch(() => 1)], { onCancel: "return" });
        const shielded = await shield(() =>
          parallel([() => sleep(1).then(() => 2)], { onCancel: "return" })
        );
        return [handled, shielded, await parallel([], { onCancel: "return" })];
      });
      const d = await drive(w);
      await d.task();
      d.server.requestCancel();
      await d.task();
      d.server.fireTimer("2");
      await d.task();
      deepEqual(await d.finish(), [
        { canceled: false, result: [{ ok: true, value: 1 }] },
        { canceled: false, result: [{ ok: true, value: 2 }] },
        { canceled: false, result: [] },
      ]);
    },
  },
  {
    name: "another value for onCancel fails the task, and an unknown option names the nearest",
    async run() {
      const wrong: { readonly [message: string]: () => Promise<unknown> } = {
        'onCancel of receive must be "throw" or "return", not "keep"': () =>
          receive(0, [], { onCancel: "keep" as never }),
        'onCancel of parallel must be "throw" or "return", not true': () =>
          parallel([], { onCancel: true as never }),
        'parallel has no option "onCancle"; did you mean onCancel\\?': () =>
          parallel([], { onCancle: "return" } as never),
      };
      for (const [message, call] of Object.entries(wrong)) {
        const d = await drive(workflow("W", async () => void (await call())));
        await d.task();
        match(d.server.taskFailure?.failure.message ?? "no failure", new RegExp(message));
      }
    },
  },
  {
    name: "only failures of a canceled receive or parallel carry something",
    run() {
      const others = [new CancelledFailure(), new Error("x"), undefined, { state: 1, results: [] }];
      const hostile = new Proxy(new CancelledFailure(), {
        getOwnPropertyDescriptor() {
          throw new Error("hostile");
        },
      });
      for (const other of [...others, hostile]) equal(reached(other), "nothing");
    },
  },
];
