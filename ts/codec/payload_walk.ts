// Finds and replaces payloads in encoded messages on the wire. All other bytes are copied
// unchanged, including unknown fields; fields without payloads are skipped and never decoded.
import {
  Any,
  DataBlob,
  Failure,
  MapEntry,
  MarkerRecordedEventAttributes as Marker,
} from "../messages/generated/fields.ts";
import {
  concat,
  fieldHead,
  Fields,
  firstOf,
  lengthPrefix,
  Message,
  readBytes,
  readTextField,
} from "../messages/wire.ts";
import type { Payload } from "../converter/payload.ts";
import { payloadFromBytes, payloadToBytes } from "./payload_bytes.ts";
import {
  FAILURE,
  HEADER,
  MARKERS,
  MEMO,
  PAYLOADS,
  PLAIN_HEADERS,
  type Plan,
  planOfHistory,
  planOfUrl,
  type Step,
} from "./payload_plan.ts";

/** A payload in a message. `result` replaces it. */
export interface Found {
  readonly payload: Payload;
  /** Name of its field, for errors. */
  readonly field: string;
  /** The same object for all payloads of one set (arguments, details). */
  readonly group: object;
  /** True if a run may receive it; false for payloads of a history that a run never receives. */
  readonly given: boolean;
  result: Payload | undefined;
}

interface Leaf extends Found {
  readonly kind: "payload";
  /** Original bytes; empty for a payload that was created here. */
  readonly bytes: Uint8Array;
}

interface Body {
  readonly kind: "body";
  readonly pieces: Piece[];
}

/** Bytes as they are, or a length-delimited value after its tag. */
type Piece = Uint8Array | Leaf | Body | Attributes;

/**
 * Message, stack trace and encoded attributes of a failure that arrived with encoded attributes.
 */
interface Attributes {
  readonly kind: "attributes";
  /** The three fields as they arrived. */
  readonly asIs: Piece[];
  readonly leaf: Leaf;
}

/**
 * Treatment of message and stack trace of failures. Encoding: "hide" moves them into a payload
 * (encodeCommonAttributes); "hideAgain" does so only for failures that arrived with such a payload.
 * Decoding: "show" restores them next to the decoded payload, by which "hideAgain" recognizes the
 * failure; "keep" leaves them in the payload.
 */
export type FailureText = "hide" | "hideAgain" | "show" | "keep";

export interface WalkOptions {
  readonly failureText: FailureText;
  /** Skip payloads that a run never receives. */
  readonly givenOnly?: boolean | undefined;
}

/** Maximum nesting of messages; protobuf's own limit, as in prost and protoc. */
const MAX_DEPTH = 100;
/** Placeholder of hidden text, as in Temporal's SDKs. */
export const HIDDEN_TEXT = "Encoded failure";
/** Marker details of the core, not of the user: the key of the entry, or all. */
type OwnDetails = string;
const OWN_DETAILS: ReadonlyMap<string, OwnDetails> = new Map([["core_patch", "all"], [
  "core_local_activity",
  "data",
]]);

const utf8 = new TextEncoder();
const text = new TextDecoder();

/** The payloads of an encoded message. Throws for invalid bytes. */
export class Walk {
  readonly found: Found[] = [];
  readonly #bytes: Uint8Array;
  readonly #options: WalkOptions;
  readonly #root: Body | undefined;
  #given = true;

  constructor(plan: Plan, bytes: Uint8Array, options: WalkOptions) {
    this.#bytes = bytes;
    this.#options = options;
    this.#root = this.#message(plan, bytes, 0, { field: plan.typeName, group: {} });
  }

  /** Returns the message with replaced payloads. */
  finish(): Uint8Array {
    return this.#root === undefined ? this.#bytes : write(this.#root);
  }

