// The nesting table of the model, row by row: what each construct may hold, and with what error it
// refuses the rest.
import {
  activities,
  continueAsNew,
  deprecatePatch,
  noreply,
  on,
  parallel,
  patched,
  publishState,
  receive,
  reply,
  select,
  shield,
  sideEffect,
  signal,
  sleep,
  spawnAsync,
  stop,
  timer,
  update,
  updateState,
  waitForSignal,
  workflow,
} from "../../ts/workflow/mod.ts";
import { deepEqual, equal, match } from "./assert.ts";
import type { Case } from "./case.ts";
import { drive } from "./driver.ts";

const acts = activities<{ work(x: number): number }>();
const go = signal("go");
const other = signal<[number]>("other");
const ask = update<[], unknown>("ask");
const end = signal("end");

/** What every construct of the model may do, by name; each gives a value to compare. */
const ALLOWED: { [row: string]: () => Promise<unknown> | unknown } = {
  "activities": () => acts.work(20),
  "sleep": () => sleep(10).then(() => "slept"),
  "waitForSignal": () => waitForSignal(other),
  "sideEffect": () => sideEffect(() => 7),
  "publishState": () => publishState({ seen: true }) ?? "published",
  "patched / deprecatePatch": () => (deprecatePatch("old"), patched("new")),
  "parallel": async () =>
    (await parallel([() => acts.work(1), () => 2])).map((r) => r.ok && r.value),
  "select": () => select([on(other, () => 0), on(() => acts.work(20), (x) => x)]),
  "named timer": () => timer("name", 10).then(() => "slept"),
  "shield": () => shield(() => acts.work(20)),
};
const EXPECTED: { [row: string]: { value: unknown; commands: string[] } } = {
  "activities": { value: 21, commands: ["SCHEDULE_ACTIVITY 1"] },
  "sleep": { value: "slept", commands: ["START_TIMER 1"] },
  "waitForSignal": { value: 5, commands: [] },
  "sideEffect": { value: 7, commands: ["RECORD_SIDE_EFFECT"] },
  "publishState": { value: "published", commands: [] },
  "patched / deprecatePatch": { value: true, commands: ["SET_PATCH_MARKER", "SET_PATCH_MARKER"] },
  "parallel": { value: [2, 2], commands: ["SCHEDULE_ACTIVITY 1"] },
  "select": { value: 21, commands: ["SCHEDULE_ACTIVITY 1"] },
  "named timer": { value: "slept", commands: ["START_TIMER 1"] },
  "shield": { value: 21, commands: ["SCHEDULE_ACTIVITY 1"] },
};

/**
 * Where code may stand, and how to get there: `body` is called there, and what it gives is the
 * workflow's result.
 */
const PLACES: { [place: string]: (body: () => unknown) => Promise<unknown> } = {
  "run": async (body) => await body(),
  "sync signal handler": (body) => receive<unknown>(0, [on(go, async () => stop(await body()))]),
  "sync update handler": (body) =>
    receive<unknown>(0, [on(ask, async () => stop(await body(), "done"))]),
  "async handler of a signal": (body) =>
    receive<unknown>(0, [
      on(go, (_, s) =>
        spawnAsync(async (change) => {
          const value = await body();
          await change(() => [undefined, value]);
        }, s)),
      on(end, (_, s) => stop(s)),
    ]),
  "async handler of an update": (body) =>
    receive<unknown>(0, [
      on(ask, (_, s) =>
        spawnAsync(async (change) => {
          const value = await body();
          return await change(() => ["done", value]);
        }, s)),
      on(end, (_, s) => stop(s)),
    ]),
  "branch of parallel": async (body) => {
    const [result] = await parallel([body]);
    if (!result.ok) throw result.error;
    return result.value;
  },
  "function of a select": (body) => select([on(body, (value) => value)]),
  "body of an arm": (body) => select([timer(0, body)]),
  "branch of a branch": async (body) => {
    const [outer] = await parallel([() => parallel([body])]);
    if (!outer.ok) throw outer.error;
    const [inner] = outer.value;
    if (!inner.ok) throw inner.error;
    return inner.value;
  },
};

const inPlace = (place: string, body: () => unknown) =>
  workflow("Nest", { run: () => PLACES[place]!(body), handlerErrors: "failTask" });

