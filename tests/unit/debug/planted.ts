// A history with an event of each type, and a distinct secret in every payload and failure that the
// schema allows.
import assert from "node:assert/strict";
import { create, type DescMessage, toBinary } from "@bufbuild/protobuf";
import { reflect, type ReflectMessage } from "@bufbuild/protobuf/reflect";
import { EventType } from "../../../ts/messages/generated/temporal/api/enums/v1/event_type_pb.ts";
import {
  HistoryEventSchema,
  HistorySchema,
} from "../../../ts/messages/generated/temporal/api/history/v1/message_pb.ts";
import { PayloadSchema } from "../../../ts/messages/generated/temporal/api/common/v1/message_pb.ts";

const text = new TextEncoder();
const PAYLOAD = "temporal.api.common.v1.Payload";
const FAILURE = "temporal.api.failure.v1.Failure";

/** Fills a message with payloads wherever it takes one. */
class Planter {
  readonly secrets: string[] = [];

  #payload() {
    const n = this.secrets.length;
    const secret = `SECRET-${n}-of-the-customer`;
    this.secrets.push(secret);
    const encoding = ["json/plain", "json/plain", "binary/plain", "binary/encrypted"][n % 4]!;
    const value = n % 4 === 0
      ? JSON.stringify({ name: secret, list: [secret, 7], deep: { er: `with ${secret} within` } })
      : n % 4 === 1
      ? JSON.stringify(btoa(secret))
      : secret;
    return create(PayloadSchema, {
      metadata: { encoding: text.encode(encoding), "encryption-key-id": text.encode(secret) },
      data: text.encode(value),
    });
  }

  fill(message: ReflectMessage, depth: number): void {
    const inner = (desc: DescMessage): ReflectMessage => {
      if (desc.typeName === PAYLOAD) return reflect(PayloadSchema, this.#payload());
      const made = reflect(desc);
      if (depth < 6) this.fill1(made, depth + 1);
      return made;
    };
    for (const field of message.desc.fields) {
      if (field.oneof !== undefined && message.oneofCase(field.oneof) !== undefined) continue;
      if (field.fieldKind === "message" && carries(field.message)) {
        message.set(field, inner(field.message));
      } else if (
        field.fieldKind === "list" && field.listKind === "message" && carries(field.message)
      ) {
        for (let i = 0; i < 3; i++) message.get(field).add(inner(field.message));
      } else if (
        field.fieldKind === "map" && field.mapKind === "message" && carries(field.message)
      ) {
        for (const key of ["one", "two", "three"]) {
          message.get(field).set(key, inner(field.message));
        }
      } else if (
        message.desc.typeName === FAILURE &&
        (field.localName === "message" || field.localName === "stackTrace")
      ) {
        const secret = `SECRET-${this.secrets.length}-of-the-customer`;
        this.secrets.push(secret);
        message.set(field, `it failed with ${secret}`);
      }
    }
  }

  /** As `fill`. */
  fill1(message: ReflectMessage, depth: number): void {
    this.fill(message, message.desc.typeName === FAILURE ? Math.max(depth, 5) : depth);
  }
}

const known = new Map<string, boolean>();
/** A payload, or a text of a failure, may stand in it. */
function carries(desc: DescMessage): boolean {
  if (desc.typeName === PAYLOAD || desc.typeName === FAILURE) return true;
  const before = known.get(desc.typeName);
  if (before !== undefined) return before;
  known.set(desc.typeName, false);
  const found = desc.fields.some((field) =>
    (field.fieldKind === "message" ||
      (field.fieldKind === "list" && field.listKind === "message") ||
      (field.fieldKind === "map" && field.mapKind === "message")) && carries(field.message!)
  );
  known.set(desc.typeName, found);
  return found;
}

/** The type of the event that has these attributes: "timerFiredEventAttributes". */
export function eventTypeOf(attributes: string): EventType {
  const name = attributes.replace(/EventAttributes$/, "").replace(
    /[A-Z]/g,
    (letter) => `_${letter}`,
  ).toUpperCase();
  return EventType[name as keyof typeof EventType] ?? EventType.UNSPECIFIED;
}

/** The history, and at least two hundred secrets that are in it. */
export function plantedHistory(): {
  readonly bytes: Uint8Array;
  readonly secrets: readonly string[];
} {
  const planter = new Planter();
  const attributes =
    HistoryEventSchema.oneofs.find(({ localName }) => localName === "attributes")!.fields;
  const events = attributes.map((field, i) => {
    const event = create(HistoryEventSchema, {
      eventId: BigInt(i + 1),
      eventType: eventTypeOf(field.localName),
    });
    const reflected = reflect(HistoryEventSchema, event);
    const made = reflect(field.message!);
    planter.fill(made, 0);
    reflected.set(field, made);
    return event;
  });
  const { secrets } = planter;
  assert.ok(secrets.length >= 200, `${secrets.length} secrets`);
  return { bytes: toBinary(HistorySchema, create(HistorySchema, { events })), secrets };
}
