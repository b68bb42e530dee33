// Loggers of `@temporalio/*`: the interface, and a logger that adds fields to each line.
import { appended, type Contributor, mergeContributions } from "./contributors.ts";

/** Level of a line. */
export type LogLevel = "TRACE" | "DEBUG" | "INFO" | "WARN" | "ERROR";
/** Fields of a line. */
// deno-lint-ignore no-explicit-any
export type LogMetadata = Record<string | symbol, any>;
/** Fields of a line, or a function that returns them. */
export type LogMetaOrFunc = Contributor<LogMetadata>;

/** A logger. */
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

/** Component of the SDK in the field `sdkComponent` of a line. */
export const SdkComponent = {
  workflow: "workflow",
  activity: "activity",
  nexus: "nexus",
  worker: "worker",
  core: "core",
} as const;
/** Component of the SDK. */
export type SdkComponent = keyof typeof SdkComponent;

/** A logger that adds fields to each line. */
export class LoggerWithComposedMetadata implements Logger {
  readonly #parent: Logger;
  readonly #contributors: readonly LogMetaOrFunc[];

  constructor(parentLogger: Logger, contributors: readonly LogMetaOrFunc[]) {
    this.#parent = parentLogger;
    this.#contributors = contributors;
  }

  /** Returns the logger with additional fields; the logger itself without any. */
  static compose(logger: Logger, metaOrFunc: LogMetaOrFunc): Logger {
    const composed = logger instanceof LoggerWithComposedMetadata ? logger : undefined;
    const before = composed === undefined ? undefined : composed.#contributors;
    const chain = appended(before, metaOrFunc);
    if (chain === undefined || chain === before) return logger;
    return new LoggerWithComposedMetadata(
      composed === undefined ? logger : composed.#parent,
      chain,
    );
  }

  /** Writes a line of a level. */
  log(level: LogLevel, message: string, extraMeta?: LogMetadata): void {
    this.#parent.log(level, message, mergeContributions(this.#contributors, extraMeta));
  }
  /** Writes a line of level TRACE. */
  trace(message: string, extraMeta?: LogMetadata): void {
    this.#parent.trace(message, mergeContributions(this.#contributors, extraMeta));
  }
  /** Writes a line of level DEBUG. */
  debug(message: string, extraMeta?: LogMetadata): void {
    this.#parent.debug(message, mergeContributions(this.#contributors, extraMeta));
  }
  /** Writes a line of level INFO. */
  info(message: string, extraMeta?: LogMetadata): void {
    this.#parent.info(message, mergeContributions(this.#contributors, extraMeta));
  }
  /** Writes a line of level WARN. */
  warn(message: string, extraMeta?: LogMetadata): void {
    this.#parent.warn(message, mergeContributions(this.#contributors, extraMeta));
  }
  /** Writes a line of level ERROR. */
  error(message: string, extraMeta?: LogMetadata): void {
    this.#parent.error(message, mergeContributions(this.#contributors, extraMeta));
  }
}
