// A history whose every text is markup that would run, and a reader of reports that takes nothing
// but what a report is made of.
import { create, type DescMessage, toBinary } from "@bufbuild/protobuf";
import { reflect, type ReflectMessage } from "@bufbuild/protobuf/reflect";
import {
  HistoryEventSchema,
  HistorySchema,
} from "../../../ts/messages/generated/temporal/api/history/v1/message_pb.ts";
import { eventTypeOf } from "../debug/planted.ts";

/** Ends an attribute, a text, a title, a style, a comment, and begins what runs. */
export const HOSTILE =
  `"'\`></title></style></textarea>--><script>alert(1)</script><img src=x onerror=alert(1)>&lt;\u202e\0\ud800]]>`;

function fill(message: ReflectMessage, depth: number): void {
  for (const field of message.desc.fields) {
    if (field.oneof !== undefined && message.oneofCase(field.oneof) !== undefined) continue;
    const made = (desc: DescMessage) => {
      const inner = reflect(desc);
      if (depth < 4) fill(inner, depth + 1);
      return inner;
    };
    // A text in the wire's form has no halves of surrogate pairs.
    const text = HOSTILE.replace("\ud800", "");
    if (field.fieldKind === "scalar" && field.scalar === 9) message.set(field, text);
    else if (field.fieldKind === "scalar" && field.scalar === 12) {
      message.set(field, new TextEncoder().encode(JSON.stringify({ [text]: text })));
    } else if (field.fieldKind === "message" && depth < 4) message.set(field, made(field.message));
    else if (field.fieldKind === "list" && field.listKind === "scalar" && field.scalar === 9) {
      message.get(field).add(text);
    } else if (field.fieldKind === "list" && field.listKind === "message" && depth < 4) {
      message.get(field).add(made(field.message));
    } else if (
      field.fieldKind === "map" && field.mapKind === "message" && field.mapKey === 9 && depth < 4
    ) {
      message.get(field).set(
        field.message.typeName.endsWith(".Payload") ? "one" : text,
        made(field.message),
      );
    } else if (
      field.fieldKind === "map" && field.mapKind === "scalar" && field.mapKey === 9 &&
      field.scalar === 12
    ) {
      message.get(field).set("encoding", new TextEncoder().encode("json/plain"));
    }
  }
}

/** An event of each type, the start first. */
export function hostileHistory(): Uint8Array {
  const attributes =
    HistoryEventSchema.oneofs.find(({ localName }) => localName === "attributes")!.fields;
  const events = attributes.map((field, i) => {
    const eventType = eventTypeOf(field.localName);
    const event = create(HistoryEventSchema, {
      ...{
        eventId: BigInt(i + 1),
        eventType,
        eventTime: { seconds: BigInt(1_700_000_000 + i * 7), nanos: 0 },
      },
    });
    const made = reflect(field.message!);
    fill(made, 0);
    reflect(HistoryEventSchema, event).set(field, made);
    return event;
  });
  return toBinary(HistorySchema, create(HistorySchema, { events }));
}

const TAGS = new Set(
  ("html head meta title style body main footer header article section h1 h2 h3 p b br a code pre span div dl dt dd ul ol li table thead " +
    "tbody tr th td details summary time figure figcaption svg g rect path circle text title")
    .split(" "),
);
const ATTRIBUTES = new Set(
  ("lang charset http-equiv content name class id href scope datetime viewBox width height x y rx cx cy r d fill stroke stroke-width " +
    "stroke-linecap stroke-linejoin fill-opacity transform text-anchor role aria-label aria-hidden data-w")
    .split(" "),
);

/** Everything in a report that no template of its would have made; empty: nothing. */
export function strangeIn(text: string): string[] {
  const strange: string[] = [];
  // The sheet is a constant, and is looked at by its digest.
  const rest = text.replace("<!doctype html>", "").replace(/<style>[^<]*<\/style>/, "");
  for (const [tag] of rest.matchAll(/<[^>]*>?/g)) {
    const [, name, attributes] =
      /^<\/?([a-z][a-z0-9]*)((?:\s+[a-zA-Z-]+="[^"<>`]*")*)\s*\/?>$/.exec(tag) ?? [];
    if (name === undefined || !TAGS.has(name)) strange.push(tag.slice(0, 100));
    for (const [, attribute, value] of (attributes ?? "").matchAll(/([a-zA-Z-]+)="([^"]*)"/g)) {
      if (!ATTRIBUTES.has(attribute!) || (attribute === "href" && !/^#[\w-]+$/.test(value!))) {
        strange.push(`${attribute}=${value}`);
      }
    }
  }
  for (const [, between] of rest.matchAll(/>([^<]*)/g)) {
    const bad = /&(?!(?:amp|lt|gt|quot|#39|#96);)|[\0\u202e\ufeff]|\p{Surrogate}/u.exec(between!);
    if (bad !== null) strange.push(between!.slice(Math.max(0, bad.index - 20), bad.index + 40));
  }
  return strange;
}
