// Reads the marker of a reducer: its number, name, arguments, and the result that the engine
// recorded when it was committed (core-rs/src/engine/commands/record_marker.rs).
import { create } from "@bufbuild/protobuf";
import {
  type Payloads,
  PayloadsSchema,
} from "../messages/generated/temporal/api/common/v1/message_pb.ts";
import type { HistoryEvent } from "../messages/generated/temporal/api/history/v1/message_pb.ts";
import type { RecordedEnd } from "./recorded.ts";

/** The content of the marker. */
export interface Transacted {
  /** Number of the transact in its run, from 1. */
  readonly seq: number;
  readonly reducer: string;
  readonly args: Payloads | undefined;
  /** Code awaits the reducer. */
  readonly awaited: boolean;
  /** An error of the reducer is recorded: code awaits it, or the run ends with it. */
  readonly recordsErrors: boolean;
  readonly end: RecordedEnd;
}

/** Returns undefined for other events, and for a marker that cannot be decoded. */
export function transactOf({ attributes }: HistoryEvent): Transacted | undefined {
  if (
    attributes.case !== "markerRecordedEventAttributes" ||
    attributes.value.markerName !== "Transact"
  ) return undefined;
  const { details, failure } = attributes.value;
  const end: RecordedEnd = failure === undefined
    ? {
      kind: "completed",
      result: create(PayloadsSchema, { payloads: details["result"]?.payloads ?? [] }),
    }
    : { kind: "failed", failure };
  return calledBy(details, end);
}

/** Reads the details of a command, which have no result yet. */
export function calledBy(
  details: { readonly [name: string]: Payloads },
  end: RecordedEnd,
): Transacted | undefined {
  try {
    const own = (name: string): unknown => {
      const [payload] = details[name]?.payloads ?? [];
      return payload === undefined ? undefined : JSON.parse(new TextDecoder().decode(payload.data));
    };
    const [seq, reducer] = [Number(own("id")), own("reducer")];
    if (typeof reducer !== "string") return undefined;
    const awaited = own("awaited") === true;
    return {
      seq,
      reducer,
      args: details["arguments"],
      awaited,
      recordsErrors: awaited || own("required") === true,
      end,
    };
  } catch {
    return undefined;
  }
}
