// Names that programs had for log lines before the worker wrote them by itself. They do what is left of them in the official SDK.
import type { Context } from "../activity/mod.ts";
import { type Logger, type LogLevel, type LogMetadata, SdkComponent } from "../common/mod.ts";
import type { WorkflowInfo } from "../workflow/info.ts";
import { activityLogAttributes } from "./activity_info.ts";
import type { ActivityExecuteInput, ActivityInboundCallsInterceptor, Next } from "./interceptors.ts";
import { Runtime } from "./runtime.ts";

/** What `workflow.log` was once passed through. */
export type { LoggerSinks } from "../workflow/mod.ts";

/**
 * Deprecated: lines of an activity's life are written by the worker. With a logger of its own, or of a class that extends it, it is where
 * `Context.log` goes, with the attributes that `logAttributes` gives.
 */
export class ActivityInboundLogInterceptor implements ActivityInboundCallsInterceptor {
  /** The activity. */
  readonly ctx: Context;
  /** Where lines go. */
  protected readonly logger: Logger;

  constructor(ctx: Context, logger?: Logger) {
    this.ctx = ctx;
    const shared = Runtime.instance().logger;
    this.logger = logger ?? shared;
    const changesNothing = this.logger === shared && Object.getPrototypeOf(this) === ActivityInboundLogInterceptor.prototype;
    if (changesNothing) return;
    const line = (level: LogLevel, message: string, meta: LogMetadata = {}) =>
      this.logger.log(level, message, { sdkComponent: SdkComponent.activity, ...this.logAttributes(), ...meta });
    ctx.log = {
      log: line,
      trace: (message, meta) => line("TRACE", message, meta),
      debug: (message, meta) => line("DEBUG", message, meta),
      info: (message, meta) => line("INFO", message, meta),
      warn: (message, meta) => line("WARN", message, meta),
      error: (message, meta) => line("ERROR", message, meta),
    };
  }

  /** What each line says beside its message. */
  protected logAttributes(): Record<string, unknown> {
    return activityLogAttributes(this.ctx.info);
  }

  /** Adds nothing. */
  execute(input: ActivityExecuteInput, next: Next<ActivityInboundCallsInterceptor, "execute">): Promise<unknown> {
    return next(input);
  }
}

/** Deprecated: lines of a workflow's life are written by the worker. Changes nothing. */
export class WorkflowLogInterceptor {
  /** Adds nothing. */
  getLogAttributes<T>(input: T, next: (input: T) => T): T {
    return next(input);
  }
  /** Adds nothing. */
  execute<I, R>(input: I, next: (input: I) => Promise<R>): Promise<R> {
    return next(input);
  }
}
/** Deprecated: the same. */
export class WorkflowInboundLogInterceptor extends WorkflowLogInterceptor {}

/** What log lines of a workflow say of it. */
export function workflowLogAttributes(
  { namespace, taskQueue, workflowId, runId, workflowType }: WorkflowInfo,
): Record<string, unknown> {
  return { namespace, taskQueue, workflowId, runId, workflowType };
}
