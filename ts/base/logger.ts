// Structured logging: a message for people and fields for programs. Fields hold ids, names, counts
// and durations, never payloads: arguments and results of workflows and activities do not belong in
// a log file.

/** Severity of a record, in ascending order. */
export type LogLevel = "debug" | "info" | "warn" | "error";

/** Fields of a record: ids, names, counts, durations; never payloads. */
export interface LogFields {
  /** One field. */
  readonly [name: string]: unknown;
}

/** Destination of log records. Implementations can forward them to any logging library. */
export interface Logger {
  /** Detail for debugging. */
  debug(message: string, fields?: LogFields): void;
  /** Normal operation. */
  info(message: string, fields?: LogFields): void;
  /** Needs attention, but nothing failed. */
  warn(message: string, fields?: LogFields): void;
  /** Something failed. */
  error(message: string, fields?: LogFields): void;
}

export interface LineLoggerOptions {
  /** Records below this level are dropped. Default: info. */
  minimum?: LogLevel;
  /** Whether to color the level (ANSI). Default: false. */
  colors?: boolean;
  write(line: string): void;
}

const LEVELS: LogLevel[] = ["debug", "info", "warn", "error"];
const COLORS: { [level in LogLevel]: string } = {
  debug: "\x1b[2m",
  info: "\x1b[36m",
  warn: "\x1b[33m",
  error: "\x1b[31m",
};

/** Returns a value on one line, so that a record stays on one line. */
function show(value: unknown): string {
  try {
    return shown(value);
  } catch {
    // A circular value, or a proxy or getter that throws: the record is kept without this field's
    // value.
    return "(cannot be printed)";
  }
}

/**
 * Characters that start a new line, control a terminal or reorder text: C0, DEL, C1, line
 * separators, marks of writing direction.
 */
// deno-lint-ignore no-control-regex
const CONTROLS = /[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
const SHORT: { readonly [character: string]: string } = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** Returns the text with control characters and marks of writing direction as escape sequences. */
export function escapeControls(text: string): string {
  return text.replace(
    CONTROLS,
    (one) => SHORT[one] ?? `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function shown(value: unknown): string {
  if (value instanceof Error) return JSON.stringify(`${value.name}: ${value.message}`);
  if (typeof value === "string") {
    // deno-lint-ignore no-control-regex
    return /[\s"=\x00-\x1f\x7f]/.test(value) || value === "" ? JSON.stringify(value) : value;
  }
  if (typeof value === "bigint") return String(value);
  return JSON.stringify(value) ?? String(value);
}

/** Returns a logger that writes lines of the form `level message name=value ...`. */
export function lineLogger(
  { minimum = "info", colors = false, write }: LineLoggerOptions,
): Logger {
  const log = (level: LogLevel) => (message: string, fields: LogFields = {}) => {
    if (LEVELS.indexOf(level) < LEVELS.indexOf(minimum)) return;
    let record = escapeControls(message);
    for (const name in fields) {
      if (fields[name] !== undefined) {
        record += ` ${escapeControls(name)}=${escapeControls(show(fields[name]))}`;
      }
    }
    write(`${colors ? `${COLORS[level]}${level.padEnd(5)}\x1b[0m` : level.padEnd(5)} ${record}`);
  };
  return { debug: log("debug"), info: log("info"), warn: log("warn"), error: log("error") };
}

const nothing = () => {};
/** A logger that discards all records. */
export const silentLogger: Logger = {
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
};

/** Returns a logger that adds fields to every record. */
export function withFields(logger: Logger, fields: LogFields): Logger {
  const log = (level: LogLevel) => (message: string, more?: LogFields) =>
    logger[level](message, { ...fields, ...more });
  return { debug: log("debug"), info: log("info"), warn: log("warn"), error: log("error") };
}
