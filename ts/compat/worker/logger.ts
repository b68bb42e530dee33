// Logs of `@temporalio/worker`: its default logger, and an adapter from this package's workers to
// an official logger.
import type { LogFields, Logger as NativeLogger } from "../../base/logger.ts";
import { terminalTakesColors } from "../../platform/host.ts";
import type { Logger, LogLevel, LogMetadata } from "../common/mod.ts";
import { type Inspect, nodeUtil, standardError } from "./host.ts";

export type { Logger, LogLevel, LogMetadata };

/** A line of the default logger. */
export interface LogEntry {
  /** Text of the line. */
  message: string;
  /** Level of the line. */
  level: LogLevel;
  /** Time in nanoseconds since 1970. */
  timestampNanos: bigint;
  /** Fields of the line. */
  meta?: LogMetadata;
}

/** Metadata key of a record's time, in nanoseconds. */
export const LogTimestamp: unique symbol = Symbol.for("log_timestamp") as never;

const SEVERITIES: readonly LogLevel[] = ["TRACE", "DEBUG", "INFO", "WARN", "ERROR"];

function writeLine({ level, timestampNanos, message, meta }: LogEntry): void {
  const { inspect } = nodeUtil() as Inspect;
  const show = (value: unknown) => inspect(value, { colors: terminalTakesColors() });
  const date = show(new Date(Number(timestampNanos / 1_000_000n)));
  standardError(`${date} [${level}] ${message}${meta === undefined ? "" : ` ${show(meta)}`}\n`);
}

/** Writes lines to standard error, or passes them to a function. */
export class DefaultLogger implements Logger {
  /** Minimum level. */
  readonly level: LogLevel;
  protected readonly logFunction: (entry: LogEntry) => void;
  protected readonly severity: number;

  constructor(level: LogLevel = "INFO", logFunction: (entry: LogEntry) => void = writeLine) {
    this.level = level;
    this.logFunction = logFunction;
    this.severity = SEVERITIES.indexOf(level);
  }

  /** Writes a record of a level. */
  log(level: LogLevel, message: string, meta?: LogMetadata): void {
    if (SEVERITIES.indexOf(level) < this.severity) return;
    const { [LogTimestamp]: at, ...rest } = (meta ?? {}) as { [LogTimestamp]?: bigint };
    this.logFunction({
      level,
      message,
      timestampNanos: at ?? BigInt(Date.now()) * 1_000_000n,
      ...(Object.keys(rest).length > 0 && { meta: rest }),
    });
  }

  /** Writes a record of level TRACE. */
  trace(message: string, meta?: LogMetadata): void {
    this.log("TRACE", message, meta);
  }

  /** Writes a record of level DEBUG. */
  debug(message: string, meta?: LogMetadata): void {
    this.log("DEBUG", message, meta);
  }

  /** Writes a record of level INFO. */
  info(message: string, meta?: LogMetadata): void {
    this.log("INFO", message, meta);
  }

  /** Writes a record of level WARN. */
  warn(message: string, meta?: LogMetadata): void {
    this.log("WARN", message, meta);
  }

  /** Writes a record of level ERROR. */
  error(message: string, meta?: LogMetadata): void {
    this.log("ERROR", message, meta);
  }
}

/**
 * Returns a native logger that writes to an official one, from level `minimum` on. Its records
 * count as the core's, as in the official SDK.
 */
export function nativeLogger(logger: Logger, fields: LogFields, minimum: LogLevel): NativeLogger {
  const log = (level: LogLevel) => (message: string, more?: LogFields) => {
    if (SEVERITIES.indexOf(level) >= SEVERITIES.indexOf(minimum)) {
      logger.log(level, message, { ...fields, ...more });
    }
  };
  return { debug: log("DEBUG"), info: log("INFO"), warn: log("WARN"), error: log("ERROR") };
}
