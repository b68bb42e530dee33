// Requests and rows that once stopped the engine or kept it busy without end: each is rejected or
// reported by itself, and other schedules continue.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type DescMessage,
  fromBinary,
  fromJson,
  type JsonValue,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import { EmbeddedEngine, MemoryStore, VirtualClock } from "../../../../ts/engine/mod.ts";
import { ScheduleSpecSchema } from "../../../../ts/messages/generated/temporal/api/schedule/v1/message_pb.ts";
import {
  CreateScheduleRequestSchema,
  DeleteScheduleRequestSchema,
  DescribeScheduleRequestSchema,
  DescribeScheduleResponseSchema,
  ListScheduleMatchingTimesRequestSchema,
  ListSchedulesRequestSchema,
  ListSchedulesResponseSchema,
  PatchScheduleRequestSchema,
  UpdateScheduleRequestSchema,
} from "../../../../ts/messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { canonicalSpec } from "../../../../ts/engine/schedules/canonical.ts";
import { CompiledSpec } from "../../../../ts/engine/schedules/spec.ts";
import { Schedules } from "../../../../ts/engine/schedules/schedules.ts";
import type { Store, StoredSchedule } from "../../../../ts/engine/store.ts";
import { Code, type MethodName, ServiceError } from "../../../../ts/service/raw.ts";
import { until } from "../../../support/until.ts";
import { ProbeStore } from "../support/probe_store.ts";

const START = Date.parse("2026-01-01T00:00:00Z");
const HOUR = 3_600_000;

const REQUESTS = {
  createSchedule: CreateScheduleRequestSchema,
  updateSchedule: UpdateScheduleRequestSchema,
  patchSchedule: PatchScheduleRequestSchema,
  deleteSchedule: DeleteScheduleRequestSchema,
  describeSchedule: DescribeScheduleRequestSchema,
  listSchedules: ListSchedulesRequestSchema,
  listScheduleMatchingTimes: ListScheduleMatchingTimesRequestSchema,
} satisfies { [name in MethodName]?: DescMessage };

type Requests = { [name in keyof typeof REQUESTS]: MessageShape<(typeof REQUESTS)[name]> };

interface Opened {
  readonly engine: EmbeddedEngine;
  readonly clock: VirtualClock;
  readonly reported: string[];
  call(
    method: keyof typeof REQUESTS,
    request: { [field: string]: JsonValue },
    edit?: (request: Requests[keyof Requests]) => void,
    signal?: AbortSignal,
  ): Promise<Uint8Array>;
}

async function opened<T>(
  store: Store,
  body: (parts: Opened) => Promise<T>,
  nowMs = START,
): Promise<T> {
  const clock = new VirtualClock(nowMs);
  const reported: string[] = [];
  const onError = (error: Error) => void reported.push(error.message);
  const engine = await EmbeddedEngine.open({ store, clock, onError });
  const call: Opened["call"] = (method, request, edit, signal) => {
    const schema = REQUESTS[method] as DescMessage;
    const message = fromJson(schema, { namespace: "default", ...request });
    edit?.(message as Requests[keyof Requests]);
    return engine.call(method, toBinary(schema, message), signal && { signal });
  };
  try {
    return await body({ engine, clock, reported, call });
  } finally {
    await engine.close();
  }
}

const schedule = (spec: JsonValue = { interval: [{ interval: "3600s" }] }) => ({
  spec,
  action: {
    startWorkflow: {
      workflowId: "run",
      workflowType: { name: "W" },
      taskQueue: { name: "q" },
    },
  },
  policies: { overlapPolicy: "SCHEDULE_OVERLAP_POLICY_ALLOW_ALL" },
});
const hourly = (scheduleId: string, spec?: JsonValue) => ({
  scheduleId,
  requestId: "r",
  schedule: schedule(spec),
});

async function describe({ call }: Opened, scheduleId: string) {
  return fromBinary(
    DescribeScheduleResponseSchema,
    await call("describeSchedule", { scheduleId }),
  );
}

async function idsOf({ call }: Opened): Promise<string[]> {
  const list = fromBinary(ListSchedulesResponseSchema, await call("listSchedules", {}));
  return list.schedules.map(({ scheduleId }) => scheduleId);
}

