// Single steps of a schedule against a host that a test controls: starts that fail for now, updates
// of rare schedules, and the work of one batch.
import assert from "node:assert/strict";
import { test } from "node:test";
import { create, fromJson, type JsonValue } from "@bufbuild/protobuf";
import { canonicalSpec } from "../../../../ts/engine/schedules/canonical.ts";
import { durationOfMs } from "../../../../ts/engine/schedules/durations.ts";
import { type ScheduleHost, ScheduleStep } from "../../../../ts/engine/schedules/machine.ts";
import { CompiledSpec } from "../../../../ts/engine/schedules/spec.ts";
import { closedChain } from "../../../../ts/engine/schedules/started_runs.ts";
import type { MemoryStore } from "../../../../ts/engine/memory_store.ts";
import { StoreBusyError, StoreCorruptError } from "../../../../ts/engine/store_errors.ts";
import { WorkflowExecutionStatus } from "../../../../ts/messages/generated/temporal/api/enums/v1/workflow_pb.ts";
import type { ScheduleState } from "../../../../ts/engine/schedules/state.ts";
import {
  type Schedule,
  ScheduleInfoSchema,
  ScheduleSchema,
} from "../../../../ts/messages/generated/temporal/api/schedule/v1/message_pb.ts";
import { Code, ServiceError } from "../../../../ts/service/raw.ts";

const START = Date.parse("2026-01-01T00:00:00Z");
const HOUR = 3_600_000;

function scheduleOf(spec: JsonValue, overlapPolicy: number): Schedule {
  const schedule = fromJson(ScheduleSchema, {
    spec,
    action: { startWorkflow: { workflowId: "run" } },
    policies: { overlapPolicy },
    state: {},
  });
  schedule.policies!.catchupWindow = durationOfMs(1000 * 24 * HOUR);
  return schedule;
}

function stateOf(spec: JsonValue, overlapPolicy: number): ScheduleState {
  const schedule = scheduleOf(spec, overlapPolicy);
  return {
    id: "s",
    requestId: "r",
    createdMs: START,
    schedule,
    info: create(ScheduleInfoSchema),
    memo: undefined,
    searchAttributes: undefined,
    conflictToken: 1n,
    processedMs: START,
    buffer: [],
    backfills: [],
    lastResult: undefined,
    lastFailure: undefined,
    spec: new CompiledSpec(canonicalSpec(schedule.spec!)),
  };
}

const BUFFER_ALL = 3;
const ALLOW_ALL = 6;
const HOURLY = { interval: [{ interval: "3600s" }] };

class Host implements ScheduleHost {
  readonly namespace = "default";
  readonly started: string[] = [];
  readonly reported: string[] = [];
  fails: Code | undefined;

  start({ workflowId }: Parameters<ScheduleHost["start"]>[0]): string | ServiceError {
    if (this.fails !== undefined) return new ServiceError(this.fails, "not now");
    this.started.push(workflowId.slice("run-2026-01-01T".length));
    return `run ${this.started.length}`;
  }

  stop(): void {}

  closed() {
    return { status: WorkflowExecutionStatus.COMPLETED };
  }

  report(error: Error): void {
    this.reported.push(error.message);
  }
}

for (const code of [Code.UNAVAILABLE, Code.RESOURCE_EXHAUSTED]) {
  test(`starts that fail with code ${code} are repeated later, in their order`, () => {
    for (const policy of [BUFFER_ALL, ALLOW_ALL]) {
      const host = new Host();
      const state = stateOf(HOURLY, policy);
      const step = (ms: number) => new ScheduleStep(state, host, ms).run();
      host.fails = code;
      const now = START + 2 * HOUR;
      assert.equal(step(now).atMs, now + 1000);
      step(START + 3 * HOUR);
      assert.equal(state.buffer.length, 3);
      host.fails = undefined;
      for (let i = 0; i < 3; i++) step(START + 3 * HOUR + 1000);
      assert.deepEqual(host.started, ["01:00:00Z", "02:00:00Z", "03:00:00Z"]);
      assert.deepEqual(host.reported, []);
    }
  });
}

test("an update of a rare schedule does not consider the past, and keeps a delayed time", () => {
  const rare = { cronString: ["0 0 1 1 *"] };
  const host = new Host();
  const update = (spec: JsonValue, ms: number) => {
    const state = stateOf(rare, ALLOW_ALL);
    const next = scheduleOf(spec, ALLOW_ALL);
    const compiled = new CompiledSpec(canonicalSpec(next.spec!));
    return new ScheduleStep(state, host, ms).run((step) => step.update(next, compiled));
  };
  const now = START + 200 * 24 * HOUR;
  const next = update({ interval: [{ interval: "1s" }] }, now);
  assert.equal(next.atMs, now + 1000);
  assert.ok(next.work < 10, `${next.work}`);
  // The time of 00:00 that the jitter delays is still to come.
  const jittered = { ...HOURLY, jitter: "3600s" };
  const compiled = new CompiledSpec(canonicalSpec(scheduleOf(jittered, ALLOW_ALL).spec!));
  const { nominalMs, nextMs } = compiled.next(now + HOUR, "default-s")!;
  assert.ok(nextMs > nominalMs + 1);
  assert.equal(update(jittered, nominalMs + 1).atMs, nextMs);
});

test("one step computes a limited number of times, and exclusions count", () => {
  const excluded = {
    interval: [{ interval: "1s" }],
    excludeCalendar: [{ minute: "*", hour: "*", second: "0-58" }],
  };
  const state = stateOf(excluded, ALLOW_ALL);
  state.schedule.policies!.catchupWindow = durationOfMs(10_000);
  const now = START + 100 * 24 * HOUR;
  const next = new ScheduleStep(state, new Host(), now).run();
  assert.equal(next.atMs, now);
  assert.ok(next.work >= 10_000 && next.work < 40_000, `${next.work}`);
});

test("the result of a workflow that cannot be read leaves its status", () => {
  const row = {
    workflowId: "w",
    runId: "r",
    firstRunId: "r",
    nextRunId: "",
    closeTimeMs: START,
    status: WorkflowExecutionStatus.FAILED,
    historyLength: 3,
  };
  const read = (history: () => Uint8Array[]) => {
    const reported: string[] = [];
    const store = { load: () => ({ row }), historyRange: history } as unknown as MemoryStore;
    const closed = closedChain(store, "w", "r", (error) => void reported.push(error.message));
    return { closed, reported };
  };
  const histories = [() => [], () => [new Uint8Array([255])], () => {
    throw new StoreCorruptError("damaged");
  }];
  for (const history of histories) {
    const { closed, reported } = read(history);
    assert.deepEqual(closed, { status: WorkflowExecutionStatus.FAILED });
    assert.match(reported.join(), /^the result of workflow "w" cannot be read for its schedule: /);
  }
  assert.throws(
    () =>
      read(() => {
        throw new StoreBusyError("busy");
      }),
    StoreBusyError,
  );
});
