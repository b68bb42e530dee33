// Opens a history in any exported format: JSON of the UI (encoded or decoded), the CLI (also one
// event per line) or the SDKs, in a response, a list of one or as bare events, newest or oldest
// first; Protobuf; Base64 of it; and gzip of any of these. Returns bytes of
// temporal.api.history.v1.History, oldest event first.
//
// Other content is never guessed: it is rejected with a HistoryFileError that states the problem
// and its position.
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { runIdIn } from "../converter/history_run.ts";
import { EventType } from "../messages/generated/temporal/api/enums/v1/event_type_pb.ts";
import {
  DataBlob,
  GetWorkflowExecutionHistoryResponse,
  History,
} from "../messages/generated/fields.ts";
import {
  type HistoryEvent as DecodedEvent,
  HistoryEventSchema,
  HistorySchema,
} from "../messages/generated/temporal/api/history/v1/message_pb.ts";
import { concat, Fields, readBytes } from "../messages/wire.ts";
import { check, type EncodedEvent, haveIds, inOrder, isStrict } from "./history_events.ts";
import { writeMessage } from "./history_json.ts";
import { HistoryFileError, isObject, type Json, JsonReading } from "./json_reading.ts";
import { jsonFault } from "./json_fault.ts";
import { nestedTooDeep } from "./json_nesting.ts";
import { decodeBase64 } from "./payload_json.ts";
import { isSurely } from "./wire_check.ts";

export { HistoryFileError } from "./json_reading.ts";

/** A history that was read from a file. */
export interface HistoryFile {
  /** temporal.api.history.v1.History */
  readonly bytes: Uint8Array;
  readonly events: number;
  /** Type of the workflow, from the first event. */
  readonly workflowType: string;
  /** "" if the history does not contain it (servers before 1.25). */
  readonly workflowId: string;
  /** "" if the history does not contain it. */
  readonly runId: string;
  /** Notable changes that were made to read the file. */
  readonly notes: readonly string[];
}

/** More than a server stores in one history. */
const MAX_BYTES = 256 * 1024 * 1024;

/** One of the histories in a file. */
export interface HistoryInFile {
  /** "line 3", "[2]"; "" if the file contains one history. */
  readonly place: string;
  /** Reads the history. Throws a HistoryFileError. */
  read(): HistoryFile;
}

/** Reads a file with one history. Throws a HistoryFileError. */
export async function readHistoryFile(file: Uint8Array): Promise<HistoryFile> {
  const histories = await historiesIn(file);
  if (histories.length > 1) {
    throw new HistoryFileError(
      `the file has ${histories.length} histories; use one file per history`,
    );
  }
  return histories[0]!.read();
}

/**
 * Returns the histories in a file: one, a list, or one per line as `temporalex store export` writes
 * them. Each is read on demand, so that an invalid one does not affect the others. Throws a
 * HistoryFileError for a file without histories.
 */
export async function historiesIn(file: Uint8Array): Promise<readonly HistoryInFile[]> {
  const notes: string[] = [];
  // User codecs get parts of the bytes. Node's Buffer is a Uint8Array whose methods differ.
  const content = await open(new Uint8Array(file.buffer, file.byteOffset, file.length), notes, 0);
  if (typeof content !== "string") {
    return [{
      place: "",
      read: () => historyFile(fromProtobuf(content), notes),
    }];
  }
  const firstEnd = content.indexOf("\n");
  if (firstEnd !== -1 && isHistoryLine(content.slice(0, firstEnd))) {
    return content.split("\n").flatMap((line, i) =>
      line.trim() === ""
        ? []
        : [{ place: `line ${i + 1}`, read: () => readHistoryText(line, [...notes]) }]
    );
  }
  const json = parseJson(content);
  if (Array.isArray(json) && json.length > 1 && isWrapper(json[0])) {
    return json.map((item, i) => ({ place: `[${i}]`, read: () => historyOf(item, [...notes]) }));
  }
  return [{ place: "", read: () => historyOf(json, notes) }];
}

/**
 * Returns whether a line of JSON is a whole history, and not an event or the start of a longer
 * text.
 */
