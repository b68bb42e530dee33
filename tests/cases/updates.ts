// Updates: when they are taken and validated, in which order they are handled, and who owns the
// reducer state (docs/dev/semantics/messages.md).
import {
  ApplicationFailure,
  continueAsNew,
  on,
  publishState,
  receive,
  reply,
  sleep,
  spawnAsync,
  stop,
  update,
  updateState,
  workflow,
} from "../../ts/workflow/mod.ts";
import { deepEqual, equal, match } from "./assert.ts";
import type { Case } from "./case.ts";
import { drive } from "./driver.ts";
import { acts, add, end, loop, note, quick, slow } from "./update_support.ts";

export const cases: Case[] = [
  {
    name:
      "an update that comes with the end of a run that continues as new is left to the next run, not rejected",
    async run() {
      const w = workflow("W", async () => {
        await sleep(1);
        return continueAsNew();
      });
      const d = await drive(w);
      await d.task();
      d.server.fireTimer("1");
      const sent = d.server.update("u", "add", 1);
      await d.task();
      equal(d.server.closed?.kind, "continued");
      equal(sent.stage, "sent");
    },
  },
  {
    name:
      "an update that comes while a sync handler is blocked is validated at once, accepted and queued in order",
    async run() {
      const d = await drive(loop);
      const first = d.server.update("u1", "slow", 1);
      await d.task();
      equal(first.stage, "accepted");
      const second = d.server.update("u2", "add", 2);
      const refused = d.server.update("u3", "add", 50);
      const third = d.server.update("u4", "add", 3);
      await d.task();
      deepEqual(d.commands(), ["UPDATE_RESPONSE", "UPDATE_RESPONSE", "UPDATE_RESPONSE"]);
      deepEqual([second.stage, refused.stage, third.stage], ["accepted", "rejected", "accepted"]);
      d.server.completeActivity("1", 1);
      await d.task();
      deepEqual([first.result, second.result, third.result], ["made 1", 3, 6]);
      d.server.signal("end");
      await d.task();
      deepEqual(await d.auto(), { sum: 6, seen: ["slow 1", "add 2", "add 3", "end"] });
    },
  },
  {
    name:
      "with two validated updates queued, the second validator sees the state as it is, not as it will be",
    async run() {
      const d = await drive(loop);
      d.server.update("u1", "slow", 1);
      await d.task();
      const second = d.server.update("u2", "add", 8);
      const third = d.server.update("u3", "add", 8);
      await d.task();
      deepEqual([second.stage, third.stage], ["accepted", "accepted"]);
      d.server.completeActivity("1", 1);
      await d.task();
      deepEqual([second.result, third.result], [9, 17]);
    },
  },
  {
    name: "acceptance comes right after the validator and before anything that the handler causes",
    async run() {
      const d = await drive(loop);
      d.server.update("u1", "slow", 1);
      await d.task();
      deepEqual(d.commands(), ["UPDATE_RESPONSE", "SCHEDULE_ACTIVITY 1"]);
    },
  },
  {
    name: "updates accepted before a stop are handled, in order, before receive returns",
    async run() {
      const stopper = update<[], string>("stopper");
      const w = workflow("W", () =>
        receive([] as string[], [
          on(stopper, async (_, s) => {
            await acts.work(0);
            return stop([...s, "stopped"], "bye");
          }),
          on(quick, (_, s) => reply("ok", [...s, "quick"])),
        ]));
      const d = await drive(w);
      d.server.update("u1", "stopper");
      await d.task();
      const second = d.server.update("u2", "quick");
      const third = d.server.update("u3", "quick");
      await d.task();
      d.server.completeActivity("1");
      await d.task();
      deepEqual([second.result, third.result], ["ok", "ok"]);
      deepEqual(await d.finish(), ["stopped", "quick", "quick"]);
    },
  },
  {
    name: "an update that comes while a stopped receive drains is rejected",
    async run() {
      const w = workflow("W", () =>
        receive(0, [
          on(slow, (_, s) => spawnAsync(async () => String(await acts.work(1)), s)),
          on(quick, (_, s) => reply("ok", s)),
          on(end, (_, s) => stop(s)),
        ]));
      const d = await drive(w);
      const first = d.server.update("u1", "slow", 1);
      await d.task();
      d.server.signal("end");
      await d.task();
      const late = d.server.update("u2", "quick");
      await d.task();
      equal(late.stage, "rejected");
      match(
        late.failure!.message,
        /^update "quick" is not accepted: at this point the workflow accepts no updates/,
      );
      d.server.completeActivity("1", 7);
      await d.task();
      equal(first.result, "7");
      equal(await d.finish(), 0);
    },
  },
  {
    name: "handlers, validators and queries get an array; run gets its arguments",
    async run() {
      const seen: unknown[] = [];
      const two = update<[number, string], number>("two");
      const w = workflow("W", {
        queries: { q: (published: unknown, ...args: unknown[]) => [published, ...args] },
        run: async (a: number, b: string) => {
          publishState("p");
          seen.push(["run", a, b]);
          return await receive(0, [
            on(two, (args, s) => {
              seen.push(["handler", args]);
              return stop(s, args.length);
            }, { validate: (args) => void seen.push(["validator", [...args]]) }),
          ]);
        },
      });
      const d = await drive(w, { args: [1, "x"] });
      const u = d.server.update("u", "two", 5, "five");
      await d.task({ queries: { q: { type: "q", args: ["a", "b"] } } });
      deepEqual(seen, [["run", 1, "x"], ["validator", [5, "five"]], ["handler", [5, "five"]]]);
      deepEqual(d.server.queryAnswers["q"]!.value, ["p", "a", "b"]);
      equal(u.result, 2);
    },
  },
  {
    name: "the state given to spawnAsync is the new reducer state",
    async run() {
      const w = workflow("W", () =>
        receive(1, [
          on(slow, ([n], s) => spawnAsync(async () => String(await acts.work(n)), s + 10)),
          on(add, (_, s) => reply(s, s)),
          on(end, (_, s) => stop(s)),
        ]));
      const d = await drive(w);
      d.server.update("u1", "slow", 1);
      const read = d.server.update("u2", "add", 0);
      await d.task();
      equal(read.result, 11);
    },
  },
  {
    name: "a running sync handler owns the reducer: updateState waits until it returns",
    async run() {
      const w = workflow("W", () =>
        receive([] as string[], [
          on(note, ([text], s) =>
            spawnAsync(async () => {
              await acts.work(1);
              await updateState((now: string[]) => [undefined, [...now, `async ${text}`]]);
            }, s)),
          on(slow, async ([n], s) => {
            await acts.work(n);
            return reply("ok", [...s, "sync"]);
          }),
          on(end, (_, s) => stop(s)),
        ]));
      const d = await drive(w);
      d.server.signal("note", "a");
      d.server.update("u", "slow", 2);
      await d.task();
      d.server.completeActivity("1"); // the async handler asks for the state now
      await d.task();
      d.server.completeActivity("2"); // the sync handler returns
      await d.task();
      d.server.signal("end");
      await d.task();
      deepEqual(await d.finish(), ["sync", "async a"]);
    },
  },
  {
    name: "updateState gives the result of the change, and its failure to the caller",
    async run() {
      const w = workflow("W", () =>
        receive(1, [
          on(add, ([n], s) =>
            spawnAsync(async (change) => {
              try {
                await change(() => {
                  throw new ApplicationFailure("no change");
                });
              } catch {
                // the state is as it was
              }
              return await updateState((now: number) => [now, now + n]);
            }, s)),
          on(end, (_, s) => stop(s)),
        ]));
      const d = await drive(w);
      const u = d.server.update("u", "add", 4);
      await d.task();
      d.server.signal("end");
      await d.task();
      equal(u.result, 1);
      equal(await d.finish(), 5);
    },
  },
  {
    name: "update-with-start: an update of the first task reaches the receive that run enters",
    async run() {
      const d = await drive(loop);
      const u = d.server.update("u", "add", 3);
      await d.task();
      equal(u.result, 3);
    },
  },
  {
    name: "a second stop while stopping is applied as a state change, and replies",
    async run() {
      const halt = update<[string], string>("halt");
      const w = workflow("W", () =>
        receive([] as string[], [
          on(halt, async ([name], s) => {
            if (name === "a") await acts.work(1);
            return stop([...s, name], `halted ${name}`);
          }),
        ]));
      const d = await drive(w);
      const a = d.server.update("u1", "halt", "a");
      await d.task();
      const b = d.server.update("u2", "halt", "b");
      await d.task();
      d.server.completeActivity("1");
      await d.task();
      deepEqual([a.result, b.result], ["halted a", "halted b"]);
      deepEqual(await d.finish(), ["a", "b"]);
    },
  },
  {
    name:
      "validators see a read-only view; writing through it fails the update's task and not the state",
    async run() {
      const w = workflow("W", () =>
        receive({ list: [1] }, [
          on(add, ([n], s) => reply(s.list.length, { list: [...s.list, n] }), {
            validate: ([n], s) => {
              if (n === 0) (s as { list: number[] }).list.push(9);
            },
          }),
          on(end, (_, s) => stop(s)),
        ]));
      const d = await drive(w);
      const written = d.server.update("u1", "add", 0);
      await d.task();
      equal(d.server.taskFailure, undefined);
      match(
        written.failure!.message,
        /^state\.list\[1\] was written: validators and queries must not change the state; they get a read-only view/,
      );
      const good = d.server.update("u2", "add", 5);
      await d.task();
      equal(good.result, 1);
      d.server.signal("end");
      await d.task();
      deepEqual(await d.finish(), { list: [1, 5] });
    },
  },
  {
    name: "the update of a validator that returns a promise, or calls the API, is rejected",
    async run() {
      // deno-lint-ignore no-explicit-any
      const asynchronous = (async () => {}) as any;
      const one = await drive(
        workflow(
          "W",
          () => receive(0, [on(add, (_, s) => reply(0, s), { validate: asynchronous })]),
        ),
      );
      const promised = one.server.update("u", "add", 1);
      await one.task();
      equal(one.server.taskFailure, undefined);
      match(promised.failure!.message, /the validator of update "add" returned a promise/);
      const two = await drive(
        workflow(
          "W",
          () =>
            receive(0, [on(add, (_, s) => reply(0, s), { validate: () => void publishState(1) })]),
        ),
      );
      const called = two.server.update("u", "add", 1);
      await two.task();
      equal(two.server.taskFailure, undefined);
      match(called.failure!.message, /publishState was called in a validator/);
    },
  },
  {
    name: "validators are not run on replay, and commands come in the same order",
    async run() {
      let validations = 0;
      const w = workflow("W", () =>
        receive(0, [
          on(add, ([n], s) => reply(s, s + n), {
            validate: () => {
              validations++;
            },
          }),
          on(end, (_, s) => stop(s)),
        ]));
      const d = await drive(w, { cached: false });
      d.server.update("u1", "add", 1);
      await d.task();
      d.server.update("u2", "add", 2);
      await d.task();
      d.server.signal("end");
      await d.task();
      equal(validations, 2);
      equal(await d.finish(), 3);
      equal(validations, 2);
    },
  },
];
