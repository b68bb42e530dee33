// Rules of `@temporalio/activity` for the worker: how activities are called, and the failures of
// their errors.
import {
  type ActivitySerializationContext,
  ApplicationFailure,
  CancelledFailure,
  defaultFailureConverter,
  defaultPayloadConverter,
  ensureApplicationFailure,
} from "../common/mod.ts";
import { fillPayload, productConverter } from "../common/payload_converters.ts";
import { arrayFromPayloads, toPayloadWithTypeInfo } from "../common/payloads.ts";
import { errorMessage } from "../common/text.ts";
import { typesOfActivity } from "../common/type_info.ts";
import { fromPayloads } from "../../converter/payload.ts";
import { fromPlain } from "../common/plain_proto.ts";
import { toFailure } from "../../converter/failure_converter.ts";
import { read } from "../../converter/thrown.ts";
import { FailureSchema } from "../../messages/generated/temporal/api/failure/v1/message_pb.ts";
import type { ActivityDialect, ActivityOwner } from "../../worker/activities/activity_dialect.ts";
import { STOPPED } from "../../worker/activities/attempt_end.ts";
import { type ActivityEnvironment, ActivityRun } from "./activity_run.ts";

const SHUTDOWN = "Worker is shutting down and this activity did not complete in time";

/**
 * Decodes the arguments of an activity. Throws an ApplicationFailure with the official worker's
 * message if that fails.
 */
export function argumentsRead(activityType: string, read: () => unknown[]): unknown[] {
  try {
    return read();
  } catch (error) {
    const message = `Failed to parse activity args for activity ${activityType}: ${
      errorMessage(error)
    }`;
    throw ApplicationFailure.fromError(error, { message, nonRetryable: false });
  }
}

/** Returns the rules for the activities of a worker. */
export function temporalActivities(environment: ActivityEnvironment): ActivityDialect {
  /** By the native context, which the worker passes when an attempt has ended. */
  const runs = new WeakMap<object, ActivityRun>();
  const { failureConverter, payloadConverter } = environment.converter;
  /** By the converter that the worker received for an activity. */
  const contexts = new WeakMap<object, ActivitySerializationContext>();
  const isDefault = payloadConverter === defaultPayloadConverter &&
    failureConverter === defaultFailureConverter;
  const { activities } = environment;
  const typesOf = (type: string) =>
    typesOfActivity(activities?.get(type) ?? activities?.get("default"));
  return {
    ...(!isDefault && {
      converterFor(_: unknown, { activityId, workflowId, isLocal }: ActivityOwner) {
        const { namespace } = environment;
        const context = {
          type: "activity",
          namespace,
          activityId,
          ...(workflowId !== "" && { workflowId }),
          isLocal,
        } as const;
        const converter = productConverter(payloadConverter, context);
        contexts.set(converter, context);
        return converter;
      },
    }),
    argumentsOf(type, payloads, converter) {
      const types = typesOf(type)?.inputTypes;
      return argumentsRead(
        type,
        () =>
          types === undefined
            ? fromPayloads(converter, payloads)
            : arrayFromPayloads(payloadConverter, [...payloads], contexts.get(converter), types),
      );
    },
    resultOf(type, result, converter) {
      const types = typesOf(type)?.outputType;
      if (types === undefined) return converter.toPayload(result);
      return fillPayload(
        toPayloadWithTypeInfo(payloadConverter, result, contexts.get(converter), types),
      );
    },
    anyType: "default",
    refusedResultIsFinal: false,
    logsFailures: true,
    call: ({ run: fn, self }) => async (context, args) => {
      const run = new ActivityRun(context, environment);
      runs.set(context, run);
      return await run.execute(fn.bind(self), { args, headers: { ...context.headers } });
    },
    end(error, told) {
      if (runs.get(told)?.conversionFailed === true) {
        return ApplicationFailure.retryable(
          "HEARTBEAT_DETAILS_CONVERSION_FAILED",
          "CancelledFailure",
        );
      }
      const reason = told.cancelReason;
      const stopped = error instanceof CancelledFailure || read(error, "name") === "AbortError";
      if (reason === undefined || !stopped) return ensureApplicationFailure(error);
      if (reason === "RESET") return new ApplicationFailure("Activity reset", "ActivityReset");
      if (reason === "PAUSED") return new ApplicationFailure("Activity paused", "ActivityPause");
      if (reason === "WORKER_SHUTDOWN") return new ApplicationFailure(SHUTDOWN, "WorkerShutdown");
      return STOPPED;
    },
    toFailure(error, converter) {
      try {
        return fromPlain(
          FailureSchema,
          failureConverter.errorToFailure(error, payloadConverter, contexts.get(converter)),
        );
      } catch {
        // An error that cannot be converted is a failure as well.
        return toFailure(error);
      }
    },
    detailsOf: (error) => error instanceof CancelledFailure ? error.details : [],
  };
}
