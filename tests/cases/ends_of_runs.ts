// How a run ends, and what it leaves to the next one
// (docs/dev/semantics/errors.md#what-fails-the-workflow-and-what-fails-its-task).
import {
  activities,
  ApplicationFailure,
  continueAsNew,
  continueAsNewWith,
  noreply,
  on,
  receive,
  reply,
  signal,
  sleep,
  stop,
  update,
  waitForSignal,
  workflow,
} from "../../ts/workflow/mod.ts";
import { create } from "@bufbuild/protobuf";
import { PayloadSchema } from "../../ts/messages/generated/temporal/api/common/v1/message_pb.ts";
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
  if (d.server.closed !== undefined) {
    return `workflow ${d.server.closed.kind}: ${d.server.closed.failure?.message}`;
  }
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
      match(await fate(() => undefined), /^task: workflow "W" threw undefined, which is not/);
      match(await fate(() => null), /^task: workflow "W" threw null, which is not/);
    },
  },
  {
    name: "a failed task is retried, and completes with fixed code",
    async run() {
      let fixed = false;
      const d = await drive(workflow("W", async () => {
        await sleep(1);
        if (!fixed) throw new TypeError("a bug");
        return "fixed";
      }));
      await d.task();
      d.server.fireTimer("1");
      await d.task();
      equal(d.server.taskFailure?.failure.message, "a bug");
      fixed = true;
      await d.task();
      equal(await d.finish(), "fixed");
    },
  },
  {
    name:
      "signals still buffered at continue-as-new travel in a header and come first in the new run, in order (P4)",
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
      const second = await drive(w, {
        args: [1],
        headers: next.headers,
        runId: "99999999-2222-4333-8444-555555555555",
      });
      second.server.signal("go", 3);
      await second.task();
      deepEqual(await second.finish(), [1]);
      match(second.logs[0]!.message, /ended with 2 unprocessed signals: go/);
    },
  },
  {
    name: "without buffered signals no header is sent, and a carried one is not passed on",
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
      "P3 headers of the start are passed to every activity and to the next run, the same on replay, and the buffered signals' only to it",
    async run() {
      const w = workflow("W", async (n: number) => {
        await acts.work(n);
        if (n === 1) return continueAsNew(2);
        return n;
      });
      const header = (value: unknown) =>
        create(PayloadSchema, defaultPayloadConverter.toPayload(value));
      const headers = {
        "_tracer-data": header({
          traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        }),
        tenant: header("acme"),
      };
      const read = (fields: { readonly [name: string]: Payload } | undefined) =>
        Object.fromEntries(
          Object.entries(fields ?? {}).map((
            [name, payload],
          ) => [name, defaultPayloadConverter.fromPayload(payload)]),
        );
      const d = await drive(w, { args: [1], headers });
      d.server.signal("go", 1);
      await d.task();
      const scheduled = d.server.events.find((event) =>
        event.attributes.case === "activityTaskScheduledEventAttributes"
      )!;
      const sent =
        (scheduled.attributes.value as { header?: { fields: { [name: string]: Payload } } }).header
          ?.fields;
      deepEqual(read(sent), read(headers));
      d.server.completeActivity("1", 2);
      await d.task();
      // `finish` replays every prefix and compares the commands byte for byte.
      await d.finish();
      const next = d.server.closed!.next!.headers;
      deepEqual(
        Object.keys(next).sort(),
        ["_tracer-data", "tenant", BUFFERED_SIGNALS_HEADER].sort(),
      );
      const second = await drive(w, {
        args: [2],
        headers: next,
        runId: "99999999-2222-4333-8444-555555555555",
      });
      await second.task();
      const again = second.server.events.find((event) =>
        event.attributes.case === "activityTaskScheduledEventAttributes"
      )!;
      const carried =
        (again.attributes.value as { header?: { fields: { [name: string]: Payload } } }).header
          ?.fields;
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
        /3 unprocessed signals \(\d+ bytes\) exceed the limit of 262144 bytes/,
      );
    },
  },
  {
    name: "at completion a warning lists the names of unprocessed signals",
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
    name:
      "continueAsNew in handlers and branches is rejected; its options can name another type and queue",
    async run() {
      const w = workflow(
        "W",
        async () =>
          continueAsNewWith(
            { workflowType: "Next", taskQueue: "q2", runTimeout: "1h", memo: { why: "growth" } },
            1,
            "two",
          ),
      );
      const d = await drive(w);
      await d.task();
      await d.finish();
      deepEqual([d.server.closed!.next!.args, d.server.closed!.next!.workflowType], [
        [1, "two"],
        "Next",
      ]);
      const event = d.server.events.at(-1)!.attributes;
      ok(event.case === "workflowExecutionContinuedAsNewEventAttributes");
      deepEqual([event.value.taskQueue?.name, Number(event.value.workflowRunTimeout?.seconds)], [
        "q2",
        3600,
      ]);
    },
  },
  {
    name:
      "undecodable payloads: arguments and signals fail the task, updates are rejected, queries fail",
    async run() {
      const broken = create(PayloadSchema, {
        metadata: { encoding: new TextEncoder().encode("binary/encrypted") },
        data: new Uint8Array([1]),
      });
      const ask = update<[number], number>("ask");
      const w = workflow(
        "W",
        () => receive(0, [on(go, (_, s) => noreply(s)), on(ask, (_, s) => reply(1, s))]),
      );
      const spoil = (d: Awaited<ReturnType<typeof drive>>) => {
        const attributes = d.server.events.at(-1)!.attributes as {
          value: { input: { payloads: unknown[] } };
        };
        attributes.value.input.payloads = [broken];
      };
      const d = await drive(w);
      d.server.signal("go", 1);
      spoil(d);
      await d.task();
      match(
        d.server.taskFailure!.failure.message,
        /encoding "binary\/encrypted", which this converter does not support; check that the payload codec/,
      );
    },
  },
];
