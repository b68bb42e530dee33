// Opens a history without code. Groups and facts are computed at once, values are decoded on first
// use.
import type { PayloadCodec } from "../../codec/codec.ts";
import type { PayloadConverter } from "../../converter/payload.ts";
import type { HistoryEvent } from "../../messages/generated/temporal/api/history/v1/message_pb.ts";
import { decodeHistoryBytes } from "../../history_files/decode_events.ts";
import { type EventLine, makeEventLines } from "../events.ts";
import { type HistoryFile, readHistoryFile } from "../../history_files/history_file.ts";
import { OpenSpans } from "../spans.ts";
import { readTimerName, readTimerSummary } from "../timer_name.ts";
import { formatShort, printBriefArgs } from "../value_text.ts";
import {
  formatExactDuration,
  readPayload,
  type Shown,
  type ShownFailure,
  textOfBytes,
  toPlainData,
  toPlainEvent,
  toShownFailure,
} from "../values.ts";
import { estimateAttempts } from "./attempts.ts";
import { countEncodings } from "./encodings.ts";
import { toMilliseconds } from "./event_time.ts";
import { readEventValues } from "./event_values.ts";
import { readRunFacts } from "./facts.ts";
import { listFindings } from "./findings.ts";
import { type Grouped, groupEvents } from "./grouping.ts";
import { measureLimits } from "./limits.ts";
import { isSubscribing } from "./subscribing.ts";
import type { Attempt, Finding, RunFacts, RunItem, RunLimit, RunModel } from "./types.ts";

/** Options of `openRun`. */
export interface OpenRunOptions {
  /** The codecs that encoded the run's payloads. The history is decoded first, in memory. */
  readonly codec?: PayloadCodec | readonly PayloadCodec[];
  /** Decodes the payloads that are shown. Default: Temporal's default encodings. */
  readonly converter?: PayloadConverter;
}

/**
 * Opens a history of any SDK, in any exported format, without its code. Rejects with a
 * HistoryFileError if the file contains no history, or a PayloadCodecError.
 */
export async function openRun(
  file: Uint8Array | HistoryFile,
  options: OpenRunOptions = {},
): Promise<RunModel> {
  const history = file instanceof Uint8Array ? await readHistoryFile(file) : file;
  return new Run(history, await decoded(history.bytes, options.codec), options.converter);
}

async function decoded(history: Uint8Array, codec: OpenRunOptions["codec"]): Promise<Uint8Array> {
  if (codec === undefined) return history;
  const { decodeHistory } = await import("../../codec/message_codec.ts");
  return await decodeHistory(history, codec);
}

/** Decodes details that an SDK stored as bytes of text. */
function readableMarker(details: Shown): Shown {
  const text = "value" in details && details.value instanceof Uint8Array
    ? textOfBytes(details.value)
    : undefined;
  return text === undefined ? details : { value: text };
}

class Run implements RunModel {
  readonly facts: RunFacts;
  readonly items: readonly RunItem[];
  readonly lines: readonly EventLine[];
  readonly tasks: readonly EventLine[];
  readonly notes: readonly string[];
  readonly bytes: Uint8Array;
  readonly hasGroups: boolean;
  readonly #events: readonly HistoryEvent[];
  readonly #ofEvent: Grouped["ofEvent"];
  readonly #converter: PayloadConverter | undefined;
  #limits: readonly RunLimit[] | undefined;
  #encodings: ReadonlyMap<string, number> | undefined;
  #findings: readonly Finding[] | undefined;
  #pending: { readonly things: readonly RunItem[]; readonly open: OpenSpans } | undefined;
  readonly #details = new Map<RunItem, string>();
  /** The searchable texts, by item. */
  #texts: readonly string[] | undefined;

  constructor(file: HistoryFile, bytes: Uint8Array, converter: PayloadConverter | undefined) {
    this.bytes = bytes;
    this.notes = file.notes;
    this.#converter = converter;
    const { events } = decodeHistoryBytes(bytes);
    this.#events = events;
    this.lines = makeEventLines(events, converter);
    this.tasks = this.lines.filter(({ type }) => type === "WorkflowTaskStarted");
    this.facts = readRunFacts(file, events);
    const { items, ofEvent } = groupEvents(events, converter);
    this.items = items;
    this.#ofEvent = ofEvent;
    this.hasGroups = events.some(({ eventGroupMarkers }) => eventGroupMarkers.length > 0);
  }

  get limits(): readonly RunLimit[] {
    return this.#limits ??= measureLimits(this.#events, this.bytes);
  }

  get encodings(): ReadonlyMap<string, number> {
    return this.#encodings ??= countEncodings(this.#events);
  }

