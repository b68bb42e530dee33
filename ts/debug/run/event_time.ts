// Times of events as milliseconds.
import type { HistoryEvent } from "../../api/generated/temporal/api/history/v1/message_pb.ts";

/** Milliseconds since the epoch; undefined where the event has no time. */
export const eventTimeMs = ({ eventTime }: HistoryEvent): number | undefined =>
  eventTime === undefined ? undefined : Number(eventTime.seconds) * 1000 + Math.floor(eventTime.nanos / 1e6);

/** A duration or a timestamp in milliseconds. */
export const toMilliseconds = (time: { readonly seconds: bigint; readonly nanos: number } | undefined): number | undefined =>
  time === undefined ? undefined : Number(time.seconds) * 1000 + time.nanos / 1e6;
