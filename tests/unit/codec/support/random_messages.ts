// Random messages of every type of the service, and their payloads found over decoded messages.
import {
  type AnyDesc,
  create,
  createRegistry,
  type DescField,
  type DescMessage,
  fromBinary,
  type Message,
  toBinary,
} from "@bufbuild/protobuf";
import { reflect, type ReflectMessage } from "@bufbuild/protobuf/reflect";
import { anyPack, AnySchema, anyUnpack } from "@bufbuild/protobuf/wkt";
import type { Payload } from "../../../../ts/converter/payload.ts";
import {
  PayloadSchema,
  SearchAttributesSchema,
} from "../../../../ts/messages/generated/temporal/api/common/v1/message_pb.ts";
import { EncodingType } from "../../../../ts/messages/generated/temporal/api/enums/v1/common_pb.ts";
import { HistorySchema } from "../../../../ts/messages/generated/temporal/api/history/v1/message_pb.ts";
import { file_temporal_api_update_v1_message } from "../../../../ts/messages/generated/temporal/api/update/v1/message_pb.ts";
import { WorkflowService } from "../../../../ts/messages/generated/temporal/api/workflowservice/v1/service_pb.ts";
import { seeded } from "../../../faults/chaos/proxy.ts";

export const updates = createRegistry(file_temporal_api_update_v1_message);
const UPDATE_MESSAGES = [...updates].filter((desc: AnyDesc): desc is DescMessage =>
  desc.kind === "message"
);
export const utf8 = new TextEncoder();
export const encodeMessage = (desc: DescMessage, message: Message) => toBinary(desc, message);

/** Random numbers from a seed. */
export function dice(seed: number): (n: number) => number {
  const random = seeded(seed);
  return (n) => Math.floor(random() * n);
}

/** A message with something in most fields; at every depth another choice of oneofs. */
export function fill(desc: DescMessage, roll: (n: number) => number, depth: number): Message {
  if (desc.typeName === PayloadSchema.typeName) {
    return create(PayloadSchema, {
      metadata: { encoding: utf8.encode("json/plain") },
      data: utf8.encode(`"plain${roll(1e9)}"`),
    });
  }
  if (desc.typeName === AnySchema.typeName) {
    const inner = UPDATE_MESSAGES[roll(UPDATE_MESSAGES.length)]!;
    return anyPack(inner, fill(inner, roll, depth - 1));
  }
  if (desc.typeName === "temporal.api.common.v1.DataBlob") {
    const history = fill(HistorySchema, roll, depth - 1);
    return create(
      desc,
      { encodingType: EncodingType.PROTO3, data: encodeMessage(HistorySchema, history) } as never,
    );
  }
  const message = reflect(desc);
  const chosen = new Map(
    desc.oneofs.map((oneof) => [oneof, oneof.fields[roll(oneof.fields.length)]]),
  );
  for (const field of desc.fields) {
    if (field.oneof !== undefined && chosen.get(field.oneof) !== field) continue;
    const isMessage = field.message !== undefined;
    if (isMessage && depth <= 0 && field.message!.typeName !== PayloadSchema.typeName) continue;
    if (!isMessage && roll(2) === 0) continue;
    const value = (): unknown =>
      isMessage
        ? reflect(field.message!, fill(field.message!, roll, depth - 1))
        : scalar(field, roll);
    if (field.fieldKind === "list") {
      for (let i = roll(3); i >= 0; i--) message.get(field).add(value() as never);
    } else if (field.fieldKind === "map") {
      if (field.mapKey !== 9) continue;
      for (const key of ["a", "data", "__proto__x"].slice(roll(3))) {
        message.get(field).set(key, value() as never);
      }
    } else message.set(field, value() as never);
  }
  return message.message;
}

function scalar(field: DescField, roll: (n: number) => number): unknown {
  if (field.enum !== undefined) return field.enum.values[roll(field.enum.values.length)]!.number;
  const names = ["core_patch", "core_local_activity", "SideEffect", "x"];
  switch (field.scalar) {
    case 9:
      return field.name === "marker_name" ? names[roll(names.length)] : `text${roll(100)}`;
    case 12:
      return utf8.encode(`bytes${roll(100)}`);
    case 8:
      return true;
    case 1:
    case 2:
      return 1.5;
    case 3:
    case 4:
    case 6:
    case 16:
    case 18:
      return BigInt(roll(1000));
    default:
      return roll(1000);
  }
}

/**
 * Applies a function to every payload that a codec is to see, by another way than the product's:
 * over decoded messages.
 */
export async function eachPayload(
  message: ReflectMessage,
  change: (payload: Payload) => Promise<Payload>,
): Promise<void> {
  const { desc } = message;
  if (
    desc.typeName === SearchAttributesSchema.typeName ||
    desc.name === "CountWorkflowExecutionsResponse_AggregationGroup"
  ) {
    return;
  }
  if (/\.Count\w+Response\.AggregationGroup$/.test(desc.typeName)) return;
  let skipped = "";
  if (/\.(MarkerRecordedEventAttributes|RecordMarkerCommandAttributes)$/.test(desc.typeName)) {
    const { markerName } = message.message as unknown as { markerName: string };
    skipped = { core_patch: "all", core_local_activity: "data" }[markerName] ?? "";
  }
  const enter = async (inner: ReflectMessage): Promise<void> => {
    if (inner.desc.typeName === PayloadSchema.typeName) {
      const payload = inner.message as unknown as Payload;
      Object.assign(payload, await change({ metadata: payload.metadata, data: payload.data }));
    } else if (inner.desc.typeName === AnySchema.typeName) {
      const any = inner.message as unknown as { typeUrl: string; value: Uint8Array };
      const unpacked = anyUnpack(any as never, updates)!;
      const schema = updates.getMessage(unpacked.$typeName)!;
      await eachPayload(reflect(schema, unpacked), change);
      any.value = encodeMessage(schema, unpacked);
    } else if (inner.desc.typeName === "temporal.api.common.v1.DataBlob") {
      const blob = inner.message as unknown as { data: Uint8Array };
      const history = fromBinary(HistorySchema, blob.data);
      await eachPayload(reflect(HistorySchema, history), change);
      blob.data = encodeMessage(HistorySchema, history);
    } else await eachPayload(inner, change);
  };
  for (const field of desc.fields) {
    if (field.message === undefined || !message.isSet(field)) continue;
    if (field.fieldKind === "list") {
      for (const item of message.get(field)) await enter(item as ReflectMessage);
    } else if (field.fieldKind === "map") {
      for (const [key, item] of message.get(field)) {
        if (skipped !== "all" && (key !== skipped || skipped === "")) {
          await enter(item as ReflectMessage);
        }
      }
    } else await enter(message.get(field) as ReflectMessage);
  }
}

/**
 * The message with its inner messages (in Any and DataBlob) encoded in the order of their fields.
 */
export async function canonical<M extends Message>(desc: DescMessage, message: M): Promise<M> {
  await eachPayload(reflect(desc, message), (payload) => Promise.resolve(payload));
  return message;
}

const METHODS: readonly { input: DescMessage; output: DescMessage }[] = Object.values(
  WorkflowService.method,
);
export const MESSAGES: readonly DescMessage[] = [
  HistorySchema,
  ...METHODS.flatMap(({ input, output }) => [input, output]),
];
