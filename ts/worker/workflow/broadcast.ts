// Broadcasts from workflow code: a local activity in every worker. Its id is the request id of the
// signals, so that a repeated workflow task sends nothing twice.
import { withCodec } from "../../codec/coded_service.ts";
import { ApplicationFailure } from "../../converter/failures.ts";
import { toPayloads } from "../../converter/payload.ts";
import {
  BROADCAST_CONTROL,
  reached,
  SUBSCRIPTION_ATTRIBUTE,
} from "../../converter/subscriptions.ts";
import { broadcastSignal } from "../../service/broadcast.ts";
import { Code, ServiceError } from "../../service/raw.ts";
import { typedService } from "../../service/typed.ts";
import type { RunActivity } from "../activities/activity_dialect.ts";
import type { WorkerSettings } from "../options.ts";

/**
 * Returns an activity that resolves to the number of reached runs. Permanent errors are not
 * retried.
 */
export function broadcasting(settings: WorkerSettings): RunActivity {
  const { service, codec, namespace, identity, converter } = settings;
  const calls = typedService(codec === undefined ? service : withCodec(service, codec, settings));
  return async ({ info }, [signalName, filter, ...args]) => {
    const name = String(signalName);
    try {
      const { reached: count, missed } = await broadcastSignal(calls, {
        namespace,
        identity,
        signalName: name,
        input: { payloads: toPayloads(converter, args) } as never,
        requestId: `${info.runId}/broadcast/${info.activityId}`,
        attribute: SUBSCRIPTION_ATTRIBUTE,
        values: reached(name, filter === null ? undefined : String(filter)),
        control: BROADCAST_CONTROL,
      });
      // Retried: runs that have the signal do not get it twice, and full runs may have room by
      // then.
      if (missed.length > 0) {
        const { workflowId, reason } = missed[0]!;
        throw new ServiceError(
          Code.RESOURCE_EXHAUSTED,
          `the broadcast of signal "${name}" reached ${count} of ${
            count + missed.length
          } subscribers; not ${workflowId}: ${reason}`,
        );
      }
      return count;
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      if (error.code !== Code.FAILED_PRECONDITION && error.code !== Code.INVALID_ARGUMENT) {
        throw error;
      }
      throw ApplicationFailure.nonRetryable(error.message, {
        type: "BroadcastRefused",
        cause: error,
      });
    }
  };
}
