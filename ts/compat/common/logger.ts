// Loggers of `@temporalio/*`: the interface that programs give and get, and one that adds fields to every line.
import { appended, type Contributor, resolved } from "./contributors.ts";

/** How important a line is. */
export type LogLevel = "TRACE" | "DEBUG" | "INFO" | "WARN" | "ERROR";
/** Fields of a line. */
// deno-lint-ignore no-explicit-any
export type LogMetadata = Record<string | symbol, any>;
/** Fields of a line, or a function that makes them. */
export type LogMetaOrFunc = Contributor<LogMetadata>;

/** Where lines go. */
export interface Logger {
  /** Writes a line of a level. */
  log(level: LogLevel, message: string, meta?: LogMetadata): unknown;
  /** Writes a line of level TRACE. */
  trace(message: string, meta?: LogMetadata): unknown;
  /** Writes a line of level DEBUG. */
  debug(message: string, meta?: LogMetadata): unknown;
  /** Writes a line of level INFO. */
  info(message: string, meta?: LogMetadata): unknown;
  /** Writes a line of level WARN. */
  warn(message: string, meta?: LogMetadata): unknown;
  /** Writes a line of level ERROR. */
  error(message: string, meta?: LogMetadata): unknown;
}

/** The part of the SDK that wrote a line, in its field `sdkComponent`. */
export const SdkComponent = {
  workflow: "workflow",
  activity: "activity",
  nexus: "nexus",
  worker: "worker",
  core: "core",
} as const;
/** The part of the SDK that wrote a line. */
export type SdkComponent = keyof typeof SdkComponent;

/** A logger that adds fields to every line. */
export class LoggerWithComposedMetadata implements Logger {
  readonly #parent: Logger;
  readonly #contributors: readonly LogMetaOrFunc[];

  constructor(parentLogger: Logger, contributors: readonly LogMetaOrFunc[]) {
    this.#parent = parentLogger;
    this.#contributors = contributors;
  }

  /** The logger with more fields; itself where there are none. */
  static compose(logger: Logger, metaOrFunc: LogMetaOrFunc): Logger {
    const composed = logger instanceof LoggerWithComposedMetadata ? logger : undefined;
    const before = composed === undefined ? undefined : composed.#contributors;
    const chain = appended(before, metaOrFunc);
    if (chain === undefined || chain === before) return logger;
    return new LoggerWithComposedMetadata(composed === undefined ? logger : composed.#parent, chain);
  }

  /** Writes a line of a level. */
  log(level: LogLevel, message: string, extraMeta?: LogMetadata): void {
    this.#parent.log(level, message, resolved(this.#contributors, extraMeta));
  }
  /** Writes a line of level TRACE. */
  trace(message: string, extraMeta?: LogMetadata): void {
    this.#parent.trace(message, resolved(this.#contributors, extraMeta));
  }
  /** Writes a line of level DEBUG. */
  debug(message: string, extraMeta?: LogMetadata): void {
    this.#parent.debug(message, resolved(this.#contributors, extraMeta));
  }
  /** Writes a line of level INFO. */
  info(message: string, extraMeta?: LogMetadata): void {
    this.#parent.info(message, resolved(this.#contributors, extraMeta));
  }
  /** Writes a line of level WARN. */
  warn(message: string, extraMeta?: LogMetadata): void {
    this.#parent.warn(message, resolved(this.#contributors, extraMeta));
  }
  /** Writes a line of level ERROR. */
  error(message: string, extraMeta?: LogMetadata): void {
    this.#parent.error(message, resolved(this.#contributors, extraMeta));
  }
}
