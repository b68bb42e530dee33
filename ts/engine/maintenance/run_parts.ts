// The parts that closed and open runs share: memo, search attributes, batches, and the head.
import { create, type DescMessage, type MessageShape, toBinary } from "@bufbuild/protobuf";
import type { Duration, Timestamp } from "@bufbuild/protobuf/wkt";
import { EngineResetPoint } from "../../messages/generated/fields.ts";
import { Message } from "../../messages/wire.ts";
import { upserted } from "../../converter/payload.ts";
import type { RunWrite } from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import {
  type Memo,
  MemoSchema,
  type Payload,
  type SearchAttributes,
  SearchAttributesSchema,
  type WorkflowExecution,
  WorkflowExecutionSchema,
} from "../../messages/generated/temporal/api/common/v1/message_pb.ts";
import {
  type HistoryEvent,
  HistorySchema,
} from "../../messages/generated/temporal/api/history/v1/message_pb.ts";
import { micros } from "./findings.ts";

/** Events of one stored batch. Pages of history cut batches, so a batch must not be large. */
const BATCH_EVENTS = 500;

/**
 * Memo and search attributes of a description: those of the start with all later changes, except
 * `without`.
 */
export function describedFields(
  events: readonly HistoryEvent[],
  without?: string,
): { memo: Uint8Array; searchAttributes: Uint8Array } {
  let memo: Memo | undefined;
  let searchAttributes: SearchAttributes | undefined;
  for (const { attributes: { case: kind, value } } of events) {
    if (kind === "workflowExecutionStartedEventAttributes") ({ memo, searchAttributes } = value);
    else if (kind === "upsertWorkflowSearchAttributesEventAttributes") {
      const indexedFields = changed(
        searchAttributes?.indexedFields,
        value.searchAttributes?.indexedFields,
      );
      searchAttributes = create(SearchAttributesSchema, { indexedFields });
    } else if (kind === "workflowPropertiesModifiedEventAttributes") {
      memo = create(MemoSchema, { fields: changed(memo?.fields, value.upsertedMemo?.fields) });
    }
  }
  if (without !== undefined && searchAttributes?.indexedFields[without] !== undefined) {
    const { [without]: _, ...indexedFields } = searchAttributes.indexedFields;
    searchAttributes = create(SearchAttributesSchema, { indexedFields });
  }
  return {
    memo: memo === undefined ? new Uint8Array(0) : toBinary(MemoSchema, memo),
    searchAttributes: searchAttributes === undefined
      ? new Uint8Array(0)
      : toBinary(SearchAttributesSchema, searchAttributes),
  };
}

type Fields = { [key: string]: Payload };

/** Sorted by key, as in the engine. */
const changed = (before: Fields = {}, changes: Fields = {}): Fields =>
  Object.fromEntries(Object.entries(upserted(before, changes)).sort(([a], [b]) => a < b ? -1 : 1));

/** The id of the WorkflowTaskStarted event of the last completed task; 0 if no task completed. */
export function lastCompletedStart(events: readonly HistoryEvent[]): number {
  const completed = events.findLast(({ attributes }) =>
    attributes.case === "workflowTaskCompletedEventAttributes"
  );
  return completed?.attributes.case === "workflowTaskCompletedEventAttributes"
    ? Number(completed.attributes.value.startedEventId)
    : 0;
}

/** As many as the engine keeps. */
const MAX_RESET_POINTS = 20;

/** Returns the encoded reset points of a run: the first task that each build completed. */
export function resetPoints(events: readonly HistoryEvent[]): Uint8Array[] {
  const points = new Map<string, Uint8Array>();
  for (const { eventId, eventTime, attributes: { case: kind, value } } of events) {
    if (kind !== "workflowTaskCompletedEventAttributes") continue;
    const checksum = value.binaryChecksum;
    const build = value.workerVersion?.buildId ?? "";
    const key = JSON.stringify([checksum, build]);
    if (points.has(key)) continue;
    if (points.size === MAX_RESET_POINTS) points.delete(points.keys().next().value!);
    points.set(
      key,
      new Head().text(EngineResetPoint.binaryChecksum, checksum)
        .text(EngineResetPoint.buildId, build)
        .int(EngineResetPoint.completedId, Number(eventId))
        .int(EngineResetPoint.timeUs, eventTime === undefined ? 0 : micros(eventTime))
        .finish(),
    );
  }
  return [...points.values()];
}

/** Returns the history in batches, as the store keeps it. */
export function batches(events: readonly HistoryEvent[]): RunWrite["append"] {
  const made: RunWrite["append"] = [];
  for (let i = 0; i < events.length; i += BATCH_EVENTS) {
    const slice = events.slice(i, i + BATCH_EVENTS);
    made.push({
      firstEventId: i + 1,
      lastEventId: i + slice.length,
      events: toBinary(HistorySchema, create(HistorySchema, { events: slice })),
    });
  }
  return made;
}

/** Microseconds of a duration; 0 if undefined. */
export const toMicroseconds = (duration: Duration | undefined): number =>
  duration === undefined ? 0 : micros(duration as unknown as Parameters<typeof micros>[0]);

/** Writes a message field by field. Default values are omitted, as in the engine's codec. */
export class Head {
  readonly #head = new Message();

  text(field: number, value: string): this {
    if (value !== "") this.#head.text(field, value);
    return this;
  }

  int(field: number, value: number): this {
    if (value !== 0) this.#head.int(field, value);
    return this;
  }

  bytes(field: number, value: Uint8Array): this {
    if (value.length > 0) this.#head.bytes(field, value);
    return this;
  }

  message(field: number, execution: WorkflowExecution | undefined): this {
    return this.encoded(field, WorkflowExecutionSchema, execution);
  }

  encoded<S extends DescMessage>(
    field: number,
    schema: S,
    message: MessageShape<S> | undefined,
  ): this {
    return message === undefined ? this : this.bytes(field, toBinary(schema, message));
  }

  /** A moment, in microseconds. */
  time(field: number, time: Timestamp | undefined): this {
    return time === undefined ? this : this.int(field, micros(time));
  }

  messages(field: number, values: readonly Uint8Array[]): this {
    for (const value of values) this.#head.bytes(field, value);
    return this;
  }

  finish(): Uint8Array {
    return this.#head.finish();
  }
}
