// Converts JSON histories in all common dialects to Protobuf. Accepted differences to Protobuf
// JSON: enums in PascalCase or without prefix; names in snake_case or PascalCase; 64-bit numbers as
// {low, high}; bytes as {"0": 1, ...}, {type: "Buffer", data} or lists; times as {seconds, nanos};
// null for missing values; decoded payloads. Unknown fields are skipped. Errors state the position
// in the file.
//
// Fields are written without intermediate messages, because a replay gate reads thousands of
// histories.
import type { DescField, DescMessage } from "@bufbuild/protobuf";
import {
  fail,
  HistoryFileError,
  isObject,
  type Json,
  type JsonReading,
  shortened,
} from "./json_reading.ts";
import {
  enumValue,
  LENGTH,
  parseDuration,
  parseWholeNumber,
  scalarWriter,
  timestamp,
  wireType,
  type Write,
  writeSeconds,
  writeTime,
} from "./json_scalars.ts";
import { decodePayload } from "./payload_json.ts";

/** The nesting limit of Protobuf decoders. Servers truncate the causes of failures much earlier. */
const MAX_MESSAGES = 100;

const PAYLOAD = "temporal.api.common.v1.Payload";
const PAYLOADS = "temporal.api.common.v1.Payloads";
const TIMESTAMP = "google.protobuf.Timestamp";
const DURATION = "google.protobuf.Duration";

/** Fields of map entries. */
const KEY = 1 << 3 | LENGTH;
const VALUE = 2 << 3 | LENGTH;

/** How to write a field, without its tag. */
interface FieldPlan {
  readonly name: string;
  readonly tag: number;
  readonly field: DescField;
  /** Returns whether the value is the default, which is not written. */
  readonly isDefault: (json: Json, into: JsonReading) => boolean;
  readonly write: Write;
}

interface Plan {
  /** Plans by each accepted name of a field. */
  readonly fields: ReadonlyMap<string, FieldPlan>;
  readonly oneofs: ReadonlySet<string>;
}

const plans = new WeakMap<DescMessage, Plan>();

function planOf(desc: DescMessage): Plan {
  let plan = plans.get(desc);
  if (plan === undefined) {
    const fields = desc.fields.map(fieldPlan);
    plan = {
      fields: new Map(
        fields.flatMap((each) =>
          [each.field.jsonName, each.field.name, each.name].map((name) => [name, each] as const)
        ),
      ),
      oneofs: new Set(desc.oneofs.map(({ localName }) => localName)),
    };
    plans.set(desc, plan);
  }
  return plan;
}

const never = () => false;
const isNothing = (json: Json) => json === "" || json === 0 || json === false || json === "0";

function fieldPlan(field: DescField): FieldPlan {
  const { number, localName: name } = field;
  const hasDefault = field.oneof === undefined && field.presence === IMPLICIT;
  const plan = { name, field, isDefault: hasDefault ? isNothing : never };
  switch (field.fieldKind) {
    case "message":
      return { ...plan, tag: number << 3 | LENGTH, write: messageWriter(field.message) };
    case "enum":
      return {
        ...plan,
        ...(hasDefault &&
          {
            isDefault: (json: Json, into: JsonReading) => enumValue(field.enum, json, into) === 0,
          }),
        tag: number << 3,
        write: (json, into) => into.to.varint(enumValue(field.enum, json, into)),
      };
    case "scalar":
      return {
        ...plan,
        tag: number << 3 | wireType(field.scalar),
        write: scalarWriter(field.scalar),
      };
    case "list": {
      const element = field.listKind === "message"
        ? messageWriter(field.message)
        : field.listKind === "enum"
        ? (json: Json, into: JsonReading) => into.to.varint(enumValue(field.enum, json, into))
        : scalarWriter(field.scalar);
      const type = field.listKind === "message"
        ? LENGTH
        : field.listKind === "enum"
        ? 0
        : wireType(field.scalar);
      if (field.packed) {
        const tag = number << 3 | LENGTH;
        return { ...plan, tag, write: (json, into) => writePacked(json, into, tag, element) };
      }
      const tag = number << 3 | type;
      return { ...plan, tag, write: (json, into) => writeList(json, into, tag, element) };
    }
    case "map": {
      const isPayloads = field.mapKind === "message" && field.message.typeName === PAYLOADS;
      const value = field.mapKind === "message"
        ? messageWriter(field.message)
        : field.mapKind === "enum"
        ? (json: Json, into: JsonReading) => into.to.varint(enumValue(field.enum, json, into))
        : scalarWriter(field.scalar);
      const tag = number << 3 | LENGTH;
      return { ...plan, tag, write: (json, into) => writeMap(json, into, tag, value, isPayloads) };
    }
  }
}

