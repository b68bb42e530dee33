// Sequence numbers in the markers of local activities and side effects. The code counts them and
// the core compares them.
import type { MarkerRecordedEventAttributes } from "../../messages/generated/temporal/api/history/v1/message_pb.ts";

const text = new TextDecoder();
const bytes = new TextEncoder();

/**
 * Returns the number of a local activity. `sharesNumbers`: its ID is the number, from a counter
 * that activities share (Temporal SDK programs).
 */
export function readMarkerSeq(
  marker: MarkerRecordedEventAttributes,
): { readonly seq: number; readonly sharesNumbers: boolean } | undefined {
  if (marker.markerName !== "core_local_activity") return undefined;
  try {
    const { seq, activity_id: id } = JSON.parse(
      text.decode(marker.details["data"]!.payloads[0]!.data),
    ) as {
      seq: number;
      activity_id: string;
    };
    return { seq, sharesNumbers: id === String(seq) };
  } catch {
    return undefined;
  }
}

/** Sets the number of a local activity. */
export function withMarkerSeq(marker: MarkerRecordedEventAttributes, seq: number): void {
  const payload = marker.details["data"]!.payloads[0]!;
  const data = JSON.parse(text.decode(payload.data)) as { seq: number; activity_id: string };
  if (data.activity_id === String(data.seq)) data.activity_id = String(seq);
  data.seq = seq;
  payload.data = bytes.encode(JSON.stringify(data));
}

/** Returns the number of a side effect, from 1. The id in its marker starts at 0. */
export function sideEffectNumber(
  { markerName, details }: MarkerRecordedEventAttributes,
): number | undefined {
  const id = markerName === "SideEffect" ? details["side-effect-id"]?.payloads[0]?.data : undefined;
  return id === undefined || !/^\d+$/.test(text.decode(id))
    ? undefined
    : Number(text.decode(id)) + 1;
}

/** Changes the number of a side effect. */
export function withSideEffectNumber(
  { details }: MarkerRecordedEventAttributes,
  number: number,
): void {
  details["side-effect-id"]!.payloads[0]!.data = bytes.encode(String(number - 1));
}