/** The row of a schedule that is due. */
function savedRow(): StoredSchedule {
  const description = toBinary(
    DescribeScheduleResponseSchema,
    fromJson(DescribeScheduleResponseSchema, { schedule: { ...schedule(), state: {} } }),
  );
  const times = { requestId: "r", createdMs: START, processedMs: START, conflictToken: "1" };
  const state = JSON.stringify({
    ...times,
    buffer: [{ nominalMs: START, actualMs: START, overlap: 0, manual: true }],
    backfills: [],
  });
  return { scheduleId: "a", description, carried: new Uint8Array(0), state };
}

const rejects = (done: Promise<unknown>, code: Code, message: RegExp) =>
  assert.rejects(done, (error) => {
    assert.ok(error instanceof ServiceError, String(error));
    assert.equal(error.code, code, error.message);
    assert.match(error.message, message);
    return true;
  });

const far = { $typeName: "google.protobuf.Timestamp", seconds: 10n ** 15n, nanos: 0 } as const;

test("times beyond the year 9999 and durations of more than 10,000 years are rejected with their field", async () => {
  await opened(new MemoryStore(), async (parts) => {
    const { call, reported } = parts;
    await call("createSchedule", hourly("a"));
    const create = (edit: (request: Requests["createSchedule"]) => void, spec?: JsonValue) =>
      call(
        "createSchedule",
        hourly("b", spec),
        (request) => edit(request as Requests["createSchedule"]),
      );
    const cases: readonly (readonly [Promise<unknown>, RegExp])[] = [
      [
        create(() => {}, { cronString: ["@every 9999999999999999h"] }),
        /duration "9999999999999999h" in CronString .* is longer than 315576000000 s/,
      ],
      [
        create(({ schedule }) => {
          schedule!.policies!.catchupWindow = {
            $typeName: "google.protobuf.Duration",
            seconds: 2n ** 63n - 1n,
            nanos: 0,
          };
        }),
        /policies\.catchup_window is .* the limit is 315576000000 s/,
      ],
      [
        create(({ schedule }) => {
          schedule!.spec!.startTime = far;
          schedule!.spec!.timezoneName = "Europe/Berlin";
        }, { cronString: ["0 0 * * *"] }),
        /spec\.start_time must be a time in the years 1970 to 9999/,
      ],
      [
        call("patchSchedule", { scheduleId: "a", patch: { triggerImmediately: {} } }, (request) => {
          (request as Requests["patchSchedule"]).patch!.triggerImmediately!.scheduledTime = far;
        }),
        /patch\.trigger_immediately\.scheduled_time must be/,
      ],
      [
        call("patchSchedule", { scheduleId: "a", patch: { backfillRequest: [{}] } }, (request) => {
          (request as Requests["patchSchedule"]).patch!.backfillRequest[0]!.endTime = far;
        }),
        /patch\.backfill_request\[0\]\.end_time must be/,
      ],
      [
        call("listScheduleMatchingTimes", {
          scheduleId: "a",
          endTime: "2026-01-01T00:00:00Z",
        }, (request) => {
          (request as Requests["listScheduleMatchingTimes"]).startTime = far;
        }),
        /^start_time must be a time/,
      ],
      [
        create(() => {}, { interval: Array(1001).fill({ interval: "60s" }) }),
        /it has 1001 calendars.*the limit is 1000/,
      ],
    ];
    for (const [done, message] of cases) await rejects(done, Code.INVALID_ARGUMENT, message);
    assert.deepEqual(await idsOf(parts), ["a"]);
    assert.deepEqual(reported, []);
  });
});

test("a search beyond the years of calendars ends", () => {
  const compiled = (spec: JsonValue) =>
    new CompiledSpec(canonicalSpec(fromJson(ScheduleSpecSchema, spec)));
  const daily = compiled({ cronString: ["0 0 * * *"], timezoneName: "Europe/Berlin" });
  for (const after of [8.64e15 + 1, 1e18, Infinity, NaN]) {
    assert.equal(daily.next(after, ""), undefined);
  }
  const early = compiled({ cronString: ["0 0 * * *"], startTime: "0001-01-01T00:00:00Z" });
  assert.equal(early.next(-1e18, "")!.nextMs, 0);
});

