// The module of an activity thread: loads the application's module and runs its activities.
// Heartbeats and log lines leave at once, also during computation; messages to an activity arrive
// when it awaits.
import { toBinary } from "@bufbuild/protobuf";
import { FailureSchema } from "../../messages/generated/temporal/api/failure/v1/message_pb.ts";
import { type ActivityContext, type CancelReason, completesAsync } from "../../activity/context.ts";
import { toMs } from "../../converter/duration.ts";
import { encodeFailure } from "../../converter/failure_converter.ts";
import { ApplicationFailure, CancelledFailure } from "../../converter/failures.ts";
import { fromJsonData, isPlainData, toJsonData } from "../../converter/json_values.ts";
import { LossyValueError, namingWhat } from "../../converter/lossy_value.ts";
import { defaultPayloadConverter } from "../../converter/payload.ts";
import { sendableFields } from "../../converter/sendable.ts";
import { isA, messageOf, read } from "../../converter/thrown.ts";
import { hostPort } from "../../platform/threads.ts";
import type { LogFields, LogLevel } from "../../base/logger.ts";
import { realTimers, sleepOn } from "../../base/timers.ts";
import { type ActivityDialect, NATIVE_ACTIVITIES } from "./activity_dialect.ts";
import { ActivityRegistry } from "./activity_registry.ts";
import { STOPPED, type Told } from "./attempt_end.ts";
import type { FromThread, ToThread } from "./thread_messages.ts";

const port = hostPort();
const post = (message: FromThread) => port.post(message);
let registry = new ActivityRegistry({});
let loaded: Promise<void> = Promise.resolve();
/** The rules of the modules' activities. */
let dialect = NATIVE_ACTIVITIES;
/** A module of `hooks.imports` sets this global to a function that returns other rules. */
const RULES = Symbol.for("temporalex.activity_thread.rules");
/** Cancels running activities, by job. */
const running = new Map<number, (reason: CancelReason, message: string) => void>();

async function run(
  { id, activity, info, headers, args }: ToThread & { kind: "run" },
): Promise<void> {
  const abort = new AbortController();
  let cancelReason: CancelReason | undefined;
  running.set(id, (reason, message) => {
    cancelReason = reason;
    abort.abort(new CancelledFailure(message));
  });
  const log = (level: LogLevel) => (message: string, fields?: LogFields) => {
    post({ kind: "log", id, level, message, fields: fields && sendableFields(fields) });
  };
  const context: ActivityContext = {
    info,
    headers,
    cancelled: abort.signal,
    get cancelReason() {
      return cancelReason;
    },
    logger: { debug: log("debug"), info: log("info"), warn: log("warn"), error: log("error") },
    heartbeat(details) {
      // Converted here, so that details which cannot be encoded throw in the activity.
      if (details !== undefined) defaultPayloadConverter.toPayload(details);
      post({
        kind: "heartbeat",
        id,
        details: carried(`the details of a heartbeat of activity "${activity}"`, details),
      });
    },
    sleep: (duration) => sleepOn(realTimers, toMs(duration), abort.signal),
    throwIfCancelled: () => abort.signal.throwIfAborted(),
  };
  try {
    await loaded;
    const found = registry.find(activity);
    const result = carried(
      `the result of activity "${activity}"`,
      await dialect.call(found)(context, args),
    );
    try {
      post({ kind: "done", id, result });
    } catch (error) {
      // A result that cannot be cloned (for example a function) could not be encoded as JSON
      // either.
      throw new TypeError(
        `the result of activity "${activity}" cannot leave its thread: ${messageOf(error)}`,
      );
    }
  } catch (error) {
    if (completesAsync(error)) post({ kind: "completesAsync", id });
    else post({ kind: "failed", id, failure: failureOf(error, context, abort.signal) });
  } finally {
    running.delete(id);
  }
}

/**
 * Converts a result, or details of a heartbeat, before it leaves the thread. Structured clone
 * silently drops the class and toJSON of an instance, so the default converter is applied first.
 */
function carried(what: string, result: unknown): unknown {
  if (result instanceof Uint8Array || isPlainData(result)) return result;
  try {
    const { data, notes } = namingWhat(what, () => toJsonData(result));
    return fromJsonData(data, notes);
  } catch (error) {
    // The work is done; another attempt would fail the same way.
    if (isA(error, LossyValueError)) {
      throw ApplicationFailure.nonRetryable(error.message, { type: error.name, cause: error });
    }
    return result;
  }
}

const isAbort = (error: unknown) => read(error, "name") === "AbortError";

/** Encodes an error for the thread's worker, with its class and cause. */
function failureOf(
  error: unknown,
  context: ActivityContext,
  { aborted, reason }: AbortSignal,
): Uint8Array {
  if (dialect === NATIVE_ACTIVITIES) {
    return encodeFailure(aborted && isAbort(error) ? reason : error);
  }
  const end = dialect.end(error, context as Told);
  return end === STOPPED
    ? encodeFailure(reason)
    : toBinary(FailureSchema, dialect.toFailure(end, defaultPayloadConverter));
}

async function load({ modules, hooks }: ToThread & { kind: "load" }): Promise<void> {
  try {
    if (hooks !== undefined) {
      for (const first of hooks.imports) await import(first);
      const { process } = globalThis as {
        process?: {
          getBuiltinModule?(
            name: "node:module",
          ): { register?(url: string, options: { data: unknown }): void } | undefined;
        };
      };
      process?.getBuiltinModule?.("node:module")?.register?.(hooks.url, { data: hooks.data });
    }
    registry = new ActivityRegistry(
      await Promise.all(modules.map(async (module) => await import(module) as object)),
    );
    dialect =
      await (globalThis as { [RULES]?(): Promise<ActivityDialect | undefined> })[RULES]?.() ??
        NATIVE_ACTIVITIES;
    post({ kind: "loaded", names: registry.names });
  } catch (error) {
    post({ kind: "broken", message: messageOf(error) });
  }
}

port.listen((data) => {
  const message = data as ToThread;
  switch (message.kind) {
    case "load":
      return void (loaded = load(message));
    case "run":
      return void run(message);
    case "cancel":
      return running.get(message.id)?.(message.reason, message.message);
  }
});
