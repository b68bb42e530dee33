// Structured logging: a message for people and fields for programs. Fields hold ids, names, counts and durations, never payloads: what a
// workflow or activity is given and answers does not belong in a log file.

/** How serious a record is, the least first. */
export type LogLevel = "debug" | "info" | "warn" | "error";

/** What a record is about, for programs: ids, names, counts, durations; never payloads. */
export interface LogFields {
  /** One field. */
  readonly [name: string]: unknown;
}

/** Where records go. Yours may hand them to any logging library: a message and fields. */
export interface Logger {
  /** For those who look for a fault. */
  debug(message: string, fields?: LogFields): void;
  /** What happens in the course of things. */
  info(message: string, fields?: LogFields): void;
  /** What should be looked at, and did no harm. */
  warn(message: string, fields?: LogFields): void;
  /** What went wrong. */
  error(message: string, fields?: LogFields): void;
}

export interface LineLoggerOptions {
  /** Records below this level are dropped. Default: info. */
  minimum?: LogLevel;
  /** Write the level in colour (ANSI). Default: no. */
  colours?: boolean;
  write(line: string): void;
}

const LEVELS: LogLevel[] = ["debug", "info", "warn", "error"];
const COLOURS: { [level in LogLevel]: string } = { debug: "\x1b[2m", info: "\x1b[36m", warn: "\x1b[33m", error: "\x1b[31m" };

/** A value on one line, so that one record stays one line. */
function show(value: unknown): string {
  try {
    return shown(value);
  } catch {
    // A circle, a proxy or getter that throws: the record is worth more than this field.
    return "(cannot be shown)";
  }
}

function shown(value: unknown): string {
  if (value instanceof Error) return JSON.stringify(`${value.name}: ${value.message}`);
  // deno-lint-ignore no-control-regex
  if (typeof value === "string") return /[\s"=\x00-\x1f\x7f]/.test(value) || value === "" ? JSON.stringify(value) : value;
  if (typeof value === "bigint") return String(value);
  return JSON.stringify(value) ?? String(value);
}

/** Writes lines of `level message name=value ...`. */
export function lineLogger({ minimum = "info", colours = false, write }: LineLoggerOptions): Logger {
  const log = (level: LogLevel) => (message: string, fields: LogFields = {}) => {
    if (LEVELS.indexOf(level) < LEVELS.indexOf(minimum)) return;
    let line = colours ? `${COLOURS[level]}${level.padEnd(5)}\x1b[0m ${message}` : `${level.padEnd(5)} ${message}`;
    for (const name in fields) if (fields[name] !== undefined) line += ` ${name}=${show(fields[name])}`;
    write(line);
  };
  return { debug: log("debug"), info: log("info"), warn: log("warn"), error: log("error") };
}

const nothing = () => {};
/** Logs nothing. */
export const silentLogger: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };

/** A logger that adds fields to every record. */
export function withFields(logger: Logger, fields: LogFields): Logger {
  const log = (level: LogLevel) => (message: string, more?: LogFields) => logger[level](message, { ...fields, ...more });
  return { debug: log("debug"), info: log("info"), warn: log("warn"), error: log("error") };
}
