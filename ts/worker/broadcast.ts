// Broadcasts from workflow code: a local activity that every worker has. Its id makes the signals of all attempts the same ones, so that a
// workflow task that is run again reaches nothing twice.
import { withCodec } from "../codec/coded_service.ts";
import { ApplicationFailure } from "../converter/failures.ts";
import { toPayloads } from "../converter/payload.ts";
import { BROADCAST_CONTROL, reached, SUBSCRIPTION_ATTRIBUTE } from "../converter/subscriptions.ts";
import { broadcastSignal } from "../service/broadcast.ts";
import { Code, ServiceError } from "../service/raw.ts";
import { typedService } from "../service/typed.ts";
import type { RunActivity } from "./activity_dialect.ts";
import type { WorkerSettings } from "./options.ts";

/** Answers how many runs were reached. What asking again does not change is final. */
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
      // Tried again: who has the signal does not get it twice, and who had no room for it may have some.
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
      if (error.code !== Code.FAILED_PRECONDITION && error.code !== Code.INVALID_ARGUMENT) throw error;
      throw ApplicationFailure.nonRetryable(error.message, { type: "BroadcastRefused", cause: error });
    }
  };
}