/** FeatureSet.FieldPresence.IMPLICIT */
const IMPLICIT = 2;

/** Fields with several values write their own tags. */
const REPEATED: ReadonlySet<DescField["fieldKind"]> = new Set(["list", "map"]);

/**
 * Writes the fields of a message, without a length. Throws a HistoryFileError with the position.
 */
export function writeMessage(desc: DescMessage, json: Json, into: JsonReading): void {
  if (!isObject(json)) throw fail(into, json, "an object");
  if (into.depth >= MAX_MESSAGES) {
    throw new HistoryFileError(
      `${
        shortened(into.place)
      } is nested more than ${MAX_MESSAGES} messages deep; servers do not write this`,
    );
  }
  into.depth++;
  writeFields(planOf(desc), json, into);
  into.depth--;
}

/** A field found in the file: its plan, key and value. */
interface FoundField {
  readonly plan: FieldPlan;
  readonly key: string;
  readonly value: Json;
  /** The value is a number in seconds or nanoseconds, from before Temporal 1.0. */
  readonly unit: bigint | undefined;
}

/** Writes fields in the order of their numbers, as encoders do; of a repeated key the last one. */
function writeFields(plan: Plan, json: { [key: string]: Json }, into: JsonReading): void {
  const found: FoundField[] = [];
  if (!collect(plan, json, found)) {
    found.sort((a, b) => a.plan.field.number - b.plan.field.number);
    for (let i = found.length - 2; i >= 0; i--) {
      if (found[i]!.plan === found[i + 1]!.plan) found.splice(i, 1);
    }
  }
  for (const { plan, key, value, unit } of found) {
    into.path.push(key);
    if (into.depth === 1 && plan.field.oneof !== undefined) into.chosen++;
    if (unit !== undefined) writeNumberOfTime(plan, value, unit, into);
    else if (!plan.isDefault(value, into)) {
      if (!REPEATED.has(plan.field.fieldKind)) into.to.varint32(plan.tag);
      plan.write(value, into);
    }
    into.path.pop();
  }
}

/** Adds the fields of an object; returns whether their numbers are ascending. */
function collect(plan: Plan, json: { [key: string]: Json }, found: FoundField[]): boolean {
  const { fields, oneofs } = plan;
  let sorted = true;
  for (const key in json) {
    const value = json[key]!;
    if (value === null) continue;
    const named = fields.get(key) ?? byOtherName(fields, key);
    if (named !== undefined) {
      sorted &&= found.length === 0 || found.at(-1)!.plan.field.number < named.field.number;
      found.push({ plan: named, key, value, unit: undefined });
    } else if (isObject(value) && oneofs.has(lowered(key))) {
      // Some languages serialize the oneof itself: {attributes: {timerFiredEventAttributes: ...}}
      // or {attributes: {case, value}}.
      collect(
        plan,
        typeof value["case"] === "string" && "value" in value
          ? { [value["case"]]: value["value"]! }
          : value,
        found,
      );
      sorted = false;
    } else {
      const old = ancient(fields, lowered(key));
      if (old !== undefined) found.push({ ...old, key, value });
      sorted &&= old === undefined;
    }
  }
  return sorted;
}

const lowered = (key: string): string => key.charAt(0).toLowerCase() + key.slice(1);

function byOtherName(fields: ReadonlyMap<string, FieldPlan>, key: string): FieldPlan | undefined {
  const name = lowered(key);
  return fields.get(name) ?? fields.get(name.replace(/^decisionTask/, "workflowTask"));
}

/**
 * Reads fields from before Temporal 1.0: `xTimeoutSeconds` for a duration, `timestamp` in
 * nanoseconds for the time of an event.
 */
