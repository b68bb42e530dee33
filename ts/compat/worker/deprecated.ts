// Deprecated names for log lines that the worker now writes itself, with their remaining official
// behavior.
import type { Context } from "../activity/mod.ts";
import { type Logger, type LogLevel, type LogMetadata, SdkComponent } from "../common/mod.ts";
import type { WorkflowInfo } from "../workflow/info.ts";
import { activityLogAttributes } from "./activity_info.ts";
import type {
  ActivityExecuteInput,
  ActivityInboundCallsInterceptor,
  Next,
} from "./interceptors.ts";
import { Runtime } from "./runtime.ts";

/** Sink type of the former `workflow.log`. */
export type { LoggerSinks } from "../workflow/mod.ts";

/**
 * Deprecated: the worker logs an activity's lifecycle. With a separate logger, or in a subclass, it
 * receives the lines of `Context.log` with the attributes of `logAttributes`.
 */
export class ActivityInboundLogInterceptor implements ActivityInboundCallsInterceptor {
  readonly ctx: Context;
  /** Receives the lines. */
  protected readonly logger: Logger;

  constructor(ctx: Context, logger?: Logger) {
    this.ctx = ctx;
    const shared = Runtime.instance().logger;
    this.logger = logger ?? shared;
    const changesNothing = this.logger === shared &&
      Object.getPrototypeOf(this) === ActivityInboundLogInterceptor.prototype;
    if (changesNothing) return;
    const line = (level: LogLevel, message: string, meta: LogMetadata = {}) =>
      this.logger.log(level, message, {
        sdkComponent: SdkComponent.activity,
        ...this.logAttributes(),
        ...meta,
      });
    ctx.log = {
      log: line,
      trace: (message, meta) => line("TRACE", message, meta),
      debug: (message, meta) => line("DEBUG", message, meta),
      info: (message, meta) => line("INFO", message, meta),
      warn: (message, meta) => line("WARN", message, meta),
      error: (message, meta) => line("ERROR", message, meta),
    };
  }

  /** Returns attributes of each line. */
  protected logAttributes(): Record<string, unknown> {
    return activityLogAttributes(this.ctx.info);
  }

  /** Returns the result of `next`. */
  execute(
    input: ActivityExecuteInput,
    next: Next<ActivityInboundCallsInterceptor, "execute">,
  ): Promise<unknown> {
    return next(input);
  }
}

/** Deprecated: the worker logs a workflow's lifecycle. No effect. */
export class WorkflowLogInterceptor {
  /** Returns the result of `next`. */
  getLogAttributes<T>(input: T, next: (input: T) => T): T {
    return next(input);
  }
  /** Returns the result of `next`. */
  execute<I, R>(input: I, next: (input: I) => Promise<R>): Promise<R> {
    return next(input);
  }
}
/** Deprecated: same as WorkflowLogInterceptor. */
export class WorkflowInboundLogInterceptor extends WorkflowLogInterceptor {}

/** Returns the attributes of a workflow's log lines. */
export function workflowLogAttributes(
  { namespace, taskQueue, workflowId, runId, workflowType }: WorkflowInfo,
): Record<string, unknown> {
  return { namespace, taskQueue, workflowId, runId, workflowType };
}
