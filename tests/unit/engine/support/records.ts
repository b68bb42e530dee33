// Runs and writes for tests of stores: histories are real History messages whose events have
// distinct ids.
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { SearchAttributesSchema } from "../../../../ts/messages/generated/temporal/api/common/v1/message_pb.ts";
import { HistorySchema } from "../../../../ts/messages/generated/temporal/api/history/v1/message_pb.ts";
import type {
  HistoryBatch,
  RunRow,
  RunWrite,
} from "../../../../ts/core/generated/boundary/temporalex/boundary/v1/boundary.ts";

const utf8 = new TextEncoder();

/** Encoded History of the events from..to; their sizes differ, so that a wrong cut shows. */
export function events(from: number, to: number): Uint8Array {
  const list = [];
  for (let id = from; id <= to; id++) {
    list.push({
      eventId: BigInt(id),
      version: BigInt(id % 3 === 0 ? 1_000_000 + id : 0),
      taskId: BigInt(id * id),
    });
  }
  return toBinary(HistorySchema, create(HistorySchema, { events: list }));
}

export function batch(from: number, to: number): HistoryBatch {
  return { firstEventId: from, lastEventId: to, events: events(from, to) };
}

/** Event ids of encoded History messages, in order. */
export function eventIds(parts: readonly Uint8Array[]): number[] {
  return parts.flatMap((part) =>
    fromBinary(HistorySchema, part).events.map((event) => Number(event.eventId))
  );
}

export function row(workflowId: string, runId: string, more: Partial<RunRow> = {}): RunRow {
  return {
    workflowId,
    runId,
    workflowType: "Test",
    taskQueue: "queue",
    status: 1,
    startTimeMs: 1_000,
    closeTimeMs: 0,
    historyLength: 0,
    historySizeBytes: 0,
    wakeAtMs: 0,
    ready: false,
    firstRunId: runId,
    nextRunId: "",
    memo: new Uint8Array(0),
    searchAttributes: new Uint8Array(0),
    ...more,
  };
}

export function write(of: RunRow, more: Partial<RunWrite> = {}): RunWrite {
  return {
    row: of,
    head: utf8.encode(`head of ${of.runId} at ${of.historyLength}`),
    append: [],
    put: [],
    remove: [],
    create: false,
    ...more,
  };
}

/** A new run with its first `length` events in one batch. */
export function created(
  workflowId: string,
  runId: string,
  length = 2,
  more: Partial<RunRow> = {},
): RunWrite {
  return write(row(workflowId, runId, { historyLength: length, ...more }), {
    create: true,
    append: length === 0 ? [] : [batch(1, length)],
  });
}

/** Encoded SearchAttributes of values as JSON has them; a Date is a Datetime. */
export function attributes(values: { readonly [name: string]: unknown }): Uint8Array {
  const indexedFields = Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, {
      metadata: {
        encoding: utf8.encode("json/plain"),
        ...(value instanceof Date && { type: utf8.encode("Datetime") }),
      },
      data: utf8.encode(JSON.stringify(value)),
    }]),
  );
  return toBinary(SearchAttributesSchema, create(SearchAttributesSchema, { indexedFields }));
}