test("several exclusions skip to the furthest end, and a search has a limit in all", () => {
  const spec = fromJson(ScheduleSpecSchema, {
    interval: [{ interval: "1s" }],
    excludeCalendar: [
      { second: "*", minute: "*", hour: "0" },
      { second: "*", minute: "*", hour: "*", year: "2026-2099" },
    ],
  });
  const skips = { left: 100_000 };
  const after = Date.parse("2025-12-31T23:59:59Z");
  assert.equal(
    new CompiledSpec(canonicalSpec(spec)).next(after, "", skips)!.nextMs,
    Date.UTC(2100, 0, 1, 1),
  );
  assert.ok(skips.left > 70_000, `${skips.left}`);
});

/** A store with the schedules "good" and "bad"; `damage` changes the row of the latter. */
async function damaged(damage: (row: StoredSchedule) => StoredSchedule): Promise<MemoryStore> {
  const store = new MemoryStore();
  await opened(store, async ({ call }) => {
    await call("createSchedule", hourly("good"));
    await call("createSchedule", hourly("bad"));
  });
  const row = store.schedules().find(({ scheduleId }) => scheduleId === "bad")!;
  store.commit([], undefined, new Map([["bad", damage(row)]]));
  return store;
}

test("a schedule whose step fails takes no actions, is described, and can be deleted", async () => {
  const store = await damaged((row) => ({
    ...row,
    state: JSON.stringify({
      ...JSON.parse(row.state),
      buffer: [{ nominalMs: 1e300, actualMs: START, overlap: 0, manual: true }],
    }),
  }));
  await opened(store, async (parts) => {
    const { call, clock, engine, reported } = parts;
    for (let hour = 1; hour <= 3; hour++) clock.advanceTo(START + hour * HOUR);
    await until(
      "the actions of the other schedule",
      async () => (await describe(parts, "good")).info!.actionCount === 3n,
    );
    assert.equal(engine.failure, undefined);
    assert.equal(reported.length, 1, reported.join("\n"));
    assert.match(reported[0]!, /^schedule "bad" takes no actions until .*: /);
    const { info } = await describe(parts, "bad");
    assert.equal(info!.actionCount, 0n);
    assert.match(info!.invalidScheduleError, /time/);
    await rejects(
      call("patchSchedule", { scheduleId: "bad", patch: { unpause: "again" } }),
      Code.INTERNAL,
      /time/,
    );
    assert.deepEqual(await idsOf(parts), ["bad", "good"]);
    await call("deleteSchedule", { scheduleId: "bad" });
    assert.deepEqual(await idsOf(parts), ["good"]);
  });
});

test("a row that cannot be read is kept and reported; its schedule can only be deleted", async () => {
  const state = "{";
  const store = await damaged((row) => ({ ...row, state }));
  await opened(store, async (parts) => {
    const { call, clock, reported } = parts;
    clock.advanceTo(START + HOUR);
    await until(
      "the action of the other schedule",
      async () => (await describe(parts, "good")).info!.actionCount === 1n,
    );
    assert.deepEqual(reported.length, 1);
    assert.match(reported[0]!, /^schedule "bad" cannot be read: /);
    const failed = (done: Promise<unknown>) =>
      rejects(done, Code.FAILED_PRECONDITION, /^schedule "bad" cannot be read: .*; delete it, or/);
    await failed(describe(parts, "bad"));
    await failed(call("createSchedule", hourly("bad")));
    await failed(call("updateSchedule", { scheduleId: "bad", schedule: schedule() }));
    await failed(call("patchSchedule", { scheduleId: "bad", patch: { pause: "x" } }));
    assert.deepEqual(await idsOf(parts), ["good"]);
    assert.equal(store.schedules().find(({ scheduleId }) => scheduleId === "bad")!.state, state);
    await call("deleteSchedule", { scheduleId: "bad" });
    assert.equal(store.schedules().length, 1);
    await call("createSchedule", hourly("bad"));
  });
});

