// Completes activities from outside, by task token or by workflow id and activity id. The service
// accepts one completion for each attempt; a second one gets ActivityNotFoundError.
import { type OptionNames, rejectMisspelledOptions } from "../base/option_names.ts";
import { failedResult } from "../converter/procedure_failures.ts";
import { toFailure } from "../converter/failure_converter.ts";
import type { RecordActivityTaskHeartbeatResponse } from "../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { CALL_TIMEOUT_MS, type CallSettings, checkSettings } from "./calls.ts";
import { type ClientContext, deadlineOf, encodeArgs, nameError } from "./context.ts";
import { ActivityCancelledError, ActivityNotFoundError } from "./errors.ts";

/**
 * An activity by its task token (`activityInfo().taskToken`), or by its ids; without a run id, of
 * the current run.
 */
export type ActivityAddress = Uint8Array | {
  /** Absent: a standalone activity. */
  workflowId?: string;
  activityId: string;
  runId?: string;
};

const ACTIVITY_ADDRESS: OptionNames<Exclude<ActivityAddress, Uint8Array>> = {
  workflowId: 1,
  activityId: 1,
  runId: 1,
};

/** Throws a TypeError if `address` is not a task token or ids of an activity. */
export function checkActivityAddress(address: ActivityAddress): void {
  if (address instanceof Uint8Array) return;
  if (typeof address !== "object" || address === null || ArrayBuffer.isView(address)) {
    const type = typeof address;
    const given = address === null || address === undefined
      ? String(address)
      : type === "object"
      ? "another view"
      : `a ${type}`;
    throw new TypeError(
      `invalid address of an activity: ${given}; pass its task token as a Uint8Array, or { workflowId, activityId, runId }`,
    );
  }
  rejectMisspelledOptions("the address of an activity", address, ACTIVITY_ADDRESS);
}

type Verb =
  | "recordActivityTaskHeartbeat"
  | "respondActivityTaskCompleted"
  | "respondActivityTaskFailed"
  | "respondActivityTaskCanceled";

async function report(
  context: ClientContext,
  verb: Verb,
  address: ActivityAddress,
  fields: { [name: string]: unknown },
  settings: CallSettings,
): Promise<object> {
  checkSettings("the report on an activity", settings);
  checkActivityAddress(address);
  const { namespace, identity, calls } = context;
  const deadline = deadlineOf(context, settings, CALL_TIMEOUT_MS);
  const common = { namespace, identity, ...fields };
  try {
    if (address instanceof Uint8Array) {
      return await calls.call(verb, { ...common, taskToken: address } as never, deadline);
    }
    const { workflowId = "", activityId, runId = "" } = address;
    return await calls.call(
      `${verb}ById`,
      { ...common, workflowId, runId, activityId } as never,
      deadline,
    );
  } catch (error) {
    throw nameError(context, error, { what: "the report on the activity" });
  }
}

export async function completeActivity(
  context: ClientContext,
  address: ActivityAddress,
  result: unknown,
  settings: CallSettings,
) {
  await report(context, "respondActivityTaskCompleted", address, {
    result: encodeArgs(context, "the activity's result", [result]),
  }, settings);
}

/**
 * Fails a procedure as an activity. If the service rejects that for an activity without a worker,
 * completes it with an encoded failure.
 */
export async function failUnstarted(
  context: ClientContext,
  address: ActivityAddress,
  error: unknown,
  settings: CallSettings,
) {
  try {
    await failActivity(context, address, error, settings);
  } catch (refusal) {
    if (!(refusal instanceof ActivityNotFoundError)) throw refusal;
    const result = { payloads: [failedResult(error, context.converter)] };
    await report(context, "respondActivityTaskCompleted", address, { result }, settings);
  }
}

export async function failActivity(
  context: ClientContext,
  address: ActivityAddress,
  error: unknown,
  settings: CallSettings,
) {
  await report(context, "respondActivityTaskFailed", address, {
    failure: context.failures?.toFailure(error) ?? toFailure(error, context.converter),
  }, settings);
}

export async function reportCancellation(
  context: ClientContext,
  address: ActivityAddress,
  details: unknown[],
  settings: CallSettings,
) {
  await report(
    context,
    "respondActivityTaskCanceled",
    address,
    details.length === 0
      ? {}
      : { details: encodeArgs(context, "the details of the cancellation", details) },
    settings,
  );
}

export async function heartbeatActivity(
  context: ClientContext,
  address: ActivityAddress,
  details: unknown[],
  settings: CallSettings,
) {
  const fields = details.length === 0
    ? {}
    : { details: encodeArgs(context, "the heartbeat's details", details) };
  const response = await report(
    context,
    "recordActivityTaskHeartbeat",
    address,
    fields,
    settings,
  ) as RecordActivityTaskHeartbeatResponse;
  if (response.cancelRequested) throw new ActivityCancelledError("CANCELLED");
  if (response.activityReset) throw new ActivityCancelledError("RESET");
  if (response.activityPaused) throw new ActivityCancelledError("PAUSED");
}
