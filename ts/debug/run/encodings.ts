// Which encodings of a history only a codec reads.
import type { Failure } from "../../api/generated/temporal/api/failure/v1/message_pb.ts";
import type { HistoryEvent } from "../../api/generated/temporal/api/history/v1/message_pb.ts";
import type { Payload } from "../../converter/payload.ts";
import { valuesOf } from "./event_values.ts";

/** Encodings of converters, Temporal's own: no codec made them. */
const CONVERTERS: ReadonlySet<string> = new Set([
  "",
  "json/plain",
  "json/protobuf",
  "binary/plain",
  "binary/null",
  "binary/protobuf",
]);
const text = new TextDecoder();

/** The encoding of a payload where a codec made it; undefined for those of converters. */
export function codecEncoding({ metadata }: Payload): string | undefined {
  const encoding = text.decode(metadata["encoding"]);
  return CONVERTERS.has(encoding) ? undefined : encoding;
}

/** Each such encoding, with how many payloads have it. */
export function encodingsOf(events: readonly HistoryEvent[]): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  const add = (payload: Payload | undefined) => {
    const encoding = payload === undefined ? undefined : codecEncoding(payload);
    if (encoding !== undefined) found.set(encoding, (found.get(encoding) ?? 0) + 1);
  };
  for (const event of events) {
    const { input, output, failure } = valuesOf(event);
    input?.forEach(add);
    output?.forEach(add);
    for (let at: Failure | undefined = failure; at !== undefined; at = at.cause) add(at.encodedAttributes);
  }
  return found;
}