  #message(plan: Plan, bytes: Uint8Array, depth: number, from: From): Body | undefined {
    if (depth > MAX_DEPTH) {
      throw new RangeError(`the message is nested deeper than ${MAX_DEPTH} levels`);
    }
    if (plan.typeName === FAILURE) return this.#failure(plan, bytes, depth);
    if (MARKERS.has(plan.typeName)) return this.#marker(plan, bytes, depth);
    return this.#fields(plan, bytes, depth, from);
  }

  #fields(
    plan: Plan,
    bytes: Uint8Array,
    depth: number,
    from: From,
    own?: OwnDetails,
  ): Body | undefined {
    const cut = new Cutter(bytes);
    const errorTextIsHidden = plan.errorText.size > 0
      ? this.#hidesErrorText(plan, bytes)
      : undefined;
    for (const at = new Fields(bytes); at.next();) {
      if (!at.hasLength) continue;
      if (plan.errorText.has(at.number) && errorTextIsHidden?.(at)) {
        if (at.end > at.contentAt) {
          cut.replace(at.start, at.end, new Message().text(at.tag, HIDDEN_TEXT).finish());
        }
        continue;
      }
      const step = plan.steps.get(at.number);
      if (step === undefined) continue;
      const given = this.#given;
      if (plan.notGiven.has(at.number)) {
        if (this.#options.givenOnly) continue;
        this.#given = false;
      }
      const value = this.#value(step, at.bytes(), depth + 1, from, plan, own);
      this.#given = given;
      if (value !== undefined) cut.value(at.valueAt, at.end, value);
    }
    return cut.finish();
  }

  #value(
    step: Step,
    content: Uint8Array,
    depth: number,
    from: From,
    plan: Plan,
    own?: OwnDetails,
  ): Leaf | Body | undefined {
    switch (step.kind) {
      case "payload":
        // In a set of payloads, the name of the set's field is more useful.
        return plan.typeName === PAYLOADS
          ? this.#payload(content, from)
          : this.#payload(content, { field: step.field, group: {} });
      case "message":
        return this.#message(step.plan, content, depth, { field: step.field, group: {} });
      case "entry":
        return this.#entry(step.value, content, depth, plan, own);
      case "any":
        return this.#any(content, depth);
      case "history":
        return this.#blob(content, depth);
    }
  }

  #payload(bytes: Uint8Array, { field, group }: From): Leaf {
    const payload = payloadFromBytes(bytes);
    const leaf: Leaf = {
      kind: "payload",
      payload,
      field,
      group,
      given: this.#given,
      bytes,
      result: undefined,
    };
    this.found.push(leaf);
    return leaf;
  }

  #entry(
    step: Step,
    bytes: Uint8Array,
    depth: number,
    plan: Plan,
    own: OwnDetails | undefined,
  ): Body | undefined {
    const from = { field: plan.typeName, group: {} };
    if (plan.typeName === HEADER && PLAIN_HEADERS.has(readTextField(bytes, MapEntry.key))) {
      return undefined;
    }
    // The payload that removes a key from a memo must reach the service unencoded.
    if (plan.typeName === MEMO && isNothing(bytes)) return undefined;
    if (own === "all" || (own !== undefined && readTextField(bytes, MapEntry.key) === own)) {
      return undefined;
    }
    return this.#only(
      MapEntry.value,
      bytes,
      (content) => this.#value(step, content, depth, from, plan),
    );
  }

  #any(bytes: Uint8Array, depth: number): Body | undefined {
    const plan = planOfUrl(readTextField(bytes, Any.typeUrl));
    if (plan === undefined) return undefined;
    return this.#only(
      Any.value,
      bytes,
      (content) => this.#message(plan, content, depth, { field: plan.typeName, group: {} }),
    );
  }

  #blob(bytes: Uint8Array, depth: number): Body | undefined {
    const plan = planOfHistory();
    return this.#only(
      DataBlob.data,
      bytes,
      (content) => this.#message(plan, content, depth, { field: plan.typeName, group: {} }),
    );
  }

  /** Converts one field of a message. */
  #only(
    tag: number,
    bytes: Uint8Array,
    value: (content: Uint8Array) => Leaf | Body | undefined,
  ): Body | undefined {
    const cut = new Cutter(bytes);
    for (const at = new Fields(bytes); at.next();) {
      if (at.tag !== tag) continue;
      const found = value(at.bytes());
      if (found !== undefined) cut.value(at.valueAt, at.end, found);
    }
    return cut.finish();
  }

  /**
   * The core's own marker details are not encoded: every worker of the task queue must be able to
   * read them.
   */
  #marker(plan: Plan, bytes: Uint8Array, depth: number): Body | undefined {
    return this.#fields(
      plan,
      bytes,
      depth,
      { field: plan.typeName, group: {} },
      OWN_DETAILS.get(readTextField(bytes, Marker.markerName)),
    );
  }

  /**
   * Returns a check for fields next to a failure that repeat text hidden in a payload; undefined
   * without such a field.
   */
  #hidesErrorText(plan: Plan, bytes: Uint8Array): ((at: Fields) => boolean) | undefined {
    const { failureText } = this.#options;
    if (failureText === "hide") return () => true;
    if (failureText !== "hideAgain") return undefined;
    const hidden = new Set<string>();
    for (const at = new Fields(bytes); at.next();) {
      const step = at.hasLength ? plan.steps.get(at.number) : undefined;
      if (step?.kind !== "message" || step.plan.typeName !== FAILURE) continue;
      const attributes = readBytes(at.bytes(), Failure.encodedAttributes);
      const shown = attributes === undefined
        ? undefined
        : failureTextIn(payloadFromBytes(attributes));
      if (shown !== undefined) hidden.add(shown.message);
    }
    return hidden.size === 0 ? undefined : (at) => hidden.has(at.text());
  }

  #failure(plan: Plan, bytes: Uint8Array, depth: number): Body | undefined {
    const from = { field: "Failure", group: {} };
    const hasAttributes = firstOf(bytes, Failure.encodedAttributes) !== undefined;
    const { failureText } = this.#options;
    if (hasAttributes && (failureText === "hide" || failureText === "hideAgain")) {
      return this.#hiddenAgain(plan, bytes, depth);
    }
    if (hasAttributes ? failureText !== "show" : failureText !== "hide") {
      return this.#fields(plan, bytes, depth, from);
    }
    const rest = new Cutter(bytes);
    const asIs: Piece[] = [];
    const said = { message: "", stack_trace: "" };
    let leaf: Leaf | undefined;
    for (const at = new Fields(bytes); at.next();) {
      if (at.tag === Failure.message || at.tag === Failure.stackTrace) {
        said[at.tag === Failure.message ? "message" : "stack_trace"] = at.text();
        asIs.push(bytes.subarray(at.start, at.end));
        rest.drop(at.start, at.end);
      } else if (at.tag === Failure.encodedAttributes) {
        leaf = this.#payload(at.bytes(), { field: "Failure.encodedAttributes", group: {} });
        asIs.push(bytes.subarray(at.start, at.valueAt), leaf);
        rest.drop(at.start, at.end);
      } else {
        const step = at.hasLength ? plan.steps.get(at.number) : undefined;
        const value = step && this.#value(step, at.bytes(), depth + 1, from, plan);
        if (value !== undefined) rest.value(at.valueAt, at.end, value);
      }
    }
    const body = rest.whole();
    if (hasAttributes) body.pieces.push({ kind: "attributes", asIs, leaf: leaf! });
    else if (said.message === "" && said.stack_trace === "") body.pieces.push(...asIs);
    else {
      const made = this.#made(said);
      body.pieces.push(
        stringField(Failure.message, HIDDEN_TEXT),
        fieldHead(Failure.encodedAttributes),
        made,
      );
    }
    return body;
  }

  /**
   * Encodes a failure that has its text in a payload, and removes the text that decoding added next
   * to it.
   */
  #hiddenAgain(plan: Plan, bytes: Uint8Array, depth: number): Body | undefined {
    const shown = failureTextIn(
      payloadFromBytes(readBytes(bytes, Failure.encodedAttributes) ?? EMPTY),
    );
    const cut = new Cutter(bytes);
    for (const at = new Fields(bytes); at.next();) {
      if (at.tag === Failure.message && at.text() === shown?.message) {
        cut.replace(at.start, at.end, stringField(Failure.message, HIDDEN_TEXT));
      } else if (at.tag === Failure.stackTrace && at.text() === shown?.stackTrace) {
        cut.drop(at.start, at.end);
      } else {
        const step = at.hasLength ? plan.steps.get(at.number) : undefined;
        const value = step &&
          this.#value(step, at.bytes(), depth + 1, { field: "Failure", group: {} }, plan);
        if (value !== undefined) cut.value(at.valueAt, at.end, value);
      }
    }
    return cut.finish();
  }

  #made(attributes: object): Leaf {
    const payload = {
      metadata: { encoding: utf8.encode("json/plain") },
      data: utf8.encode(JSON.stringify(attributes)),
    };
    const bytes = new Uint8Array(0);
    const field = "Failure.encodedAttributes";
    const leaf: Leaf = {
      kind: "payload",
      payload,
      field,
      group: {},
      given: this.#given,
      bytes,
      result: undefined,
    };
    this.found.push(leaf);
    return leaf;
  }
}

