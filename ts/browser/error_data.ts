// Errors as plain data: structured clone loses the class and the fields of an Error.
import {
  NotAStoreError,
  StoreBusyError,
  StoreCorruptError,
  StoreError,
  StoreFencedError,
  StoreFullError,
  StoreNotEmptyError,
  StoreUnavailableError,
  StoreVersionError,
} from "../engine/store_errors.ts";
import { SqlLimitError } from "../engine/sqlite/bounded_rows.ts";
import { SqlRefusedError } from "../engine/sqlite/read_only_sql.ts";
import { DatabaseError } from "../engine/tables/database.ts";
import { isA, messageOf, nameOf, safeText, stackOf } from "../converter/thrown.ts";
import { type Code, ServiceError } from "../service/raw.ts";

export interface ErrorData {
  readonly name: string;
  readonly message: string;
  readonly stack?: string;
  /** Set for a ServiceError. */
  readonly service?: {
    readonly code: number;
    readonly reason: string;
    readonly metadata: { [key: string]: string };
  };
  /** Set for a StoreVersionError. */
  readonly found?: number;
  readonly known?: number;
  /** Set for a StoreUnavailableError. */
  readonly reason?: StoreUnavailableError["reason"];
}

export function toData(e: unknown): ErrorData {
  const name = nameOf(e);
  const message = messageOf(e);
  if (!isA(e, Error)) return { name: "Error", message };
  const stack = stackOf(e);
  const data: ErrorData = { name, message, ...(stack !== "" && { stack: safeText(stack) }) };
  if (e instanceof ServiceError) {
    return { ...data, service: { code: e.code, reason: e.reason, metadata: { ...e.metadata } } };
  }
  if (e instanceof StoreVersionError) return { ...data, found: e.found, known: e.known };
  if (e instanceof StoreUnavailableError) return { ...data, reason: e.reason };
  return data;
}

const PLAIN: { readonly [name: string]: new (message: string) => Error } = {
  StoreError,
  NotAStoreError,
  StoreBusyError,
  StoreCorruptError,
  StoreFencedError,
  StoreFullError,
  StoreNotEmptyError,
  DatabaseError,
  SqlLimitError,
  SqlRefusedError,
};

export function fromData(data: ErrorData): Error {
  const { name, message, service } = data;
  if (service !== undefined) {
    return new ServiceError(service.code as Code, message, service.reason, service.metadata);
  }
  if (name === "StoreVersionError") {
    return new StoreVersionError(message, data.found ?? 0, data.known ?? 0);
  }
  if (name === "StoreUnavailableError") {
    return new StoreUnavailableError(message, data.reason ?? "blocked");
  }
  const Known = PLAIN[name];
  const error = Known === undefined ? new Error(message) : new Known(message);
  if (Known === undefined) error.name = name;
  if (data.stack !== undefined) error.stack = data.stack;
  return error;
}