test("memo and search attributes count as bytes of the schedule; a register checks names", async () => {
  await opened(new MemoryStore(), async ({ call, engine }) => {
    const memo = { fields: { large: { data: "A".repeat(3_000_000) } } };
    const large = /with its memo and search attributes has \d+ bytes; the limit is 2097152/;
    await rejects(
      call("createSchedule", { ...hourly("a"), memo }),
      Code.INVALID_ARGUMENT,
      large,
    );
    await call("createSchedule", hourly("a"));
    const update = { scheduleId: "a", schedule: schedule() };
    await rejects(call("updateSchedule", { ...update, memo }), Code.INVALID_ARGUMENT, large);
    const searchAttributes = { indexedFields: { Color: { data: "InJlZCI=" } } };
    await call("updateSchedule", { ...update, searchAttributes });
    engine.addSearchAttributes({ Size: "Keyword" });
    const unknown = /no mapping defined for search attribute Color/;
    await rejects(
      call("createSchedule", { ...hourly("b"), searchAttributes }),
      Code.INVALID_ARGUMENT,
      unknown,
    );
    await rejects(
      call("updateSchedule", { ...update, searchAttributes }),
      Code.INVALID_ARGUMENT,
      unknown,
    );
  });
});

test("a call with an aborted signal changes nothing", async () => {
  await opened(new MemoryStore(), async (parts) => {
    const done = parts.call("createSchedule", hourly("a"), undefined, AbortSignal.abort());
    await rejects(done, Code.CANCELLED, /canceled by the caller/);
    assert.deepEqual(await idsOf(parts), []);
  });
});

test("an update with an old token does not undo a pause after a failure", async () => {
  const store = new ProbeStore(new MemoryStore());
  await opened(store, async (parts) => {
    const { call, clock } = parts;
    const pausing = schedule();
    const start = { ...pausing.action.startWorkflow, workflowRunTimeout: "60s" };
    const given = {
      ...pausing,
      action: { startWorkflow: start },
      policies: { pauseOnFailure: true },
    };
    await call("createSchedule", { ...hourly("a"), schedule: given });
    clock.advanceTo(START + HOUR);
    await until("the action", async () => (await describe(parts, "a")).info!.actionCount === 1n);
    const { conflictToken } = await describe(parts, "a");
    let updated: Promise<unknown> | undefined;
    // The workflow has timed out, and the schedule has not observed it.
    store.onCommitted = () => {
      updated ??= call("updateSchedule", { scheduleId: "a", schedule: given }, (request) => {
        (request as Requests["updateSchedule"]).conflictToken = conflictToken;
      });
      updated.catch(() => {});
    };
    clock.advanceTo(START + HOUR + 61_000);
    await rejects(updated!, Code.FAILED_PRECONDITION, /mismatched conflict token/);
    assert.equal((await describe(parts, "a")).schedule!.state!.paused, true);
  });
});

test("schedules with many due times share the work of a batch, and lose none", async () => {
  const store = new ProbeStore(new MemoryStore());
  await opened(store, async ({ call }) => {
    for (const scheduleId of ["a", "b", "c"]) {
      const every = schedule({ interval: [{ interval: "1s" }] });
      const policies = { catchupWindow: "10s" };
      await call("createSchedule", { ...hourly(scheduleId), schedule: { ...every, policies } });
    }
  });
  const before = store.commits;
  await opened(store, async (parts) => {
    for (const id of ["a", "b", "c"]) {
      await until(
        `the times of ${id}`,
        async () => (await describe(parts, id)).info!.missedCatchupWindow === 12_000n - 11n,
      );
    }
    assert.ok(store.commits - before >= 3, `${store.commits - before}`);
  }, START + 12_000_000);
});

test("a schedule in which the core fails again and again takes no more actions", () => {
  const store = new MemoryStore();
  const reported: string[] = [];
  const host = {
    store,
    nowMs: () => START + HOUR,
    reserveId: () => 1,
    read: () => assert.fail("no run is read"),
    engine: {
      poisoned: false,
      entered: () => ({ loads: [], replies: [] }),
      request(): void {
        this.poisoned = true;
        throw new Error("the core failed");
      },
    },
  };
  const schedules = new Schedules({
    namespace: "default",
    store,
    host: host as unknown as ConstructorParameters<typeof Schedules>[0]["host"],
    report: (error) => void reported.push(error.message),
  });
  const row = savedRow();
  store.commit([], undefined, new Map([[row.scheduleId, row]]));
  for (let failure = 1; failure <= 3; failure++) {
    assert.equal(reported.length, 0);
    assert.throws(() => schedules.run(), /the core failed/);
    schedules.lost(new Error("lost"), false);
    host.engine.poisoned = false;
  }
  schedules.run();
  assert.match(reported.join(), /^schedule "a" takes no actions until .*: the core failed$/);
});
