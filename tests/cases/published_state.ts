// Published state, and the queries that read it (docs/dev/semantics/messages.md).
import {
  on,
  publishState,
  query,
  receive,
  signal,
  sleep,
  spawnAsync,
  stop,
  updateState,
  workflow,
} from "../../ts/workflow/mod.ts";
import { fromBinary } from "@bufbuild/protobuf";
import { RespondQueryTaskCompletedRequestSchema } from "../../ts/messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { deepEqual, equal, match, ok } from "./assert.ts";
import type { Case } from "./case.ts";
import { drive } from "./driver.ts";

const go = signal<[number]>("go");
const end = signal("end");

export const cases: Case[] = [
  {
    name: "before the first publish the state is undefined; an unknown query fails",
    async run() {
      const w = workflow("W", {
        queries: {
          value: (published: unknown) => published === undefined ? "nothing yet" : published,
        },
        run: async () => {
          await sleep(1);
          publishState(7);
          await sleep(1);
        },
      });
      for (const cached of [true, false]) {
        const d = await drive(w, { cached });
        await d.task();
        deepEqual(await d.query("value"), { ok: true, value: "nothing yet", message: "" });
        const unknown = await d.query("nope");
        equal(unknown.ok, false);
        const { response } = d.outcomes.at(-1)!;
        const { failure } = fromBinary(
          RespondQueryTaskCompletedRequestSchema,
          response!.value as Uint8Array,
        );
        const info = failure?.failureInfo;
        ok(info?.case === "applicationFailureInfo");
        deepEqual([info.value.type, info.value.nonRetryable], ["UnknownQuery", true]);
        match(unknown.message, /^Unknown query "nope"; workflow "W" has value/);
        d.server.fireTimer("1");
        await d.task({
          queries: { a: { type: "value", args: [] }, b: { type: "nope", args: [] } },
        });
        deepEqual([d.server.queryAnswers["a"]!.value, d.server.queryAnswers["b"]!.ok], [7, false]);
        d.server.fireTimer("2");
        await d.task();
        equal((await d.query("value")).value, 7, "also when the run is closed");
      }
    },
  },
  {
    name: "publishState in an updateState function is allowed; in queries it fails the query",
    async run() {
      const w = workflow("W", {
        queries: {
          value: (p: unknown) => p,
          bad: () => publishState(1),
          worse: () => sleep(1),
          late: async () => 1,
        },
        run: () =>
          receive(0, [
            on(go, ([n], s) =>
              spawnAsync(async (change) => {
                await change((now) => {
                  publishState({ sum: now + n });
                  return [undefined, now + n];
                });
              }, s)),
            on(end, (_, s) => stop(s)),
          ]),
      });
      const d = await drive(w);
      d.server.signal("go", 3);
      await d.task();
      deepEqual((await d.query("value")).value, { sum: 3 });
      match((await d.query("bad")).message, /publishState was called in a query handler/);
      match((await d.query("worse")).message, /sleep was called in a query handler/);
      match((await d.query("late")).message, /the handler of query "late" returned a promise/);
      d.server.signal("end");
      await d.task();
      equal(await d.finish(), 3);
    },
  },
  {
    name: "other API calls in an updateState function fail the task",
    async run() {
      const w = workflow(
        "W",
        () =>
          receive(0, [on(go, (_, s) =>
            spawnAsync(() =>
              updateState((now: number) => {
                void sleep(1);
                return [0, now];
              }), s))]),
      );
      const d = await drive(w);
      d.server.signal("go", 3);
      await d.task();
      match(
        d.server.taskFailure!.failure.message,
        /sleep was called in the function of updateState/,
      );
    },
  },
  {
    name: "publishState copies the value at the call, and queries cannot change it",
    async run() {
      const w = workflow("W", {
        queries: {
          value: (p: { list: number[] }) => p,
          spoil: (p: { list: number[] }) => p.list.push(9),
        },
        run: async () => {
          const state = { list: [1] };
          publishState(state);
          state.list.push(2);
          await sleep(1);
        },
      });
      const d = await drive(w);
      await d.task();
      match((await d.query("spoil")).message, /read-only view/);
      deepEqual((await d.query("value")).value, { list: [1] });
    },
  },
  {
    name:
      "query handlers get (published, ...args); the messages' queries need handlers at run time as well",
    async run() {
      const pick = query<number, [at: number]>("pick");
      const w = workflow("W", {
        messages: { pick },
        queries: { pick: (list: number[], at: number) => list[at]! },
        run: async () => {
          publishState([5, 6, 7]);
          await sleep(1);
        },
      });
      const d = await drive(w);
      await d.task();
      equal((await d.query("pick", 2)).value, 7);
    },
  },
];
