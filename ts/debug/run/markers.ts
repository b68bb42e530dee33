// Reads markers of all SDKs: patches and versions, side effects, local activities; and of reducers
// of temporalex. SDKs use different names and details for the same things.
import type { MarkerRecordedEventAttributes } from "../../messages/generated/temporal/api/history/v1/message_pb.ts";
import type { PayloadConverter } from "../../converter/payload.ts";
import { BROADCAST_ACTIVITY } from "../../converter/subscriptions.ts";
import { readPayload, textOfBytes, toPlainData } from "../values.ts";
import type { ItemKind } from "./types.ts";

export interface Marker {
  readonly kind: ItemKind;
  readonly name: string;
  readonly key: string;
}

/** Marker names of local activities: Core (TypeScript, Python, .NET, Ruby), and Go and Java. */
export const LOCAL_ACTIVITY: ReadonlySet<string> = new Set([
  "core_local_activity",
  "LocalActivity",
]);

export function readMarker(
  marker: MarkerRecordedEventAttributes,
  converter: PayloadConverter | undefined,
): Marker {
  const { markerName, details } = marker;
  const value = (name: string): unknown => {
    const first = details[name]?.payloads[0];
    return first === undefined ? undefined : toPlainData(readPayload(first, converter));
  };
  if (LOCAL_ACTIVITY.has(markerName)) return localActivity(value);
  switch (markerName) {
    case "core_patch": {
      const [named] = Object.keys(details);
      const data = value(named ?? "");
      const id = text(
        (data as { id?: unknown } | undefined)?.id ?? value("patch_id") ?? value("patch-id") ??
          data,
      );
      return { kind: "marker", name: `patch ${id}`, key: id };
    }
    case "Version": {
      const id = text(value("change-id") ?? value("changeId"));
      return { kind: "marker", name: `version ${id} = ${text(value("version"))}`, key: id };
    }
    case "SideEffect": {
      const id = text(value("side-effect-id"));
      return { kind: "marker", name: `side effect${id === "" ? "" : ` ${id}`}`, key: id };
    }
    case "MutableSideEffect": {
      const id = text(value("side-effect-id") ?? value("id"));
      return { kind: "marker", name: `mutable side effect ${id}`.trim(), key: id };
    }
    case "Transact":
      return {
        kind: "marker",
        name: `transact ${text(value("reducer"))}`.trim(),
        key: text(value("id")),
      };
    default:
      return { kind: "marker", name: markerName, key: "" };
  }
}

function localActivity(value: (name: string) => unknown): Marker {
  // Core and Go store all details in "data", with different field names. Java has a payload for
  // each.
  const data = value("data");
  const fields = typeof data === "object" && data !== null
    ? data as { readonly [name: string]: unknown }
    : {};
  const type = fields["activity_type"] ?? fields["ActivityType"] ?? value("type");
  const id = fields["activity_id"] ?? fields["ActivityID"] ?? value("activityId");
  const name = type === BROADCAST_ACTIVITY ? "broadcast" : text(type);
  return { kind: "localActivity", name: name || "local activity", key: text(id) };
}

/** Old versions of Core stored patch IDs as plain bytes. */
const text = (value: unknown): string =>
  typeof value === "string"
    ? value
    : typeof value === "number" || typeof value === "bigint"
    ? String(value)
    : value instanceof Uint8Array
    ? textOfBytes(value) ?? ""
    : "";
