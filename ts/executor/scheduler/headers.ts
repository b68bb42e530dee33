// Headers of a run's start are passed on unread to its activities, children, signals and next run,
// so that values of the start's caller (a trace context, a tenant) reach the interceptors of
// workers. They are in the history's first event, so every replay sends the same.
import { Payload as PayloadCodec } from "../../core/generated/boundary/temporal/api/common/v1/message.ts";
import {
  MapEntry,
  ScheduleActivity,
  ScheduleLocalActivity,
} from "../../messages/generated/fields.ts";
import {
  ANSWERED_UPDATES_HEADER,
  BUFFERED_SIGNALS_HEADER,
  CANCEL_REQUEST_HEADER,
  CARRY_HEADER,
} from "./next_run_headers.ts";
import { encodeParts, type WirePayload } from "../program/encode.ts";

type Fields = { readonly [name: string]: WirePayload };

const NONE = new Uint8Array(0);
const NO_FIELDS: Fields = {};
/** Headers from the previous run, for this run only. */
const HANDED_ON: ReadonlySet<string> = new Set([
  BUFFERED_SIGNALS_HEADER,
  CANCEL_REQUEST_HEADER,
  ANSWERED_UPDATES_HEADER,
  CARRY_HEADER,
]);

export class StartHeaders {
  /** For a start without headers. */
  static readonly none = new StartHeaders(NO_FIELDS);
  readonly fields: Fields;
  /** Field `headers` of ScheduleActivity, encoded once for all activities of the run. */
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

  /** The headers of a start without those for this run only. */
  static of(headers: Fields): StartHeaders {
    const names = Object.keys(headers).filter((name) => !HANDED_ON.has(name));
    if (names.length === 0) return StartHeaders.none;
    // Copied: the payloads are views of the activation's bytes, which are reused.
    return new StartHeaders(
      Object.fromEntries(names.map((name) => [name, copyPayload(headers[name]!)])),
    );
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

/** Copies a payload that is a view of other bytes. */
export function copyPayload(payload: WirePayload): WirePayload {
  const metadata = Object.fromEntries(
    Object.entries(payload.metadata).map(([key, value]) => [key, value.slice()]),
  );
  return { ...payload, metadata, data: payload.data.slice() };
}
