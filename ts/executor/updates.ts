// Responses to updates: accepted before anything that the handler causes, then completed or failed, once.
import { CommandKind, UpdateResponse } from "../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { encodeFailure } from "../converter/failure_converter.ts";
import { ApplicationFailure } from "../converter/failures.ts";
import { encode, type WirePayload } from "./encode.ts";
import type { UpdateItem } from "./inbox.ts";
import type { NativeRun } from "./run.ts";

type Response = UpdateResponse["response"];

function respond(run: NativeRun, update: UpdateItem, response: Response): void {
  const { protocolInstanceId } = update;
  run.issue(CommandKind.COMMAND_KIND_UPDATE_RESPONSE, encode(UpdateResponse, { protocolInstanceId, response }));
}

export function acceptUpdate(run: NativeRun, update: UpdateItem): void {
  respond(run, update, { $case: "accepted", value: {} });
}

/** Before acceptance: the caller gets the failure and history gets nothing. After acceptance: the update has failed. */
export function rejectUpdate(run: NativeRun, update: UpdateItem, error: unknown): void {
  respond(run, update, { $case: "rejected", value: encodeFailure(error, run.converter) });
}

export function completeUpdate(run: NativeRun, update: UpdateItem, result: WirePayload): void {
  respond(run, update, { $case: "completed", value: result });
}

/** Why an update that nothing handles is rejected. */
export function unknownUpdate(run: NativeRun, update: UpdateItem): ApplicationFailure {
  const receive = run.receive;
  const names = receive === undefined || receive.isStopping ? [] : receive.updateNames();
  const accepted = names.length === 0 ? "no updates" : `these updates: ${names.join(", ")}`;
  const why = run.end !== undefined ? "the workflow has ended" : `at this point the workflow accepts ${accepted}`;
  return new ApplicationFailure(`update "${update.name}" is not accepted: ${why}`, { type: "UnknownUpdate", nonRetryable: true });
}
