// Failures (docs/dev/semantics/errors.md#what-fails-the-workflow-and-what-fails-its-task),
// published state, queries, and values that history remembers (docs/dev/semantics/values.md).
import {
  activities,
  ApplicationFailure,
  continueAsNew,
  continueAsNewWith,
  deprecatePatch,
  log,
  noreply,
  now,
  on,
  patched,
  publishState,
  query,
  random,
  receive,
  reply,
  sideEffect,
  signal,
  sleep,
  spawnAsync,
  stop,
  update,
  updateState,
  uuid4,
  waitForSignal,
  workflow,
  workflowInfo,
} from "../../ts/workflow/mod.ts";
import { create } from "@bufbuild/protobuf";
import { PayloadSchema } from "../../ts/api/generated/temporal/api/common/v1/message_pb.ts";
import { BUFFERED_SIGNALS_HEADER } from "../../ts/executor/scheduler/next_run_headers.ts";
import { defaultPayloadConverter, type Payload } from "../../ts/converter/payload.ts";
import { deepEqual, equal, match, ok } from "./assert.ts";
import type { Case } from "./case.ts";
import { drive } from "./driver.ts";

const acts = activities<{ work(x: number): number }>();
const go = signal<[number]>("go");
const end = signal("end");

/** What a run that throws this does: "workflow" or "task", and the type it reports. */
async function fate(thrown: () => unknown): Promise<string> {
  const d = await drive(workflow("W", async () => {
    await null;
    throw thrown();
  }));
  await d.task();
  if (d.server.closed !== undefined) return `workflow ${d.server.closed.kind}: ${d.server.closed.failure?.message}`;
  return `task: ${d.server.taskFailure?.failure.message}`;
}