/** Lets the place be reached in the first task. */
async function reach(place: string, body: () => unknown) {
  const d = await drive(inPlace(place, body));
  if (place.includes("signal")) d.server.signal("go");
  if (place.includes("update")) d.server.update("u", "ask");
  await d.task();
  if (place.startsWith("async") && d.server.taskFailure === undefined) {
    d.server.signal("end");
    await d.task();
  }
  return d;
}

const allowed: Case[] = Object.keys(PLACES).flatMap((place) =>
  Object.entries(ALLOWED).map(([row, body]) => ({
    name: `${place}: ${row} is allowed`,
    async run() {
      const d = await reach(place, body);
      equal(d.server.taskFailure, undefined, d.server.taskFailure?.failure.message);
      if (row === "waitForSignal") {
        d.server.signal("other", 5);
        await d.task();
      }
      const result = d.server.closed === undefined
        ? await d.auto({ work: (x: number) => x + 1 })
        : await d.finish();
      deepEqual(result, EXPECTED[row]!.value);
      const issued = d.allCommands().filter((c) => !/UPDATE_RESPONSE|COMPLETE_WORKFLOW/.test(c));
      deepEqual(issued, EXPECTED[row]!.commands);
    },
  }))
);

function forbidden(place: string, row: string, body: () => unknown, message: RegExp): Case {
  return {
    name: `${place}: ${row} is refused`,
    async run() {
      const d = await reach(place, body);
      match(`${failureType(d)}: ${d.server.taskFailure?.failure.message}`, message);
      equal(d.server.closed, undefined);
    },
  };
}

const failureType = (
  d: { server: { taskFailure?: { failure: { failureInfo: unknown } } } },
): string => {
  const info = d.server.taskFailure?.failure.failureInfo as {
    case?: string;
    value?: { type: string };
  } | undefined;
  return info?.value?.type ?? "no failure";
};

const handlers = Object.keys(PLACES).filter((place) => place.includes("handler"));
/** Separate scopes in run. */
const branches = Object.keys(PLACES).filter((place) =>
  place.includes("branch") || place.startsWith("function")
);
const background = Object.keys(PLACES).filter((place) => place.startsWith("async"));
// Types reject these as well; the casts are for callers without types.
// deno-lint-ignore no-explicit-any
const anyContinue = (): any => continueAsNew();
// deno-lint-ignore no-explicit-any
const anySpawn = (): any => spawnAsync(async () => 1, 0);

