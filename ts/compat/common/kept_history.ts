// Histories in the official packages' form whose events are converted when they are first read.
// Until then such a history is certainly unchanged, so a replay uses the bytes that it was decoded
// from instead of encoding the events again.
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { isSurely } from "../../history_files/wire_check.ts";
import {
  type History,
  HistorySchema,
} from "../../messages/generated/temporal/api/history/v1/message_pb.ts";
import { makePrototype, type PlainMessage, toPlain } from "./plain_proto.ts";

interface Unread {
  readonly get: () => unknown;
  readonly bytes: () => Uint8Array;
}

/** Histories whose events have not been read. */
const unread = new WeakMap<object, Unread>();

/** Decodes a History. Throws for invalid bytes. */
export function decodePlainHistory(encoded: Uint8Array): PlainMessage {
  // Only a decoder can judge other bytes.
  if (!isSurely(HistorySchema, encoded)) {
    return toPlain(HistorySchema, fromBinary(HistorySchema, encoded));
  }
  const bytes = new Uint8Array(encoded);
  return lazyHistory(() => fromBinary(HistorySchema, bytes), () => bytes);
}

/** Converts a History, which must not change afterward. */
export function toPlainHistory(history: History): PlainMessage {
  let bytes: Uint8Array | undefined;
  return lazyHistory(() => history, () => bytes ??= toBinary(HistorySchema, history));
}

const OWN = { enumerable: true, configurable: true } as const;
/** The method that prints an object, also in Deno. An accessor would be printed without its value. */
const PRINTER = Symbol.for("nodejs.util.inspect.custom");

function lazyHistory(message: () => History, bytes: () => Uint8Array): PlainMessage {
  const plain = Object.create(makePrototype(HistorySchema)) as PlainMessage;
  let isRead = false;
  let events: unknown;
  const set = (value: unknown): void => {
    unread.delete(plain);
    isRead = true;
    events = value;
    // A sealed or frozen history keeps the accessor.
    if (Object.getOwnPropertyDescriptor(plain, "events")?.configurable !== true) return;
    Object.defineProperty(plain, "events", { ...OWN, value, writable: true });
  };
  const get = (): unknown => {
    if (!isRead) set(toPlain(HistorySchema, message()).events);
    return events;
  };
  Object.defineProperty(plain, "events", {
    ...OWN,
    get,
    set: (value) => {
      if (Object.isFrozen(plain)) {
        throw new TypeError("cannot assign events: the history is frozen");
      }
      set(value);
    },
  });
  const print = () => {
    get();
    return plain;
  };
  Object.defineProperty(plain, PRINTER, { configurable: true, value: print });
  unread.set(plain, { get, bytes });
  return plain;
}

/**
 * Returns the bytes of a history whose events were never read or replaced; undefined for other
 * objects.
 */
export function unreadHistoryBytes(history: object): Uint8Array | undefined {
  const found = unread.get(history);
  // The property may have been redefined or deleted.
  return Object.getOwnPropertyDescriptor(history, "events")?.get === found?.get
    ? found?.bytes()
    : undefined;
}
