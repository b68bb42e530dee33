// What users hand over to be told things (loggers, metrics, listeners) must not decide about the work that it is told of: what it throws,
// at once or in a promise, is said once on standard error and goes no further.
import type { Logger, LogLevel } from "./logger.ts";
import type { Counter, Histogram, Metrics } from "./metrics.ts";

const noted = new WeakSet<object>();

/** Says once that `source` throws. Even that may fail: a console can be replaced, and an error can be unreadable. */
function note(source: object, what: string, error: unknown): void {
  if (noted.has(source)) return;
  noted.add(source);
  let text = "a value that cannot be printed";
  try {
    text = String(error);
  } catch {
    // The words above say so.
  }
  try {
    console.error(`temporalex: ${what} threw (${text}); execution continues, further errors are not logged`);
  } catch {
    // There is nowhere left to say it.
  }
}

/** Calls a function of the user's for what it does. Never throws, and no promise that it answers goes unheard. */
export function contained<T>(source: object, what: string, call: () => T): T | undefined {
  try {
    const answer = call();
    if (typeof answer === "object" && answer !== null && typeof (answer as { then?: unknown }).then === "function") {
      Promise.resolve(answer).then(undefined, (error) => note(source, what, error));
    }
    return answer;
  } catch (error) {
    note(source, what, error);
    return undefined;
  }
}

const loggers = new WeakMap<Logger, Logger>();

/** The logger, unable to do harm. */
export function containedLogger(logger: Logger): Logger {
  let made = loggers.get(logger);
  if (made === undefined) {
    const log = (level: LogLevel): Logger[LogLevel] => (message, fields) => {
      contained(logger, "the logger", () => logger[level](message, fields));
    };
    made = { debug: log("debug"), info: log("info"), warn: log("warn"), error: log("error") };
    loggers.set(logger, made);
    // Contained once is enough, however many parts it is handed through.
    loggers.set(made, made);
  }
  return made;
}

const metricsOf = new WeakMap<Metrics, Metrics>();

/** The metrics, unable to do harm. */
export function containedMetrics(metrics: Metrics): Metrics {
  let made = metricsOf.get(metrics);
  if (made === undefined) {
    const WHAT = "the metrics";
    const call = <T>(work: () => T) => contained(metrics, WHAT, work);
    made = {
      counter(name, labels): Counter {
        const counter = call(() => metrics.counter(name, labels));
        return { add: (amount) => void call(() => counter?.add(amount)) };
      },
      histogram(name, labels): Histogram {
        const histogram = call(() => metrics.histogram(name, labels));
        return { record: (milliseconds) => void call(() => histogram?.record(milliseconds)) };
      },
      values(name, labels): Histogram {
        const values = call(() => metrics.values === undefined ? metrics.histogram(name, labels) : metrics.values(name, labels));
        return { record: (value) => void call(() => values?.record(value)) };
      },
      gauge(name, labels, read) {
        const stop = call(() => metrics.gauge(name, labels, read));
        return () => void call(() => stop?.());
      },
    };
    metricsOf.set(metrics, made);
    metricsOf.set(made, made);
  }
  return made;
}

/** An object of listeners, unable to do harm. */
export function containedListeners<T extends object>(listeners: T, what: string): T {
  return new Proxy(listeners, {
    get(target, name) {
      const listener = contained(target, what, () => Reflect.get(target, name, target)) as unknown;
      if (typeof listener !== "function") return listener;
      return (...args: unknown[]) => contained(target, what, () => Reflect.apply(listener, target, args));
    },
  });
}
