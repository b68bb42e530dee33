// select and timer (docs/dev/semantics/scopes.md#what-select-refuses): what they say when they are
// used wrongly, in the history, and to those who look.
import { defaultPayloadConverter } from "../../ts/converter/payload.ts";
import {
  noreply,
  on,
  parallel,
  receive,
  select,
  shield,
  signal,
  sleep,
  stop,
  timer,
  workflow,
} from "../../ts/workflow/mod.ts";
import { deepEqual, equal, match } from "./assert.ts";
import type { Case } from "./case.ts";
import { drive } from "./driver.ts";
import { a, acts, ask, led, task } from "./select_support.ts";

/** What a misuse says: the message with which the first task fails. */
async function refusal(run: () => Promise<unknown>): Promise<string> {
  const d = await drive(workflow("W", async () => {
    try {
      return await run();
    } catch {
      return "swallowed";
    }
  }));
  await d.task();
  equal(d.server.closed, undefined, "nothing swallows it");
  return d.server.taskFailure?.failure.message ?? "it was not refused";
}

function heads({ value }: { value?: unknown }): string[] {
  return (value as string).split("\n\n").map((block) => block.split("\n")[0]!).sort();
}

export const cases: Case[] = [
  {
    name: "misuse fails the task and says what to do",
    async run() {
      const wrong = async (arms: () => unknown, pattern: RegExp) =>
        match(await refusal(() => select(arms() as never)), pattern);
      await wrong(() => [], /select has no arms, so it would never return/);
      await wrong(() => timer("1h", () => 1), /select needs an array/);
      await wrong(
        () => [on(a, () => 1), on(ask, () => stop(1, 1))],
        /arm 2 of select is update "ask"; an update needs a response/,
      );
      await wrong(
        () => [sleep(1)],
        /arm 1 of select is a promise without a body: write on\(promise/,
      );
      await wrong(() => [timer("x", "1h")], /arm 1 of select is a promise/);
      await wrong(
        () => [a],
        /arm 1 of select is object; create arms with on\(\.\.\.\) and timer\(\.\.\.\)/,
      );
      await wrong(() => [undefined], /arm 1 of select is undefined/);
      // deno-lint-ignore no-sparse-arrays -- a hole is what is tested
      await wrong(() => [timer(1, () => 2), , timer(2, () => 3)], /arm 2 of select is undefined/);
      await wrong(
        () => [on(a, () => 1), timer(1, () => 2), on(signal("a"), () => 3)],
        /arm 3 of select is for signal "a", like an earlier arm/,
      );
      match(
        await refusal(() => receive(0, [timer(1, () => noreply(1))] as never)),
        /receive accepts on\(signal, \.\.\.\)/,
      );
      match(
        await refusal(() => receive(0, [undefined] as never)),
        /receive accepts on\(signal, \.\.\.\)/,
      );
      match(
        await refusal(() => receive(0, new Array(1) as never)),
        /receive accepts on\(signal, \.\.\.\)/,
      );
      match(
        await refusal(() => select([on(() => noreply(1) as never, () => 1)])),
        /arm 1 of select in run of workflow "W" returned a noreply result/,
      );
      match(
        await refusal(() => select([on(() => receive(0, []), () => 1)])),
        /receive cannot be used in an arm of select \(arm 1 of select in run of workflow "W"\)/,
      );
      match(
        await refusal(() => select([on(new Promise(() => {}), () => 1)])),
        /DEADLOCK: .*its last call: select/,
      );
    },
  },
  {
    name:
      "parallel and shield take functions only: a promise, a hole or another value fails the task",
    async run() {
      const wrong = async (branches: () => unknown, pattern: RegExp) =>
        match(await refusal(() => parallel(branches() as never)), pattern);
      await wrong(
        () => [() => 1, sleep(1)],
        /branch 2 of parallel is a promise, not a function: write \(\) => before the call/,
      );
      await wrong(() => new Array(2), /branch 1 of parallel is undefined, not a function/);
      await wrong(() => [null], /branch 1 of parallel is null, not a function/);
      await wrong(() => () => 1, /parallel needs an array of functions/);
      match(
        await refusal(() => shield(sleep(1) as never)),
        /the argument of shield is a promise, not a function/,
      );
      match(
        await refusal(() => shield(undefined as never)),
        /the argument of shield is undefined, not a function/,
      );
    },
  },
  {
    name: "what on and timer refuse at once",
    async run() {
      const seen: string[] = [];
      const w = workflow("W", async () => {
        seen.length = 0;
        const wrong: (() => unknown)[] = [
          () => on(undefined as never, () => 1),
          () => on({} as never, () => 1),
          () => on(a, undefined as never),
          () => timer(5 as never, 5),
          () => timer("", "1s"),
          () => timer("x", "soon"),
          () => timer("soon", () => 1),
          () => timer(-1, () => 1),
          () => timer("x", "1s", 5 as never),
        ];
        for (const call of wrong) {
          try {
            await call();
            seen.push("nothing");
          } catch (e) {
            seen.push((e as Error).name);
          }
        }
        await timer("no time", 0);
      });
      await led(w, []);
      const [type, range] = ["TypeError", "RangeError"];
      deepEqual(seen, [type, type, type, type, type, range, range, range, type]);
    },
  },
  {
    name: "a timer's name is its summary in the history, and what a stack trace shows",
    async run() {
      const w = workflow("W", async () => {
        await timer("nap", "1s");
        const rest = timer("rest", "2h");
        await select([
          timer("expire", "60s", () => 1),
          timer("1m", () => 2),
          on(a, () => 3),
          on(rest, () => 4),
          on(() => acts.work(1), () => 5),
        ]);
      });
      const d = await drive(w);
      await task(d);
      deepEqual(heads(await d.query("__stack_trace")), ['run of workflow "W": timer "nap"']);
      d.server.fireTimer("1");
      await task(d);
      deepEqual(heads(await d.query("__stack_trace")), [
        'arm 5 of select in run of workflow "W": activity "work"',
        'run of workflow "W": select (timer "expire", timer, signal "a", promise, function)',
        'run of workflow "W": timer "rest"',
      ]);
      const metadata = (await d.query("__temporal_workflow_metadata")).value as {
        definition: { signalDefinitions: { name: string }[] };
      };
      deepEqual(metadata.definition.signalDefinitions, [{ name: "a" }]);
      const summaries = d.live.flatMap(({ commands }) => commands).map(({ attributes }) =>
        attributes
      );
      for (const name of ["nap", "rest", "expire"]) {
        const wanted = [...defaultPayloadConverter.toPayload(name)!.data].join();
        equal(
          summaries.some((bytes) => [...bytes].join().includes(wanted)),
          true,
          `${name} is in its command`,
        );
      }
      d.server.signal("a", 1);
      await task(d);
      equal(await d.finish(), undefined);
    },
  },
];