export function isHistoryLine(line: string): boolean {
  if (!/^\s*\{.*\}\s*$/.test(line) || nestedTooDeep(line) !== undefined) return false;
  try {
    return isWrapper(JSON.parse(line) as Json);
  } catch {
    return false;
  }
}

const isWrapper = (json: Json | undefined): boolean =>
  isObject(json) && ["history", "History", "events", "Events"].some((key) => key in json);

/** Reads the JSON of one history. Throws a HistoryFileError. */
export function readHistoryText(text: string, notes: string[] = []): HistoryFile {
  return historyOf(parseJson(text), notes);
}

function historyOf(json: Json, notes: string[]): HistoryFile {
  return historyFile(fromJson(json, notes), notes, Array.isArray(json) ? json[0] : json);
}

/**
 * `history`: the encoded events. `wrapper`: the object around them, which may contain the run ID if
 * the history does not.
 */
function historyFile(history: Uint8Array, notes: string[], wrapper?: Json): HistoryFile {
  const { bytes, events } = inOrder(history, notes);
  check(events);
  const first = fromBinary(HistoryEventSchema, events[0]!.bytes);
  const { case: kind, value: started } = first.attributes;
  const { workflowType = undefined, workflowId = "" } =
    kind === "workflowExecutionStartedEventAttributes" ? started : {};
  return {
    bytes,
    events: events.length,
    workflowType: workflowType?.name ?? "",
    workflowId: workflowId || named(wrapper, "workflowId"),
    runId: runIdIn(namingRuns(first, events)) || named(wrapper, "runId"),
    notes,
  };
}

/** Returns the events that contain the run ID. */
function namingRuns(first: DecodedEvent, events: readonly EncodedEvent[]): DecodedEvent[] {
  const failed = events.filter(({ type }) => type === EventType.WORKFLOW_TASK_FAILED);
  return [first, ...failed.map(({ bytes }) => fromBinary(HistoryEventSchema, bytes))];
}

function named(wrapper: Json | undefined, field: string): string {
  const value = isObject(wrapper) ? wrapper[field] : undefined;
  return typeof value === "string" ? value : "";
}

const EMPTY_FILE =
  "the file is empty; expected a history in JSON or protobuf: export the workflow again";