interface From {
  readonly field: string;
  readonly group: object;
}

/** Bytes with some parts replaced. */
class Cutter {
  readonly #bytes: Uint8Array;
  readonly #pieces: Piece[] = [];
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  #keep(until: number): void {
    if (until > this.#at) this.#pieces.push(this.#bytes.subarray(this.#at, until));
  }

  /** Replaces the value that reaches, with its length, from `start` to `end`. */
  value(start: number, end: number, value: Leaf | Body): void {
    this.replace(start, end, value);
  }

  replace(start: number, end: number, by: Piece): void {
    this.#keep(start);
    this.#pieces.push(by);
    this.#at = end;
  }

  drop(start: number, end: number): void {
    this.#keep(start);
    this.#at = end;
  }

  whole(): Body {
    this.#keep(this.#bytes.length);
    return { kind: "body", pieces: this.#pieces };
  }

  /** Returns undefined if nothing was replaced. */
  finish(): Body | undefined {
    return this.#pieces.length === 0 ? undefined : this.whole();
  }
}

function stringField(tag: number, value: string): Uint8Array {
  return new Message().text(tag, value).finish();
}

/** Returns whether the value of a map entry is an undefined value (binary/null). */
function isNothing(entry: Uint8Array): boolean {
  const { metadata, data } = payloadFromBytes(readBytes(entry, MapEntry.value) ?? EMPTY);
  return data.length === 0 && text.decode(metadata["encoding"]) === "binary/null";
}

/**
 * Encodes a payload. If the codec returned it unchanged, keeps the original bytes, with fields that
 * only the service knows. A codec can also return its input object with changed content.
 */
function encoded({ bytes, payload, result }: Leaf): Uint8Array {
  if (result === undefined) return bytes;
  const now = payloadToBytes(result);
  return result === payload && bytes.length > 0 &&
      equal(now, payloadToBytes(payloadFromBytes(bytes)))
    ? bytes
    : now;
}

const equal = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((byte, i) => byte === b[i]);

/** Returns the message and stack trace in a payload; undefined for other payloads. */
function failureTextIn(
  payload: Payload | undefined,
): { readonly message: string; readonly stackTrace: string } | undefined {
  const encoding = payload?.metadata["encoding"];
  if (payload === undefined || encoding === undefined || text.decode(encoding) !== "json/plain") {
    return undefined;
  }
  try {
    const { message, stack_trace } = JSON.parse(text.decode(payload.data)) as {
      message?: unknown;
      stack_trace?: unknown;
    };
    if (typeof message !== "string") return undefined;
    return { message, stackTrace: typeof stack_trace === "string" ? stack_trace : "" };
  } catch {
    return undefined;
  }
}

/**
 * Returns message, stack trace and their payload if the payload has them; otherwise the three
 * fields as they arrived, with the payload decoded.
 */
function attributePieces({ asIs, leaf }: Attributes): Piece[] {
  const shown = failureTextIn(leaf.result);
  if (shown === undefined) return asIs;
  return [
    stringField(Failure.message, shown.message),
    ...(shown.stackTrace === "" ? [] : [stringField(Failure.stackTrace, shown.stackTrace)]),
    fieldHead(Failure.encodedAttributes),
    leaf,
  ];
}

/** Encodes the tree into one buffer, because it has many small parts. */
function write(root: Body): Uint8Array {
  const parts: Uint8Array[] = [];
  flatten(root, parts);
  return concat(parts);
}

/** Appends the content of a body; returns its length in bytes. */
function flatten(body: Body, parts: Uint8Array[]): number {
  let length = 0;
  const add = (piece: Piece) => {
    if (piece instanceof Uint8Array) {
      parts.push(piece);
      length += piece.length;
    } else if (piece.kind === "attributes") attributePieces(piece).forEach(add);
    else {
      // The length precedes its content and is known after it.
      const at = parts.push(EMPTY) - 1;
      let inner: number;
      if (piece.kind === "body") inner = flatten(piece, parts);
      else {
        const bytes = encoded(piece);
        parts.push(bytes);
        inner = bytes.length;
      }
      const prefix = lengthPrefix(inner);
      parts[at] = prefix;
      length += prefix.length + inner;
    }
  };
  body.pieces.forEach(add);
  return length;
}

const EMPTY = new Uint8Array(0);
