// A schedule in memory, and its row in the store: its description as a message of the API, what it
// passes on to its next workflow, and the rest as JSON.
import { create, fromBinary, type MessageShape, toBinary } from "@bufbuild/protobuf";
import type { Payloads } from "../../messages/generated/temporal/api/common/v1/message_pb.ts";
import type { ScheduleOverlapPolicy as Overlap } from "../../messages/generated/temporal/api/enums/v1/schedule_pb.ts";
import type { Failure } from "../../messages/generated/temporal/api/failure/v1/message_pb.ts";
import {
  type Schedule,
  type ScheduleInfo,
  ScheduleInfoSchema,
} from "../../messages/generated/temporal/api/schedule/v1/message_pb.ts";
import {
  DescribeScheduleResponseSchema,
  StartWorkflowExecutionRequestSchema,
} from "../../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import type { StoredSchedule } from "../store.ts";
import { canonicalSpec } from "./canonical.ts";
import { CompiledSpec } from "./spec.ts";

/** An action that waits in the buffer. */
export interface BufferedStart {
  readonly nominalMs: number;
  readonly actualMs: number;
  /** 0: the policy of the schedule when the action is taken. */
  readonly overlap: Overlap;
  /** Triggered or backfilled: independent of pause, limits and catch-up window. */
  readonly manual: boolean;
}

/** A time range whose actions are taken in slices. */
export interface Backfill {
  /** Exclusive. */
  afterMs: number;
  readonly endMs: number;
  readonly overlap: Overlap;
}

type Described = MessageShape<typeof DescribeScheduleResponseSchema>;

/** A schedule. Changed in place; a failed commit reads the store again. */
export interface ScheduleState {
  readonly id: string;
  readonly requestId: string;
  readonly createdMs: number;
  /** In canonical form, with its defaults. */
  schedule: Schedule;
  readonly info: ScheduleInfo;
  memo: Described["memo"];
  searchAttributes: Described["searchAttributes"];
  /** Changes with each change of the schedule's state or configuration. */
  conflictToken: bigint;
  /** The last time whose action was considered. */
  processedMs: number;
  buffer: BufferedStart[];
  backfills: Backfill[];
  /** Of the last workflow that completed. */
  lastResult: Payloads | undefined;
  /** Of the last workflow, if it failed. */
  lastFailure: Failure | undefined;
  /** The spec of `schedule`. */
  spec: CompiledSpec;
}

interface StateJson {
  readonly requestId: string;
  readonly createdMs: number;
  readonly conflictToken: string;
  readonly processedMs: number;
  readonly buffer: BufferedStart[];
  readonly backfills: Backfill[];
}

export const INITIAL_CONFLICT_TOKEN = 1n;

/** Conflict tokens of the API are 8 bytes, big-endian. */
export function encodeConflictToken(token: bigint): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, token);
  return bytes;
}

/** Returns the row of a schedule. */
export function encodeState(state: ScheduleState): StoredSchedule {
  const { id, requestId, createdMs, conflictToken, processedMs, buffer, backfills } = state;
  const json: StateJson = {
    requestId,
    createdMs,
    conflictToken: String(conflictToken),
    processedMs,
    buffer,
    backfills,
  };
  return {
    scheduleId: id,
    description: toBinary(
      DescribeScheduleResponseSchema,
      create(DescribeScheduleResponseSchema, {
        schedule: state.schedule,
        info: state.info,
        ...(state.memo !== undefined && { memo: state.memo }),
        ...(state.searchAttributes !== undefined && { searchAttributes: state.searchAttributes }),
      }),
    ),
    carried: toBinary(
      StartWorkflowExecutionRequestSchema,
      create(StartWorkflowExecutionRequestSchema, {
        ...(state.lastResult !== undefined && { lastCompletionResult: state.lastResult }),
        ...(state.lastFailure !== undefined && { continuedFailure: state.lastFailure }),
      }),
    ),
    state: JSON.stringify(json),
  };
}

/**
 * Reads the row of a schedule. Throws an Error for a damaged row, and for a time zone that this
 * runtime does not know.
 */
export function decodeState(row: StoredSchedule): ScheduleState {
  const { schedule, info, memo, searchAttributes } = fromBinary(
    DescribeScheduleResponseSchema,
    row.description,
  );
  const carried = fromBinary(StartWorkflowExecutionRequestSchema, row.carried);
  const json = JSON.parse(row.state) as StateJson;
  const { requestId, createdMs, processedMs, buffer, backfills } = json;
  const { spec, action, policies, state } = schedule ?? {};
  if (
    schedule === undefined || spec === undefined || action === undefined ||
    policies === undefined || state === undefined || !Array.isArray(buffer) ||
    !Array.isArray(backfills) || !Number.isFinite(createdMs) || !Number.isFinite(processedMs)
  ) throw new Error("parts of its row are missing");
  return {
    requestId,
    createdMs,
    processedMs,
    buffer,
    backfills,
    conflictToken: BigInt(json.conflictToken),
    id: row.scheduleId,
    schedule,
    info: info ?? create(ScheduleInfoSchema),
    memo,
    searchAttributes,
    lastResult: carried.lastCompletionResult,
    lastFailure: carried.continuedFailure,
    spec: new CompiledSpec(canonicalSpec(spec)),
  };
}
