// Times of events in milliseconds.
import type { HistoryEvent } from "../../messages/generated/temporal/api/history/v1/message_pb.ts";

/** Returns milliseconds since the epoch; undefined if the event has no time. */
export const eventTimeMs = ({ eventTime }: HistoryEvent): number | undefined =>
  eventTime === undefined
    ? undefined
    : Number(eventTime.seconds) * 1000 + Math.floor(eventTime.nanos / 1e6);

/** Converts a duration or timestamp to milliseconds. */
export const toMilliseconds = (
  time: { readonly seconds: bigint; readonly nanos: number } | undefined,
): number | undefined =>
  time === undefined ? undefined : Number(time.seconds) * 1000 + time.nanos / 1e6;
