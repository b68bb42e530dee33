// The marker that records a reducer: its number, name and arguments, and what the engine wrote into it when it was committed
// (core-rs/src/engine/commands/record_marker.rs).
import { create } from "@bufbuild/protobuf";
import { type Payloads, PayloadsSchema } from "../messages/generated/temporal/api/common/v1/message_pb.ts";
import type { HistoryEvent } from "../messages/generated/temporal/api/history/v1/message_pb.ts";
import type { RecordedEnd } from "./recorded.ts";

/** What a marker says of a reducer. */
export interface Transacted {
  /** Number of the transact in its run, from 1. */
  readonly seq: number;
  readonly reducer: string;
  readonly args: Payloads | undefined;
  /** Code waits for it. */
  readonly awaited: boolean;
  /** It does, and what the reducer throws is the answer. */
  readonly answers: boolean;
  readonly end: RecordedEnd;
}

/** Undefined for other events, and for a marker that cannot be read. */
export function transactOf({ attributes }: HistoryEvent): Transacted | undefined {
  if (attributes.case !== "markerRecordedEventAttributes" || attributes.value.markerName !== "Transact") return undefined;
  const { details, failure } = attributes.value;
  const end: RecordedEnd = failure === undefined
    ? { kind: "completed", result: create(PayloadsSchema, { payloads: details["result"]?.payloads ?? [] }) }
    : { kind: "failed", failure };
  return calledBy(details, end);
}

/** The same of a command's details, which have no end yet. */
export function calledBy(details: { readonly [name: string]: Payloads }, end: RecordedEnd): Transacted | undefined {
  try {
    const own = (name: string): unknown => {
      const [payload] = details[name]?.payloads ?? [];
      return payload === undefined ? undefined : JSON.parse(new TextDecoder().decode(payload.data));
    };
    const [seq, reducer] = [Number(own("id")), own("reducer")];
    if (typeof reducer !== "string") return undefined;
    const awaited = own("awaited") === true;
    return { seq, reducer, args: details["arguments"], awaited, answers: awaited && own("required") !== true, end };
  } catch {
    return undefined;
  }
}