  get findings(): readonly Finding[] {
    return this.#findings ??= listFindings({
      events: this.#events,
      items: this.items,
      facts: this.facts,
      limits: this.limits,
      itemOf: (eventId) => this.itemOf(eventId),
    });
  }

  itemOf(eventId: number): RunItem | undefined {
    return this.#ofEvent[eventId];
  }

  pendingAt(position: number): readonly RunItem[] {
    if (this.#pending === undefined) {
      const things = this.items.filter(({ kind }) => kind !== "task");
      const open = new OpenSpans(
        things.length,
        (i) => things[i]!.from,
        (i) => things[i]!.closedBy ?? Infinity,
      );
      this.#pending = { things, open };
    }
    const { things, open } = this.#pending;
    return open.at(position).map((i) => things[i]!);
  }

  inputOf(item: RunItem): readonly Shown[] {
    const input = this.#valuesOf(item, ({ input }) => input);
    const values = (input ?? []).map((payload) => readPayload(payload, this.#converter));
    return item.kind === "marker" ? values.map(readableMarker) : values;
  }

  outputOf(item: RunItem): Shown | undefined {
    const output = this.#valuesOf(item, ({ output }) => output);
    return output?.[0] === undefined ? undefined : readPayload(output[0], this.#converter);
  }

  failureOf(item: RunItem): ShownFailure | undefined {
    const closing = item.closedBy === undefined ? undefined : this.#events[item.closedBy - 1];
    const failure = closing === undefined ? undefined : readEventValues(closing).failure;
    return failure === undefined ? undefined : toShownFailure(failure);
  }

  attemptsOf(item: RunItem): readonly Attempt[] {
    return estimateAttempts(item, this.#events);
  }

  eventOf(eventId: number): unknown {
    const event = this.#events[eventId - 1];
    return event === undefined ? undefined : toPlainEvent(event, this.#converter);
  }

  detailOf(item: RunItem): string {
    let detail = this.#details.get(item);
    if (detail === undefined) this.#details.set(item, detail = this.#detail(item));
    return detail;
  }

  #detail(item: RunItem): string {
    if (item.kind === "timer") return this.#timerDetail(item);
    // The name states what it changes.
    if (item.kind === "searchAttributes" && isSubscribing(item.name)) return "";
    const args = printBriefArgs(this.inputOf(item).map(toPlainData));
    const output = this.outputOf(item);
    const failure = this.failureOf(item);
    const attempts = item.attempt > 1 ? `${item.attempt} attempts, ` : "";
    if (failure !== undefined) {
      return `${args === "" ? "" : `${args} `}${attempts}${
        failure.cause?.message ?? failure.message
      }`.trim();
    }
    const end = output === undefined
      ? item.status === "open" || item.status === "completed" ? "" : item.status
      : `→ ${formatShort(toPlainData(output))}`;
    return [args, attempts.replace(/, $/, ""), end].filter((part) => part !== "").join(" ");
  }

  /** Returns what the name of a timer omits: its duration, its summary, whether it was canceled. */
  #timerDetail({ from, name, status }: RunItem): string {
    const { attributes, userMetadata } = this.#events[from - 1]!;
    const startToFire = attributes.case === "timerStartedEventAttributes"
      ? attributes.value.startToFireTimeout
      : undefined;
    const summary = readTimerSummary(userMetadata?.summary, this.#converter);
    const said = readTimerName(summary) === ""
      ? (summary === "" ? "" : formatShort(summary))
      : formatExactDuration(toMilliseconds(startToFire) ?? 0);
    const end = status === "open" || status === "completed" ? "" : status;
    return [said, end].filter((part) => part !== "" && `timer ${part}` !== name).join(" ");
  }

  search(text: string): ReadonlySet<number> {
    const wanted = text.trim().toLowerCase();
    const found = new Set<number>();
    if (wanted === "") return found;
    this.#texts ??= this.items.map((item) => this.#textOf(item));
    this.#texts.forEach((each, index) => {
      if (each.includes(wanted)) found.add(index);
    });
    return found;
  }

  #textOf(item: RunItem): string {
    const values = [...this.inputOf(item), this.outputOf(item)].map((value) =>
      value === undefined ? "" : formatShort(toPlainData(value), 4096)
    );
    const { message = "", type = "", cause } = this.failureOf(item) ?? {};
    const types = item.eventIds.map((id) => this.lines[id - 1]!.type);
    const detail = item.kind === "timer" ? this.detailOf(item) : "";
    return [
      item.name,
      item.key,
      item.status,
      ...types,
      ...values,
      message,
      type,
      cause?.message ?? "",
      detail,
    ].join("\n")
      .toLowerCase();
  }

  /** Returns the value of the first event of an item that has one. */
  #valuesOf<T>(
    item: RunItem,
    pick: (values: ReturnType<typeof readEventValues>) => T | undefined,
  ): T | undefined {
    for (const id of item.eventIds) {
      const picked = pick(readEventValues(this.#events[id - 1]!));
      if (picked !== undefined) return picked;
    }
    return undefined;
  }
}
