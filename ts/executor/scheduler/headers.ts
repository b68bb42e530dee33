// Headers of a run's start travel on, unread: to each activity and child that the run calls, to workflows that it signals, and to the run
// that continues it. So what the start's
// caller put there (a trace context, a tenant) reaches the interceptors of the workers that carry the work out, though workflow code knows
// nothing of it. They are part of the history's first event, so every replay sends the same.
import { Payload as PayloadCodec } from "../../core/generated/boundary/temporal/api/common/v1/message.ts";
import { MapEntry, ScheduleActivity, ScheduleLocalActivity } from "../../api/generated/fields.ts";
import { ANSWERED_UPDATES_HEADER, BUFFERED_SIGNALS_HEADER, CANCEL_REQUEST_HEADER, CARRY_HEADER } from "./next_run_headers.ts";
import { encodeParts, type WirePayload } from "../program/encode.ts";

type Fields = { readonly [name: string]: WirePayload };

const NONE = new Uint8Array(0);
const NO_FIELDS: Fields = {};
/** What the run before this one handed to this one alone. */
const HANDED_ON: ReadonlySet<string> = new Set([
  BUFFERED_SIGNALS_HEADER,
  CANCEL_REQUEST_HEADER,
  ANSWERED_UPDATES_HEADER,
  CARRY_HEADER,
]);

export class StartHeaders {
  /** The start had none. */
  static readonly none = new StartHeaders(NO_FIELDS);
  readonly fields: Fields;
  /** As the field `headers` of ScheduleActivity, encoded once for all activities of the run. */
  readonly ofActivity: Uint8Array;
  #ofLocalActivity: Uint8Array | undefined;

  private constructor(fields: Fields) {
    this.fields = fields;
    this.ofActivity = encodedAs(ScheduleActivity.headers, fields);
  }

  /** The same for ScheduleLocalActivity. */
  get ofLocalActivity(): Uint8Array {
    return this.#ofLocalActivity ??= encodedAs(ScheduleLocalActivity.headers, this.fields);
  }

  /** Those of a start but for what the run before this one handed to this one alone. */
  static of(headers: Fields): StartHeaders {
    const names = Object.keys(headers).filter((name) => !HANDED_ON.has(name));
    if (names.length === 0) return StartHeaders.none;
    // Copies: the payloads are views into the bytes of the activation, which are let go.
    return new StartHeaders(Object.fromEntries(names.map((name) => [name, copyPayload(headers[name]!)])));
  }
}

function encodedAs(tag: number, fields: Fields): Uint8Array {
  const entries = Object.entries(fields);
  if (entries.length === 0) return NONE;
  return encodeParts((writer) => {
    for (const [name, payload] of entries) {
      writer.uint32(tag).fork().uint32(MapEntry.key).string(name);
      PayloadCodec.encode(payload, writer.uint32(MapEntry.value).fork()).join();
      writer.join();
    }
  });
}

/** A payload that is no view into other bytes. */
export function copyPayload(payload: WirePayload): WirePayload {
  const metadata = Object.fromEntries(Object.entries(payload.metadata).map(([key, value]) => [key, value.slice()]));
  return { ...payload, metadata, data: payload.data.slice() };
}
