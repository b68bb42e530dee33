// log: lines for the worker's log, left out on replay. Sinks and metrics in the forms that programs use: sinks are not served yet and
// say so; metrics are dropped, as official workers do that have none configured.
import { currentRun } from "../current.ts";

type Fields = Record<string, unknown>;
/** The log of a workflow; silent on replay. */
export interface WorkflowLogger {
  /** A line for a close look. */
  trace(message: string, attrs?: Fields): void;
  /** A line for a close look. */
  debug(message: string, attrs?: Fields): void;
  /** A line that says what happens. */
  info(message: string, attrs?: Fields): void;
  /** A line about what may be wrong. */
  warn(message: string, attrs?: Fields): void;
  /** A line about what is wrong. */
  error(message: string, attrs?: Fields): void;
}

function line(level: "debug" | "info" | "warn" | "error", message: string, attrs: Fields = {}): void {
  const run = currentRun("Workflow.log(...) may only be used from workflow context.");
  const update = run.context.current()?.update;
  run.log(level, message, update === undefined ? attrs : { updateId: update.id, updateName: update.name, ...attrs });
}

/** Writes lines to the worker's log, but on replay. */
export const log: WorkflowLogger = {
  trace: (message, attrs) => line("debug", message, attrs),
  debug: (message, attrs) => line("debug", message, attrs),
  info: (message, attrs) => line("info", message, attrs),
  warn: (message, attrs) => line("warn", message, attrs),
  error: (message, attrs) => line("error", message, attrs),
};

interface Metric {
  readonly name: string;
  readonly kind: string;
  readonly unit?: string;
  readonly description?: string;
  add(value: number, tags?: Fields): void;
  record(value: number, tags?: Fields): void;
  set(value: number, tags?: Fields): void;
  withTags(tags: Fields): Metric;
}

function metric(kind: string, name: string, unit?: string, description?: string): Metric {
  const self: Metric = {
    name,
    kind,
    ...(unit === undefined ? {} : { unit }),
    ...(description === undefined ? {} : { description }),
    add: () => {},
    record: () => {},
    set: () => {},
    withTags: () => self,
  };
  return self;
}

export interface MetricMeter {
  createCounter(name: string, unit?: string, description?: string): Metric;
  createHistogram(name: string, valueType?: string, unit?: string, description?: string): Metric;
  createGauge(name: string, valueType?: string, unit?: string, description?: string): Metric;
  withTags(tags: Fields): MetricMeter;
}

/** Takes metrics and drops them. */
export const metricMeter: MetricMeter = {
  createCounter: (name, unit, description) => metric("counter", name, unit, description),
  createHistogram: (name, _type, unit, description) => metric("histogram", name, unit, description),
  createGauge: (name, _type, unit, description) => metric("gauge", name, unit, description),
  withTags: () => metricMeter,
};
