// Isolates errors of user callbacks (loggers, metrics, listeners): a callback that throws or
// rejects must not change the work that it observes. The first error of each is printed to stderr.
import type { Logger, LogLevel } from "./logger.ts";
import type { Counter, Histogram, Metrics } from "./metrics.ts";

const noted = new WeakSet<object>();

/**
 * Prints the first error of `source`. Never throws: a console can be replaced, and an error can be
 * unreadable.
 */
function note(source: object, what: string, error: unknown): void {
  if (noted.has(source)) return;
  noted.add(source);
  let text = "a value that cannot be printed";
  try {
    text = String(error);
  } catch {
    // The default text above is used.
  }
  try {
    console.error(
      `temporalex: ${what} threw (${text}); execution continues, further errors are not logged`,
    );
  } catch {
    // No other output is left.
  }
}

/**
 * Calls a user function for its effect. Never throws; handles a rejection of the promise that it
 * returns. Returns undefined if it threw.
 */
export function contained<T>(source: object, what: string, call: () => T): T | undefined {
  try {
    const answer = call();
    if (
      typeof answer === "object" && answer !== null &&
      typeof (answer as { then?: unknown }).then === "function"
    ) {
      Promise.resolve(answer).then(undefined, (error) => note(source, what, error));
    }
    return answer;
  } catch (error) {
    note(source, what, error);
    return undefined;
  }
}

const loggers = new WeakMap<Logger, Logger>();

/** Returns a logger that never throws. */
export function containedLogger(logger: Logger): Logger {
  let made = loggers.get(logger);
  if (made === undefined) {
    const log = (level: LogLevel): Logger[LogLevel] => (message, fields) => {
      contained(logger, "the logger", () => logger[level](message, fields));
    };
    made = { debug: log("debug"), info: log("info"), warn: log("warn"), error: log("error") };
    loggers.set(logger, made);
    // A contained logger is returned as it is when it passes through here again.
    loggers.set(made, made);
  }
  return made;
}

const metricsOf = new WeakMap<Metrics, Metrics>();

/** Returns metrics that never throw. */
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
        const values = call(() =>
          metrics.values === undefined
            ? metrics.histogram(name, labels)
            : metrics.values(name, labels)
        );
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

/** Returns the listeners as functions that never throw. `what` names them in messages. */
export function containedListeners<T extends object>(listeners: T, what: string): T {
  return new Proxy(listeners, {
    get(target, name) {
      const listener = contained(target, what, () => Reflect.get(target, name, target)) as unknown;
      if (typeof listener !== "function") return listener;
      return (...args: unknown[]) =>
        contained(target, what, () => Reflect.apply(listener, target, args));
    },
  });
}
