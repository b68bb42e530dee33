// Finds the encodings in a history that only a payload codec can decode.
import type { Failure } from "../../messages/generated/temporal/api/failure/v1/message_pb.ts";
import type { HistoryEvent } from "../../messages/generated/temporal/api/history/v1/message_pb.ts";
import type { Payload } from "../../converter/payload.ts";
import { readEventValues } from "./event_values.ts";

/** Encodings of Temporal's converters, which need no codec. */
const CONVERTERS: ReadonlySet<string> = new Set([
  "",
  "json/plain",
  "json/protobuf",
  "binary/plain",
  "binary/null",
  "binary/protobuf",
]);
const text = new TextDecoder();

/**
 * Returns the encoding of a payload that a codec encoded; undefined for encodings of converters.
 */
export function findCodecEncoding({ metadata }: Payload): string | undefined {
  const encoding = text.decode(metadata["encoding"]);
  return CONVERTERS.has(encoding) ? undefined : encoding;
}

/** Returns each such encoding with the number of its payloads. */
export function countEncodings(events: readonly HistoryEvent[]): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  const add = (payload: Payload | undefined) => {
    const encoding = payload === undefined ? undefined : findCodecEncoding(payload);
    if (encoding !== undefined) found.set(encoding, (found.get(encoding) ?? 0) + 1);
  };
  for (const event of events) {
    const { input, output, failure } = readEventValues(event);
    input?.forEach(add);
    output?.forEach(add);
    for (let at: Failure | undefined = failure; at !== undefined; at = at.cause) {
      add(at.encodedAttributes);
    }
  }
  return found;
}
