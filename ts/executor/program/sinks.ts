// Sinks: functions of the host that workflow code calls without a result, for what leaves it beside its commands (logs, metrics, traces).
// Programs of `@temporalio/workflow` have them. What is called, and when not, is decided where the run is (compat/sinks.ts).

/** Functions that the host has, by sink and name; true: called while a run replays, too. */
export interface SinkTable {
  readonly [sink: string]: { readonly [method: string]: boolean };
}

/** One call. Its arguments are copies: plain data for structured clone. */
export interface SinkCall {
  readonly sink: string;
  readonly method: string;
  readonly args: readonly unknown[];
  /** The run that calls. */
  readonly workflowType: string;
  readonly workflowId: string;
  readonly runId: string;
  /** What the run knows about itself, without its functions. Absent for metrics. */
  readonly info?: object;
}

/** Where calls go. */
export interface SinkPort {
  readonly functions: SinkTable;
  /** Takes a call. Must not throw for the host's sake; throws a DataCloneError for what cannot be sent. */
  call(call: SinkCall): void;
}

/** The sink of a workflow's log lines; without functions of its own they go to the log. */
export const LOGGER_SINK = "__temporal_logger";
/** The sink of a workflow's metrics. */
export const METRICS_SINK = "__temporal_metrics";
