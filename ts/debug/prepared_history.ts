// A history that was read once for several sessions: code that is edited is replayed against the same events again and again.
import type { HistoryEvent } from "../api/generated/temporal/api/history/v1/message_pb.ts";
import type { PayloadCodec } from "../codec/codec.ts";
import type { PayloadConverter } from "../converter/payload.ts";
import { type EventLinks, linksOf } from "./event_links.ts";
import { decodeHistoryBytes } from "../history_files/decode_events.ts";
import { type EventLine, linesOf } from "./events.ts";
import { type HistoryFile, readHistoryFile } from "../history_files/history_file.ts";

/** How payloads are read. */
export interface ReadOptions {
  /** The codec, or codecs, with which the run's payloads were encoded: the history is decoded first, in memory. */
  readonly codec?: PayloadCodec | readonly PayloadCodec[];
  /** Reads the payloads that are shown. Default: Temporal's default encodings. */
  readonly converter?: PayloadConverter;
}

/** What sessions over one history have in common. Do not change it. */
export interface PreparedHistory {
  /** As it was read. */
  readonly file: HistoryFile;
  /** Of temporal.api.history.v1.History, decoded. */
  readonly bytes: Uint8Array;
  /** All events, oldest first. */
  readonly events: readonly HistoryEvent[];
  /** What ties events to commands and to each other. */
  readonly links: EventLinks;
  /** One line for each event. */
  readonly lines: readonly EventLine[];
  /** Reads the payloads that are shown. */
  readonly converter: PayloadConverter | undefined;
}

/** Reads a history for `openSession`. Rejects as that does for a file that holds none, and where a codec fails. */
export async function prepareHistory(file: Uint8Array, { codec, converter }: ReadOptions = {}): Promise<PreparedHistory> {
  const history = await readHistoryFile(file);
  const bytes = codec === undefined ? history.bytes : await decoded(history.bytes, codec);
  const { events } = decodeHistoryBytes(bytes);
  const links = linksOf(events, converter);
  return { file: history, bytes, events, links, lines: linesOf(events, converter), converter };
}

async function decoded(history: Uint8Array, codec: NonNullable<ReadOptions["codec"]>): Promise<Uint8Array> {
  const { decodeHistory } = await import("../codec/message_codec.ts");
  return await decodeHistory(history, codec);
}