function ancient(
  fields: ReadonlyMap<string, FieldPlan>,
  name: string,
): { readonly plan: FieldPlan; readonly unit: bigint } | undefined {
  const [plan, unit] = name.endsWith("Seconds")
    ? [fields.get(name.slice(0, -"Seconds".length)), 1_000_000_000n]
    : name === "timestamp"
    ? [fields.get("eventTime"), 1n]
    : [undefined, 0n];
  if (plan?.field.fieldKind !== "message") return undefined;
  const { typeName } = plan.field.message;
  return typeName === DURATION || typeName === TIMESTAMP ? { plan, unit } : undefined;
}

function writeNumberOfTime(plan: FieldPlan, value: Json, unit: bigint, into: JsonReading): void {
  const nanoseconds = parseWholeNumber(value, into) * unit;
  into.to.varint32(plan.tag);
  const start = into.to.begin();
  writeSeconds(nanoseconds / 1_000_000_000n, Number(nanoseconds % 1_000_000_000n), into.to);
  into.to.end(start);
}

function writeList(json: Json, into: JsonReading, tag: number, element: Write): void {
  if (!Array.isArray(json)) throw fail(into, json, "a list");
  for (let i = 0; i < json.length; i++) {
    into.path.push(i);
    into.to.varint32(tag);
    element(json[i]!, into);
    into.path.pop();
  }
}

/** Writes numbers without tags, in one packed field. */
function writePacked(json: Json, into: JsonReading, tag: number, element: Write): void {
  if (!Array.isArray(json)) throw fail(into, json, "a list");
  if (json.length === 0) return;
  into.to.varint32(tag);
  const start = into.to.begin();
  for (let i = 0; i < json.length; i++) {
    into.path.push(i);
    element(json[i]!, into);
    into.path.pop();
  }
  into.to.end(start);
}

function writeMap(
  json: Json,
  into: JsonReading,
  tag: number,
  value: Write,
  isPayloads: boolean,
): void {
  if (!isObject(json)) throw fail(into, json, "an object");
  for (const key in json) {
    into.path.push(key);
    into.to.varint32(tag);
    const start = into.to.begin();
    into.to.varint32(KEY);
    into.to.text(key);
    into.to.varint32(VALUE);
    // Old versions of tctl wrote empty marker details in this form.
    if (json[key] === null && isPayloads) into.to.end(into.to.begin());
    else value(json[key]!, into);
    into.to.end(start);
    into.path.pop();
  }
}

/** Writes a message with its length. */
function messageWriter(desc: DescMessage): Write {
  const content = contentWriter(desc);
  return (json, into) => {
    const start = into.to.begin();
    content(json, into);
    into.to.end(start);
  };
}

function contentWriter(desc: DescMessage): Write {
  switch (desc.typeName) {
    case TIMESTAMP:
      return (json, into) => writeTime(json, into, timestamp);
    case DURATION:
      return (json, into) => writeTime(json, into, parseDuration);
    case PAYLOAD:
      return writePayload;
    case PAYLOADS: {
      const payload = messageWriter(desc.fields.find(({ name }) => name === "payloads")!.message!);
      return (json, into) => {
        const list = Array.isArray(json)
          ? json
          : isObject(json)
          ? json["payloads"] ?? json["Payloads"] ?? []
          : undefined;
        if (!Array.isArray(list)) throw fail(into, json, "payloads");
        into.path.push("payloads");
        writeList(list, into, KEY, payload);
        into.path.pop();
      };
    }
    default:
      return (json, into) => writeMessage(desc, json, into);
  }
}

/** Writes a payload: metadata 1, data 2; in a map entry: key 1, value 2. */
function writePayload(json: Json, into: JsonReading): void {
  const decoded = decodePayload(json);
  if (decoded === undefined) throw fail(into, json, "a payload");
  if (decoded.wasDecoded) into.decodedPayloads++;
  const { to } = into;
  const { metadata, data } = decoded.payload;
  for (const key in metadata) {
    to.varint32(KEY);
    const start = to.begin();
    to.varint32(KEY);
    to.text(key);
    to.varint32(VALUE);
    to.bytes(metadata[key]!);
    to.end(start);
  }
  if (data.length > 0) {
    to.varint32(VALUE);
    to.bytes(data);
  }
}
