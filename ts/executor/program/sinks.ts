// Sinks: functions of the host that workflow code calls without a result (logs, metrics, traces),
// in programs of `@temporalio/workflow`. Which calls are made is decided inside the realm
// (compat/sinks.ts).

/** The host's functions by sink and name; true: called during replay, too. */
export interface SinkTable {
  readonly [sink: string]: { readonly [method: string]: boolean };
}

/** One call. Arguments are copies: plain data for structured clone. */
export interface SinkCall {
  readonly sink: string;
  readonly method: string;
  readonly args: readonly unknown[];
  readonly workflowType: string;
  readonly workflowId: string;
  readonly runId: string;
  /** The run's workflowInfo without functions. Absent for metrics. */
  readonly info?: object;
}

/** Receives calls. */
export interface SinkPort {
  readonly functions: SinkTable;
  /**
   * Makes a call. Errors of the host must not throw; throws a DataCloneError for unsendable
   * arguments.
   */
  call(call: SinkCall): void;
}

/** The sink of a workflow's log lines; without host functions they go to the log. */
export const LOGGER_SINK = "__temporal_logger";
/** The sink of a workflow's metrics. */
export const METRICS_SINK = "__temporal_metrics";
