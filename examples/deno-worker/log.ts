// Log records as JSON lines on standard output, one object each, for whatever collects them.
import type { LogFields, Logger, LogLevel } from "temporalex";

const LEVELS: readonly LogLevel[] = ["debug", "info", "warn", "error"];

/** Errors have no enumerable fields that JSON would show. */
function plain(_key: string, value: unknown): unknown {
  if (value instanceof Error) {
    return {
      name: value.name,
      message: value.message,
      stack: value.stack,
      ...(value.cause !== undefined && { cause: value.cause }),
    };
  }
  return typeof value === "bigint" ? String(value) : value;
}

export function jsonLogger(minimum: LogLevel): Logger {
  const log = (level: LogLevel) => (message: string, fields?: LogFields) => {
    if (LEVELS.indexOf(level) < LEVELS.indexOf(minimum)) return;
    console.log(
      JSON.stringify({ time: new Date().toISOString(), level, message, ...fields }, plain),
    );
  };
  return { debug: log("debug"), info: log("info"), warn: log("warn"), error: log("error") };
}
