// Responses to updates: accepted before anything that the handler causes, then completed or failed
// once. Results are kept for the next run (`update_dedup.ts`).
import {
  CommandKind,
  UpdateResponse,
} from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { encodeFailure } from "../../converter/failure_converter.ts";
import { ApplicationFailure } from "../../converter/failures.ts";
import { encodeWith, type WirePayload } from "../program/encode.ts";
import type { Answer } from "../scheduler/update_dedup.ts";
import type { UpdateItem } from "../scheduler/inbox.ts";
import type { RunState } from "../scheduler/run_state.ts";

type Response = UpdateResponse["response"];

/**
 * Failure type of an update that arrived while a receive ended by `until`. Clients retry such an
 * update.
 */
const RECEIVE_ENDING = "ReceiveEnding";

function respond(
  run: RunState,
  { protocolInstanceId }: Pick<UpdateItem, "protocolInstanceId">,
  response: Response,
): void {
  run.issue(
    CommandKind.COMMAND_KIND_UPDATE_RESPONSE,
    encodeWith(UpdateResponse, { protocolInstanceId, response }),
  );
}

export function acceptUpdate(run: RunState, update: UpdateItem): void {
  respond(run, update, { $case: "accepted", value: {} });
}

/** Before acceptance: the caller gets the failure, and history has no event. */
export function rejectUpdate(run: RunState, update: UpdateItem, error: unknown): void {
  rejectWith(run, update, encodeFailure(error, run.context.converter));
}

/** Like `rejectUpdate`, with an encoded failure. */
export function rejectWith(run: RunState, update: UpdateItem, failure: Uint8Array): void {
  respond(run, update, { $case: "rejected", value: failure });
}

/** After acceptance. */
export function failUpdate(run: RunState, update: UpdateItem, error: unknown): void {
  const failure = encodeFailure(error, run.context.converter);
  respond(run, update, { $case: "rejected", value: failure });
  run.answered.add(update.protocolInstanceId, { failure });
}

export function completeUpdate(run: RunState, update: UpdateItem, value: WirePayload): void {
  respond(run, update, { $case: "completed", value });
  run.answered.add(update.protocolInstanceId, { value });
}

/** Responds to an update that an earlier run completed, with the same result. */
export function answerAgain(run: RunState, protocolInstanceId: string, answer: Answer): void {
  const update = { protocolInstanceId };
  respond(run, update, { $case: "accepted", value: {} });
  respond(
    run,
    update,
    "value" in answer
      ? { $case: "completed", value: answer.value }
      : { $case: "rejected", value: answer.failure },
  );
}

/** Returns why an update without handler is rejected. */
export function unknownUpdate(run: RunState, update: UpdateItem): ApplicationFailure {
  const receive = run.receive;
  if (receive?.isMakingWay === true && receive.updateNames().includes(update.name)) {
    return new ApplicationFailure(
      `update "${update.name}" is not accepted: the receive that handles it is ending; send the update again`,
      { type: RECEIVE_ENDING },
    );
  }
  const names = receive === undefined || receive.isStopping ? [] : receive.updateNames();
  const accepted = names.length === 0 ? "no updates" : `these updates: ${names.join(", ")}`;
  const why = run.end !== undefined
    ? "the workflow has ended"
    : `at this point the workflow accepts ${accepted}`;
  return new ApplicationFailure(`update "${update.name}" is not accepted: ${why}`, {
    type: "UnknownUpdate",
    nonRetryable: true,
  });
}