/** Returns text for JSON, bytes for Protobuf. */
async function open(
  file: Uint8Array,
  notes: string[],
  depth: number,
): Promise<string | Uint8Array> {
  if (file.length === 0) throw new HistoryFileError(EMPTY_FILE);
  if (file[0] === 0x1f && file[1] === 0x8b) {
    if (depth > 2) {
      throw new HistoryFileError("the file is compressed more than three times; unpack it first");
    }
    notes.push("it was compressed with gzip");
    return await open(await gunzip(file), notes, depth + 1);
  }
  if (file[0] === 0x50 && file[1] === 0x4b && file[2] === 0x03) {
    throw new HistoryFileError("the file is a zip archive; unpack it first");
  }
  const text = asText(file);
  if (text === undefined) return file;
  const trimmed = text.trim();
  if (trimmed === "") throw new HistoryFileError(EMPTY_FILE);
  if (trimmed.startsWith("<")) {
    throw new HistoryFileError(
      "this is a web page (HTML or XML), not a history; it may be a login page",
    );
  }
  if (/^[[{"]/.test(trimmed)) return text;
  const binary = trimmed.length >= 16 ? decodeBase64(trimmed) : undefined;
  if (binary?.[0] === 0x1f && binary[1] === 0x8b) {
    notes.push("it was in base64");
    return await open(binary, notes, depth + 1);
  }
  if (binary !== undefined) {
    notes.push("it was protobuf in base64");
    return binary;
  }
  // The bytes of a short Protobuf file can also be valid text.
  return file;
}

async function gunzip(file: Uint8Array): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    const stream = new Blob([file as Uint8Array<ArrayBuffer>]).stream().pipeThrough(
      new DecompressionStream("gzip"),
    );
    const reader = stream.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      length += value.length;
      if (length > MAX_BYTES) {
        await reader.cancel();
        throw new HistoryFileError(
          `the file has more than ${MAX_BYTES / 1024 / 1024} MiB when it is unpacked`,
        );
      }
      chunks.push(value);
    }
  } catch (e) {
    if (e instanceof HistoryFileError) throw e;
    throw new HistoryFileError(
      `the file has a gzip header, but cannot be decompressed: ${(e as Error).message}`,
      { cause: e },
    );
  }
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

/** Decodes UTF-8, or UTF-16 as some shells redirect output; undefined for other bytes. */
function asText(file: Uint8Array): string | undefined {
  if (file[0] === 0xff && file[1] === 0xfe) return new TextDecoder("utf-16le").decode(file);
  if (file[0] === 0xfe && file[1] === 0xff) return new TextDecoder("utf-16be").decode(file);
  // Checked before decoding: the first bytes identify Protobuf.
  for (let at = 0; at < file.length && at < 4096; at++) {
    const byte = file[at]!;
    if (byte < 0x20 && (byte < 9 || byte > 13)) return undefined;
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(file);
  } catch {
    return undefined;
  }
}

const NONE = new Uint8Array();

/** Returns the encoded History from its bytes, or from a response that contains it. */
function fromProtobuf(bytes: Uint8Array): Uint8Array {
  if (isHistory(bytes)) return bytes;
  const response = responseIn(bytes);
  // Checked before the lenient reading, which would accept a response as a history of empty events.
  if (response !== undefined && isHistory(response.history)) return response.history;
  try {
    const history = fromBinary(HistorySchema, bytes);
    if (history.events.length > 0 && history.events.every((event) => event.eventId > 0n)) {
      return isStrict(bytes) ? bytes : toBinary(HistorySchema, history);
    }
  } catch {
    // The bytes may be the response that contains a history.
  }
  try {
    // Concatenated encoded histories form one history.
    if (response !== undefined && response.raw.length > 0) return concat(response.raw.map(checked));
    if (
      response !== undefined && fromBinary(HistorySchema, response.history).events[0]!.eventId > 0n
    ) {
      return checked(response.history);
    }
  } catch {
    // The format is unknown.
  }
  throw new HistoryFileError(
    "the file is neither JSON nor a protobuf history; it may be damaged or truncated",
  );
}

const isHistory = (bytes: Uint8Array): boolean => isSurely(HistorySchema, bytes) && haveIds(bytes);

/** Reads a GetWorkflowExecutionHistoryResponse; undefined for bytes that are not such a message. */
function responseIn(
  bytes: Uint8Array,
): { readonly history: Uint8Array; readonly raw: readonly Uint8Array[] } | undefined {
  const whole: Uint8Array[] = [], raw: Uint8Array[] = [];
  try {
    for (const at = new Fields(bytes); at.next();) {
      if (at.tag === GetWorkflowExecutionHistoryResponse.history) whole.push(at.bytes());
      else if (at.tag === GetWorkflowExecutionHistoryResponse.rawHistory) {
        raw.push(readBytes(at.bytes(), DataBlob.data) ?? NONE);
      }
    }
  } catch {
    return undefined;
  }
  return { history: concat(whole), raw };
}

/** Throws for bytes that are not a History. */
function checked(history: Uint8Array): Uint8Array {
  const decoded = fromBinary(HistorySchema, history);
  return isStrict(history) ? history : toBinary(HistorySchema, decoded);
}

function parseJson(text: string): Json {
  const deep = nestedTooDeep(text);
  if (deep !== undefined) throw new HistoryFileError(`the file is not a history: ${deep}`);
  try {
    return JSON.parse(text) as Json;
  } catch (e) {
    const lines = text.split(/\r?\n/).filter((line) => line.trim() !== "");
    // One event per line, as `temporal workflow show --output jsonl` prints them.
    if (lines.length > 1 && lines.every((line) => /^\s*\{.*\}\s*$/.test(line))) {
      try {
        return lines.map((line) => JSON.parse(line) as Json);
      } catch {
        // The first error is more precise.
      }
    }
    throw new HistoryFileError(`the file is not valid JSON: ${jsonFault(text)}`, { cause: e });
  }
}

/** Encodes a history from JSON. */
function fromJson(json: Json, notes: string[]): Uint8Array {
  const raw = rawHistory(json);
  if (raw !== undefined) return raw;
  const [list, path] = eventList(json);
  const reading = new JsonReading();
  const { to } = reading;
  reading.path.push(path);
  list.forEach((item, i) => {
    reading.path.push(i);
    to.varint32(History.events);
    const start = to.begin();
    reading.chosen = 0;
    writeMessage(HistoryEventSchema, item, reading);
    if (reading.chosen === 0) {
      const event = fromBinary(HistoryEventSchema, to.slice(start));
      if (!isNovel(item, event)) throw missingAttributes(item, event, reading.place);
      notes.push(
        `${reading.place} (eventId ${event.eventId}) is of type ${
          JSON.stringify(typeIn(item))
        }, which this version does not support; its attributes were omitted`,
      );
    }
    to.end(start);
    reading.path.pop();
  });
  if (reading.decodedPayloads > 0) {
    notes.push(
      `${reading.decodedPayloads} payloads were decoded in the file and were encoded as JSON again; values that were not JSON may differ`,
    );
  }
  return to.slice();
}

const typeIn = (json: Json): Json | undefined =>
  isObject(json) ? json["eventType"] ?? json["event_type"] ?? json["EventType"] : undefined;

const KNOWN_TYPES: ReadonlySet<number> = new Set(
  Object.values(EventType).filter((type) => type !== EventType.UNSPECIFIED),
);

/**
 * Returns whether a newer server wrote the event. The core decides whether the history can be
 * replayed without it.
 */
const isNovel = (json: Json, { eventType, eventId }: DecodedEvent): boolean =>
  typeIn(json) !== undefined && eventId > 0n && !KNOWN_TYPES.has(eventType);

function missingAttributes(json: Json, event: DecodedEvent, path: string): HistoryFileError {
  const type = typeIn(json);
  const id = event.eventId > 0n ? ` (eventId ${event.eventId})` : "";
  return new HistoryFileError(
    type === undefined
      ? `${path}${id} is not an event: it has no type and no attributes`
      : `${path}${id}, a ${String(type)}, has no attributes; the export is incomplete`,
  );
}

/** Returns the list of events in a file, and its position. */
function eventList(json: Json): [Json[], string] {
  if (typeof json === "string") return eventList(parseJson(json));
  if (Array.isArray(json)) {
    if (json.length === 0) throw new HistoryFileError("the file has an empty list");
    const first = json[0]!;
    if (!isObject(first)) {
      throw new HistoryFileError("the file has a list, but its items are not events");
    }
    if (!("events" in first) && !("history" in first) && !("Events" in first)) {
      return [json, "events"];
    }
    if (json.length > 1) {
      throw new HistoryFileError(`the file has ${json.length} histories; use one file per history`);
    }
    return eventList(first);
  }
  if (!isObject(json)) {
    throw new HistoryFileError(
      "the file has no history: expected a JSON object with `events`, or a list of events",
    );
  }
  const inner = json["history"] ?? json["History"];
  if (isObject(inner) || Array.isArray(inner)) return eventList(inner);
  const events = json["events"] ?? json["Events"];
  if (Array.isArray(events)) {
    if (events.length === 0) throw new HistoryFileError("the history has no events");
    return [events, "events"];
  }
  if ("eventId" in json || "eventType" in json) return [[json], "events"];
  const keys = Object.keys(json).slice(0, 5).join(", ");
  throw new HistoryFileError(
    `the file is JSON, but not a history: it has no "events" (its keys: ${keys || "none"})`,
  );
}

/** Reads a response whose history is in encoded batches. */
function rawHistory(json: Json): Uint8Array | undefined {
  if (!isObject(json) || !Array.isArray(json["rawHistory"]) || json["rawHistory"].length === 0) {
    return undefined;
  }
  return concat(json["rawHistory"].map((blob, i) => {
    const data = isObject(blob) && typeof blob["data"] === "string"
      ? decodeBase64(blob["data"])
      : undefined;
    if (data === undefined) throw new HistoryFileError(`rawHistory[${i}] has no data`);
    try {
      return checked(data);
    } catch (e) {
      throw new HistoryFileError(
        `rawHistory[${i}] is not a protobuf history: ${(e as Error).message}`,
        { cause: e },
      );
    }
  }));
}