export const cases: Case[] = [
  {
    name: "Temporal failures fail the workflow; bugs and misuse fail its task",
    async run() {
      equal(await fate(() => new ApplicationFailure("no")), "workflow failed: no");
      equal(await fate(() => new TypeError("a bug")), "task: a bug");
      match(
        await fate(() => "a string"),
        /^task: workflow "W" threw the string "a string", which is not an Error; throw an ApplicationFailure/,
      );
      match(await fate(() => ({ odd: 1 })), /^task: workflow "W" threw object \{"odd":1\}/);
      match(await fate(() => undefined), /^task: workflow "W" threw undefined/);
    },
  },
  {
    name: "a task that failed is tried again, and completes with mended code",
    async run() {
      let mended = false;
      const d = await drive(workflow("W", async () => {
        await sleep(1);
        if (!mended) throw new TypeError("a bug");
        return "mended";
      }));
      await d.task();
      d.server.fireTimer("1");
      await d.task();
      equal(d.server.taskFailure?.failure.message, "a bug");
      mended = true;
      await d.task();
      equal(await d.finish(), "mended");
    },
  },
  {
    name: "signals still buffered at continue-as-new travel in a header and come first in the new run, in order (P4)",
    async run() {
      const w = workflow("W", async (generation: number) => {
        if (generation === 1) {
          return await receive([] as unknown[], [
            on(go, ([n], s) => noreply([...s, n])),
            on(end, (_, s) => stop(s)),
          ]);
        }
        await sleep(1);
        return continueAsNew(generation + 1);
      });
      const d = await drive(w, { args: [0] });
      await d.task();
      d.server.signal("go", 1);
      d.server.signal("end");
      d.server.signal("go", 2);
      d.server.fireTimer("1");
      await d.task();
      await d.finish();
      const next = d.server.closed!.next!;
      deepEqual([next.args, Object.keys(next.headers)], [[1], [BUFFERED_SIGNALS_HEADER]]);
      equal(d.logs.length, 0, "nothing is lost, so nothing is warned of");
      const second = await drive(w, { args: [1], headers: next.headers, runId: "99999999-2222-4333-8444-555555555555" });
      second.server.signal("go", 3);
      await second.task();
      deepEqual(await second.finish(), [1]);
      match(second.logs[0]!.message, /ended with 2 unprocessed signals: go/);
    },
  },
  {
    name: "with nothing buffered there is no header, and a carried one is not passed on",
    async run() {
      const w = workflow("W", async (n: number) => {
        if (n === 0) return continueAsNew(1);
        await waitForSignal(go);
        return continueAsNew(2);
      });
      const d = await drive(w, { args: [0] });
      d.server.signal("go", 1);
      await d.task();
      const { headers } = d.server.closed!.next!;
      deepEqual(Object.keys(headers), [BUFFERED_SIGNALS_HEADER]);
      const second = await drive(w, { args: [1], headers });
      await second.task();
      deepEqual(second.server.closed!.next!.headers, {});
      await second.finish();
    },
  },
  {
    name:
      "P3 headers of the start go on to every activity and to the next run, the same on replay, and the buffered signals' only to it",
    async run() {
      const w = workflow("W", async (n: number) => {
        await acts.work(n);
        if (n === 1) return continueAsNew(2);
        return n;
      });
      const header = (value: unknown) => create(PayloadSchema, defaultPayloadConverter.toPayload(value));
      const headers = {
        "_tracer-data": header({ traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" }),
        tenant: header("acme"),
      };
      const read = (fields: { readonly [name: string]: Payload } | undefined) =>
        Object.fromEntries(
          Object.entries(fields ?? {}).map(([name, payload]) => [name, defaultPayloadConverter.fromPayload(payload)]),
        );
      const d = await drive(w, { args: [1], headers });
      d.server.signal("go", 1);
      await d.task();
      const scheduled = d.server.events.find((event) => event.attributes.case === "activityTaskScheduledEventAttributes")!;
      const sent = (scheduled.attributes.value as { header?: { fields: { [name: string]: Payload } } }).header?.fields;
      deepEqual(read(sent), read(headers));
      d.server.completeActivity("1", 2);
      await d.task();
      // `finish` replays every prefix and compares the commands byte for byte.
      await d.finish();
      const next = d.server.closed!.next!.headers;
      deepEqual(Object.keys(next).sort(), ["_tracer-data", "tenant", BUFFERED_SIGNALS_HEADER].sort());
      const second = await drive(w, { args: [2], headers: next, runId: "99999999-2222-4333-8444-555555555555" });
      await second.task();
      const again = second.server.events.find((event) => event.attributes.case === "activityTaskScheduledEventAttributes")!;
      const carried = (again.attributes.value as { header?: { fields: { [name: string]: Payload } } }).header?.fields;
      deepEqual(read(carried), read(headers));
      second.server.completeActivity("1", 2);
      await second.task();
      await second.finish();
    },
  },
  {
    name: "beyond 256 KiB the task fails rather than a signal being dropped",
    async run() {
      const d = await drive(workflow("W", async () => continueAsNew()));
      for (let i = 0; i < 3; i++) d.server.signal("big", "x".repeat(80_000));
      await d.task();
      match(
        d.server.taskFailure!.failure.message,
        /3 signals that nothing has received \(\d+ bytes\) do not fit into the 262144 bytes/,
      );
    },
  },
  {
    name: "at completion the names of unprocessed signals are warned of",
    async run() {
      const d = await drive(workflow("W", async () => "done"));
      d.server.signal("x", 1);
      d.server.signal("y", 1);
      d.server.signal("x", 2);
      await d.task();
      equal(await d.finish(), "done");
      deepEqual(d.logs.map((l) => [l.level, l.source, l.message]), [
        ["warn", "executor", "the workflow ended with 3 unprocessed signals: x, y"],
      ]);
    },
  },
  {
    name: "before the first publish the state is undefined; an unknown query fails",
    async run() {
      const w = workflow("W", {
        queries: { value: (published: unknown) => published === undefined ? "nothing yet" : published },
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
        match(unknown.message, /^Unknown query "nope"; workflow "W" answers value/);
        d.server.fireTimer("1");
        await d.task({ queries: { a: { type: "value", args: [] }, b: { type: "nope", args: [] } } });
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
        queries: { value: (p: unknown) => p, bad: () => publishState(1), worse: () => sleep(1), late: async () => 1 },
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
      const w = workflow("W", () =>
        receive(0, [on(go, (_, s) =>
          spawnAsync(() =>
            updateState((now: number) => {
              void sleep(1);
              return [0, now];
            }), s))]));
      const d = await drive(w);
      d.server.signal("go", 3);
      await d.task();
      match(d.server.taskFailure!.failure.message, /sleep was called in the function of updateState/);
    },
  },
  {
    name: "publishState takes the value as it is at the call, and queries cannot change it",
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
    name: "sleep: 0 has no timer, fractions are rounded up, negative and NaN throw a RangeError",
    async run() {
      const errors: string[] = [];
      const w = workflow("W", async () => {
        await sleep(0);
        for (const bad of [-1, NaN, Infinity, "soon"]) {
          try {
            await sleep(bad);
          } catch (e) {
            errors.push((e as Error).name);
          }
        }
        await sleep(1.2);
        await sleep("1.5s", { summary: "a nap" });
      });
      const d = await drive(w);
      await d.auto();
      deepEqual(errors.slice(0, 4), ["RangeError", "RangeError", "RangeError", "RangeError"]);
      const started = d.server.events.flatMap((e) =>
        e.attributes.case === "timerStartedEventAttributes" ? [e.attributes.value] : []
      );
      deepEqual(started.map((t) => [Number(t.startToFireTimeout!.seconds), t.startToFireTimeout!.nanos]), [[0, 2e6], [1, 5e8]]);
    },
  },
  {
    name: "activity defaults: start to close 30 s, nothing else; options and overrides on the wire",
    async run() {
      const full = activities<{ pay(): void }>({
        prefix: "shop.",
        startToClose: "1m",
        scheduleToClose: "10m",
        scheduleToStart: "5m",
        heartbeat: "5s",
        retry: {
          initialInterval: "2s",
          backoffCoefficient: 3,
          maximumInterval: "1m",
          maximumAttempts: 5,
          nonRetryableErrorTypes: ["Bad"],
        },
        taskQueue: "other",
      });
      const w = workflow("W", async () => {
        await acts.work(1);
        await full.pay();
        await full.pay.with({ startToClose: 500, activityId: "mine", summary: "paying" })();
        await acts.work.with({ scheduleToClose: "1h" })(2);
      });
      const d = await drive(w);
      await d.auto({ work: () => 0, "shop.pay": () => undefined });
      const scheduled = d.server.events.flatMap((e) =>
        e.attributes.case === "activityTaskScheduledEventAttributes" ? [e.attributes.value] : []
      );
      const seconds = (x: { seconds: bigint; nanos: number } | undefined) =>
        x === undefined ? 0 : Number(x.seconds) + x.nanos / 1e9;
      deepEqual(
        scheduled.map((a) => [
          a.activityId,
          a.activityType!.name,
          a.taskQueue?.name,
          seconds(a.startToCloseTimeout),
          seconds(a.scheduleToCloseTimeout),
          seconds(a.scheduleToStartTimeout),
          seconds(a.heartbeatTimeout),
          a.retryPolicy?.maximumAttempts ?? 0,
        ]),
        [
          ["1", "work", "q", 30, 0, 0, 0, 0],
          ["2", "shop.pay", "other", 60, 600, 300, 5, 5],
          ["mine", "shop.pay", "other", 0.5, 600, 300, 5, 5],
          ["4", "work", "q", 30, 3600, 0, 0, 0],
        ],
      );
      const retry = scheduled[1]!.retryPolicy!;
      deepEqual([
        seconds(retry.initialInterval),
        retry.backoffCoefficient,
        seconds(retry.maximumInterval),
        retry.nonRetryableErrorTypes,
      ], [
        2,
        3,
        60,
        ["Bad"],
      ]);
    },
  },
  {
    name: "now, random and uuid4 are the same on replay, and now moves with the tasks",
    async run() {
      const w = workflow("W", async () => {
        const first = [now(), random(), uuid4()];
        await sleep("1s");
        return [first, [now(), random(), uuid4()]];
      });
      const d = await drive(w);
      const [a, b] = await d.auto() as [[number, number, string], [number, number, string]];
      equal(b[0] - a[0], 1000);
      ok(a[1] >= 0 && a[1] < 1 && a[1] !== b[1]);
      match(a[2], /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      const other = await drive(w, { runId: "00000000-2222-4333-8444-555555555555" });
      const [c] = await other.auto() as [[number, number, string]];
      ok(c[1] !== a[1] && c[2] !== a[2]);
    },
  },
  {
    name: "continueAsNew in handlers and branches is refused; with options it may name another type and queue",
    async run() {
      const w = workflow(
        "W",
        async () =>
          continueAsNewWith({ workflowType: "Next", taskQueue: "q2", runTimeout: "1h", memo: { why: "growth" } }, 1, "two"),
      );
      const d = await drive(w);
      await d.task();
      await d.finish();
      deepEqual([d.server.closed!.next!.args, d.server.closed!.next!.workflowType], [[1, "two"], "Next"]);
      const event = d.server.events.at(-1)!.attributes;
      ok(event.case === "workflowExecutionContinuedAsNewEventAttributes");
      deepEqual([event.value.taskQueue?.name, Number(event.value.workflowRunTimeout?.seconds)], ["q2", 3600]);
    },
  },
  {
    name: "query handlers get (published, ...args); the messages' queries need handlers at run time as well",
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
  {
    name: "sideEffect: a throw, a promise or an API call in it fails the task",
    async run() {
      const failure = async (fn: () => unknown) => {
        const d = await drive(workflow("W", async () => {
          try {
            sideEffect(fn as () => number);
          } catch {
            // it does not help
          }
        }));
        await d.task();
        return d.server.taskFailure?.failure.message ?? "";
      };
      equal(
        await failure(() => {
          throw new Error("broken");
        }),
        "broken",
      );
      match(await failure(async () => 1), /returned a promise; use an activity/);
      match(await failure(() => random()), /random was called in the function of sideEffect/);
    },
  },
  {
    name: "patched: true live, false for histories without it, remembered only when true",
    async run() {
      let version = 1;
      const w = workflow("W", async () => {
        const seen: boolean[] = [];
        if (version > 1) seen.push(patched("p"));
        await sleep(1);
        if (version > 1) seen.push(patched("p"));
        return seen;
      });
      const old = await drive(w, { cached: false });
      await old.task();
      version = 2;
      old.server.fireTimer("1");
      await old.task();
      // Replaying the first task answers false; the second is live and answers true.
      deepEqual(old.server.closed?.result, [false, true]);
      equal((await old.replay()).verdict, "ok");
      const fresh = await drive(w);
      await fresh.task();
      deepEqual(fresh.commands(), ["SET_PATCH_MARKER", "START_TIMER 1"]);
      fresh.server.fireTimer("1");
      await fresh.task();
      deepEqual(await fresh.finish(), [true, true]);
    },
  },
  {
    name: "deprecatePatch: histories with and without the marker replay",
    async run() {
      let code = (): unknown => patched("p");
      const w = workflow("W", async () => {
        code();
        await sleep(1);
        return "done";
      });
      const d = await drive(w);
      await d.auto();
      code = () => deprecatePatch("p");
      equal((await d.replay()).verdict, "ok");
      code = () => undefined;
      const removed = await d.replay();
      equal(removed.verdict, "nondeterminism");
      const bare = await drive(w);
      await bare.auto();
      code = () => deprecatePatch("p");
      equal((await bare.replay()).verdict, "ok");
    },
  },
  {
    name: "workflowInfo tells the run's facts, memo included",
    async run() {
      const w = workflow("W", async () => {
        const i = workflowInfo();
        const first = i.historyLength;
        await sleep(1);
        return {
          ids: [i.workflowType, i.workflowId, i.runId, i.firstExecutionRunId, i.continuedFromRunId, i.namespace, i.taskQueue],
          numbers: [i.attempt, first, workflowInfo().historyLength, i.taskTimeoutMs, i.runTimeoutMs],
          memo: i.memo,
          rest: [
            i.continueAsNewSuggested,
            i.cancelReason === undefined,
            i.parent === undefined,
            i.cronSchedule,
            i.historySizeBytes > 0,
          ],
        };
      });
      const d = await drive(w, { memo: { team: "blue" } });
      const id = d.server.runId;
      deepEqual(await d.auto(), {
        ids: ["W", "wf", id, id, "", "default", "q"],
        numbers: [1, 3, 8, 10000, 0],
        memo: { team: "blue" },
        rest: [false, true, true, "", true],
      });
    },
  },
  {
    name: "log is structured, silent on replay, and knows the run",
    async run() {
      const w = workflow("W", async () => {
        log.info("one", { n: 1 });
        await sleep(1);
        log.debug("two");
        log.warn("three");
        log.error("four");
      });
      const d = await drive(w, { cached: false });
      await d.auto();
      deepEqual(d.logs.map((l) => [l.level, l.message, l.fields, l.source, l.workflowType, l.workflowId]), [
        ["info", "one", { n: 1 }, "workflow", "W", "wf"],
        ["debug", "two", {}, "workflow", "W", "wf"],
        ["warn", "three", {}, "workflow", "W", "wf"],
        ["error", "four", {}, "workflow", "W", "wf"],
      ]);
    },
  },
  {
    name: "payloads that do not decode: arguments and signals fail the task, updates are rejected, queries fail",
    async run() {
      const broken = create(PayloadSchema, {
        metadata: { encoding: new TextEncoder().encode("binary/encrypted") },
        data: new Uint8Array([1]),
      });
      const ask = update<[number], number>("ask");
      const w = workflow("W", () => receive(0, [on(go, (_, s) => noreply(s)), on(ask, (_, s) => reply(1, s))]));
      const spoil = (d: Awaited<ReturnType<typeof drive>>) => {
        const attributes = d.server.events.at(-1)!.attributes as { value: { input: { payloads: unknown[] } } };
        attributes.value.input.payloads = [broken];
      };
      const d = await drive(w);
      d.server.signal("go", 1);
      spoil(d);
      await d.task();
      match(
        d.server.taskFailure!.failure.message,
        /encoding "binary\/encrypted", which this converter does not read; is a payload codec missing/,
      );
    },
  },
];
