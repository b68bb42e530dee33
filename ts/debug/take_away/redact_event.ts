// Visits all values of an event: payloads, failures, identities, names of task queues. Messages are
// walked by their descriptors, so payloads that a newer schema adds are found too.
import { clone, type DescMessage, type Message } from "@bufbuild/protobuf";
import { reflect, type ReflectMessage } from "@bufbuild/protobuf/reflect";
import {
  type HistoryEvent,
  HistoryEventSchema,
} from "../../messages/generated/temporal/api/history/v1/message_pb.ts";
import type { Payload } from "../../messages/generated/temporal/api/common/v1/message_pb.ts";

/**
 * The replacement of each kind of value. `keys`: keys of the objects and fields around the value,
 * innermost last.
 */
export interface Replacing {
  readonly failures: boolean;
  readonly headers: boolean;
  readonly memo: boolean;
  readonly searchAttributes: boolean;
  readonly identity: boolean;
  readonly taskQueues: boolean;
  readonly numbers: boolean;
  text(value: string, keys: readonly string[]): string;
  number(value: number, keys: readonly string[]): number;
  bytes(value: Uint8Array): Uint8Array;
}

const PREFIX = "temporal.api.";
/** Fields with texts that users write. */
const USER_TEXTS: ReadonlySet<string> = new Set(["reason", "cause", "binaryChecksum"]);
/** Metadata of a payload that describes its encoding. */
const ENCODINGS: ReadonlySet<string> = new Set(["encoding", "messageType", "type"]);
/**
 * Details of markers that the SDK reads, which are kept; "all": every detail. Other details are
 * values of the user.
 */
const OWN_DETAILS: { readonly [marker: string]: ReadonlySet<string> | "all" } = {
  core_patch: "all",
  Version: "all",
  core_local_activity: new Set(["data"]),
  // The reducer's name, kept like names of activities.
  Transact: new Set(["id", "reducer", "awaited", "required"]),
};
type Own = (typeof OWN_DETAILS)[string] | undefined;

/** Returns a copy with replaced values. */
export function redactEvent(event: HistoryEvent, replacing: Replacing): HistoryEvent {
  const copy = clone(HistoryEventSchema, event);
  walk(reflect(HistoryEventSchema, copy), replacing, [], ownDetails(copy));
  return copy;
}

function ownDetails({ attributes }: HistoryEvent): Own {
  if (attributes.case !== "markerRecordedEventAttributes") return undefined;
  const { markerName } = attributes.value;
  return Object.hasOwn(OWN_DETAILS, markerName) ? OWN_DETAILS[markerName] : undefined;
}

function walk(
  message: ReflectMessage,
  replacing: Replacing,
  keys: readonly string[],
  own: Own,
): void {
  const type = message.desc.typeName;
  if (type === `${PREFIX}common.v1.Payload`) {
    return payload(message.message as Payload, replacing, keys);
  }
  if (type === `${PREFIX}failure.v1.Failure` && !replacing.failures) return;
  if (type === `${PREFIX}common.v1.Header` && !replacing.headers) return;
  if (type === `${PREFIX}common.v1.Memo` && !replacing.memo) return;
  if (type === `${PREFIX}common.v1.SearchAttributes` && !replacing.searchAttributes) return;
  for (const field of message.fields) {
    if (!message.isSet(field)) continue;
    const inner = [...keys, field.localName];
    if (field.fieldKind === "message") walk(message.get(field), replacing, inner, own);
    else if (field.fieldKind === "list" && field.listKind === "message") {
      for (const each of message.get(field)) walk(each as ReflectMessage, replacing, inner, own);
    } else if (field.fieldKind === "map" && field.mapKind === "message") {
      for (const [key, each] of message.get(field)) {
        if (field.localName === "details" && (own === "all" || own?.has(String(key)) === true)) {
          continue;
        }
        walk(each as ReflectMessage, replacing, [...inner, String(key)], undefined);
      }
    } else if (
      field.fieldKind === "scalar" && isReplaced(message.desc, field.localName, replacing)
    ) {
      const value = message.get(field);
      if (typeof value === "string") message.set(field, replacing.text(value, inner));
    }
  }
}

function isReplaced(desc: DescMessage, field: string, replacing: Replacing): boolean {
  const type = desc.typeName;
  if (type === `${PREFIX}failure.v1.Failure`) return field === "message" || field === "stackTrace";
  if (field === "identity") return replacing.identity;
  if (type === `${PREFIX}taskqueue.v1.TaskQueue`) {
    return replacing.taskQueues && (field === "name" || field === "normalName");
  }
  return type.startsWith(`${PREFIX}history.v1.`) && USER_TEXTS.has(field);
}

function payload(value: Payload & Message, replacing: Replacing, keys: readonly string[]): void {
  const encoding = new TextDecoder().decode(value.metadata["encoding"]);
  for (const name of Object.keys(value.metadata)) {
    if (!ENCODINGS.has(name)) value.metadata[name] = replacing.bytes(value.metadata[name]!);
  }
  if (encoding.startsWith("json/")) {
    try {
      const parsed: unknown = JSON.parse(
        new TextDecoder("utf-8", { fatal: true }).decode(value.data),
      );
      value.data = new TextEncoder().encode(JSON.stringify(json(parsed, replacing, keys)));
      return;
    } catch {
      // The payload is not JSON, whatever its encoding.
    }
  }
  value.data = replacing.bytes(value.data);
}

function json(value: unknown, replacing: Replacing, keys: readonly string[]): unknown {
  if (typeof value === "string") return replacing.text(value, keys);
  if (typeof value === "number") return replacing.number(value, keys);
  if (Array.isArray(value)) return value.map((each) => json(each, replacing, keys));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, json(each, replacing, [...keys, key])]),
  );
}
