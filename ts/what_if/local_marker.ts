// Reads the marker of a local activity, with its call and its result (written by
// core-rs/src/replay/commands/local_marker.rs).
import { create } from "@bufbuild/protobuf";
import { PayloadsSchema } from "../messages/generated/temporal/api/common/v1/message_pb.ts";
import type { HistoryEvent } from "../messages/generated/temporal/api/history/v1/message_pb.ts";
import type { RecordedEnd } from "./recorded.ts";

/**
 * Returns the call and its result; undefined for other events and for a marker that cannot be
 * decoded.
 */
export function localActivityOf(
  { attributes }: HistoryEvent,
): { readonly type: string; readonly attempt: number; readonly end: RecordedEnd } | undefined {
  if (
    attributes.case !== "markerRecordedEventAttributes" ||
    attributes.value.markerName !== "core_local_activity"
  ) {
    return undefined;
  }
  const { details, failure } = attributes.value;
  try {
    const data = JSON.parse(new TextDecoder().decode(details["data"]?.payloads[0]?.data)) as {
      [key: string]: unknown;
    };
    const type = data["activity_type"];
    if (typeof type !== "string") return undefined;
    const attempt = typeof data["attempt"] === "number" ? data["attempt"] : 1;
    if (failure !== undefined) return { type, attempt, end: { kind: "failed", failure } };
    const payloads = details["result"]?.payloads ?? [];
    return {
      type,
      attempt,
      end: { kind: "completed", result: create(PayloadsSchema, { payloads }) },
    };
  } catch {
    return undefined;
  }
}
