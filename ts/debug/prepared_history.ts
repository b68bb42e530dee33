// A history that is read once for several sessions: edited code is replayed against the same events
// repeatedly.
import type { HistoryEvent } from "../messages/generated/temporal/api/history/v1/message_pb.ts";
import type { PayloadCodec } from "../codec/codec.ts";
import type { PayloadConverter } from "../converter/payload.ts";
import { type EventLinks, linkEvents } from "./event_links.ts";
import { decodeHistoryBytes } from "../history_files/decode_events.ts";
import { type EventLine, makeEventLines } from "./events.ts";
import { type HistoryFile, readHistoryFile } from "../history_files/history_file.ts";

/** How payloads are decoded. */
export interface ReadOptions {
  /** Codecs of the run's payloads: the history is decoded first, in memory. */
  readonly codec?: PayloadCodec | readonly PayloadCodec[];
  /** Converts payloads for display. Default: Temporal's default encodings. */
  readonly converter?: PayloadConverter;
}

/** Data that sessions over one history share. Do not change it. */
export interface PreparedHistory {
  /** The parsed file. */
  readonly file: HistoryFile;
  /** Decoded bytes of temporal.api.history.v1.History. */
  readonly bytes: Uint8Array;
  /** All events, oldest first. */
  readonly events: readonly HistoryEvent[];
  /** Links of events to commands and to each other. */
  readonly links: EventLinks;
  readonly lines: readonly EventLine[];
  /** Converts payloads for display. */
  readonly converter: PayloadConverter | undefined;
}

/**
 * Reads a history for `openSession`. Rejects with a HistoryFileError for a file without a history,
 * and with a PayloadCodecError if a codec fails.
 */
export async function prepareHistory(
  file: Uint8Array,
  { codec, converter }: ReadOptions = {},
): Promise<PreparedHistory> {
  const history = await readHistoryFile(file);
  const bytes = codec === undefined ? history.bytes : await decoded(history.bytes, codec);
  const { events } = decodeHistoryBytes(bytes);
  const links = linkEvents(events, converter);
  return {
    file: history,
    bytes,
    events,
    links,
    lines: makeEventLines(events, converter),
    converter,
  };
}

async function decoded(
  history: Uint8Array,
  codec: NonNullable<ReadOptions["codec"]>,
): Promise<Uint8Array> {
  const { decodeHistory } = await import("../codec/message_codec.ts");
  return await decodeHistory(history, codec);
}