export const cases: Case[] = [
  ...allowed,
  {
    name: "run: receive is allowed",
    async run() {
      const d = await drive(workflow("Nest", () => receive(3, [on(go, (_, n) => stop(n + 1))])));
      d.server.signal("go");
      await d.task();
      equal(await d.finish(), 4);
    },
  },
  {
    name: "body of an arm: receive is allowed",
    async run() {
      const d = await drive(
        workflow(
          "Nest",
          () => select([timer(0, () => receive(3, [on(go, (_, n) => stop(n + 1))]))]),
        ),
      );
      d.server.signal("go");
      await d.task();
      equal(await d.finish(), 4);
    },
  },
  {
    name: "run: receive in a shield is allowed",
    async run() {
      const d = await drive(
        workflow("Nest", () => shield(() => receive(3, [on(go, (_, n) => stop(n + 1))]))),
      );
      d.server.signal("go");
      await d.task();
      equal(await d.finish(), 4);
    },
  },
  {
    name: "run: continueAsNew is allowed",
    async run() {
      const again = workflow("Nest", async (n: number) => n > 1 ? "end" : continueAsNew(n + 1));
      const d = await drive(again, { args: [1] });
      await d.task();
      await d.finish();
      deepEqual(d.server.closed?.next?.args, [2]);
    },
  },
  {
    name: "sync handler: spawnAsync is allowed",
    async run() {
      const d = await drive(
        workflow(
          "Nest",
          () =>
            receive(0, [
              on(go, (_, n) => spawnAsync(async () => {}, n + 1)),
              on(end, (_, n) => stop(n)),
            ]),
        ),
      );
      d.server.signal("go");
      d.server.signal("end");
      await d.task();
      equal(await d.finish(), 1);
    },
  },
  {
    name: "async handler: updateState is allowed, and in branches of parallel in it",
    async run() {
      const d = await drive(
        workflow("Nest", () =>
          receive(1, [
            on(go, (_, n) =>
              spawnAsync(async () => {
                await updateState((s: number) => [undefined, s * 10]);
                await parallel([
                  () => updateState((s: number) => [undefined, s + 1]),
                  () => updateState((s: number) => [undefined, s + 2]),
                ]);
                await shield(() => updateState((s: number) => [undefined, s * 2]));
              }, n)),
            on(end, (_, n) => stop(n)),
          ])),
      );
      d.server.signal("go");
      d.server.signal("end");
      await d.task();
      equal(await d.finish(), 26);
    },
  },
  ...[...handlers, ...branches].flatMap((place) => [
    forbidden(
      place,
      "receive",
      () => receive(0, []),
      /^NestingError: receive cannot be used in .*; it belongs in the run function/,
    ),
    forbidden(
      place,
      "calling continueAsNew",
      anyContinue,
      /^NestingError: continueAsNew cannot be used in .*; it belongs in the run function/,
    ),
  ]),
  ...["run", "body of an arm", ...branches, ...background].map((place) =>
    forbidden(
      place,
      "spawnAsync",
      anySpawn,
      /^NestingError: spawnAsync cannot be used in .*; it belongs in a message handler/,
    )
  ),
  ...["run", ...branches, ...handlers.filter((place) => place.startsWith("sync"))].map((place) =>
    forbidden(
      place,
      "updateState",
      () => updateState((s) => [1, s]),
      /^NestingError: updateState cannot be used in .*; it belongs in an async handler/,
    )
  ),
  forbidden(
    "run",
    "a second receive at once",
    () => Promise.all([receive(0, []), receive(0, [])]),
    /^NestingError: receive was called while another/,
  ),
  {
    name: "a handler result made in run and returned by it is rejected",
    async run() {
      // deno-lint-ignore no-explicit-any
      const d = await drive(workflow("Nest", async (): Promise<any> => noreply(1)));
      await d.task();
      match(
        `${failureType(d)}: ${d.server.taskFailure?.failure.message}`,
        /^NestingError: workflow "Nest" returned a noreply result/,
      );
    },
  },
  {
    name: "a handler result returned by a branch or by an async handler is rejected",
    async run() {
      // deno-lint-ignore no-explicit-any
      const smuggled: any = noreply(1);
      const one = await drive(
        workflow("Nest", async () => void await parallel([() => smuggled as number])),
      );
      await one.task();
      match(
        one.server.taskFailure!.failure.message,
        /branch 1 of parallel .* returned a noreply result/,
      );
      const two = await reach("async handler of a signal", () => 0);
      equal(two.server.taskFailure, undefined);
      const three = await drive(
        workflow(
          "Nest",
          () => receive(0, [on(go, (_, n) => spawnAsync(async () => smuggled as number, n))]),
        ),
      );
      three.server.signal("go");
      await three.task();
      match(
        `${failureType(three)}: ${three.server.taskFailure!.failure.message}`,
        /^NestingError: async handler of signal "go" returned a noreply/,
      );
    },
  },
  {
    name: "a nesting error that workflow code catches fails the task all the same",
    async run() {
      const d = await drive(workflow("Nest", async () => {
        await parallel([async () => {
          try {
            await receive(0, []);
          } catch {
            // swallowed
          }
        }]);
        return "continued";
      }));
      await d.task();
      match(
        d.server.taskFailure!.failure.message,
        /receive cannot be used in a branch of parallel/,
      );
    },
  },
  {
    name: "signal handlers that reply and update handlers that do not fail the task",
    async run() {
      // deno-lint-ignore no-explicit-any
      const wrong = (value: unknown) => value as any;
      const one = await drive(
        workflow("Nest", () => receive(0, [on(go, (_, n) => wrong(reply(1, n)))])),
      );
      one.server.signal("go");
      await one.task();
      match(
        one.server.taskFailure!.failure.message,
        /handler of signal "go" returned a reply; return noreply/,
      );
      const two = await drive(
        workflow("Nest", () => receive(0, [on(ask, (_, n) => wrong(noreply(n)))])),
      );
      two.server.update("u", "ask");
      await two.task();
      match(
        two.server.taskFailure!.failure.message,
        /handler of update "ask" returned a noreply; return reply/,
      );
      const three = await drive(
        workflow("Nest", () => receive(0, [on(ask, () => wrong(undefined))])),
      );
      three.server.update("u", "ask");
      await three.task();
      match(
        three.server.taskFailure!.failure.message,
        /returned a value that is not a handler result/,
      );
    },
  },
];
