// Replays histories against workflow code: results of `Worker.runReplayHistories`.
import { fromBinary } from "@bufbuild/protobuf";
import { DeterminismViolationError } from "../common/errors.ts";
import { replayMessage } from "../../worker/workflow/replacement.ts";
import type { HistoryAndWorkflowId } from "../common/mod.ts";
import { encodePlain } from "../common/encode_plain.ts";
import { unreadHistoryBytes } from "../common/kept_history.ts";
import { PayloadCodecError } from "../../codec/codec.ts";
import type { MessageCodec } from "../../codec/message_codec.ts";
import { readHistoryFile } from "../../history_files/history_file.ts";
import { readRunStart } from "../../messages/history_start.ts";
import type { Realm, ReplayVerdict } from "../../realm/realm.ts";
import {
  type ChangedValue,
  type CompiledValueCheck,
  describeChangedValue,
  type UncomparedValue,
} from "../../realm/value_check.ts";
import { HistorySchema } from "../../messages/generated/temporal/api/history/v1/message_pb.ts";
import type { Logger } from "./logger.ts";

/** A history in the official packages' form. */
// deno-lint-ignore no-explicit-any
export type History = any;

/** A replay failed for a reason other than a divergence. */
export class ReplayError extends Error {
  override name = "ReplayError";
}

/** Result of a replay. */
export interface ReplayResult {
  readonly workflowId: string;
  readonly runId: string;
  /** Undefined without a divergence. */
  readonly error?: ReplayError | DeterminismViolationError;
  /**
   * With the option `values`: commands whose values differ from the history, in its order. After
   * a failed replay, those before the failure.
   */
  readonly changedValues?: readonly ChangedValue[];
  /** With the option `values`: values that could not be compared, because they are encoded. */
  readonly uncomparedValues?: readonly UncomparedValue[];
}

/** The code replays the history with other values, and the option `values` is "error". */
export class ChangedValuesError extends ReplayError {
  override name = "ChangedValuesError";
  /** Commands whose values differ from the history, in its order. */
  readonly changedValues: readonly ChangedValue[];

  constructor(changedValues: readonly ChangedValue[]) {
    super(
      `The workflow code replays the history with other values:\n${
        changedValues.map(describeChangedValue).join("\n")
      }`,
    );
    this.changedValues = changedValues;
  }
}

/** Histories with their workflow ids. */
export type ReplayHistoriesIterable =
  | AsyncIterable<HistoryAndWorkflowId>
  | Iterable<HistoryAndWorkflowId>;

/** Returns the bytes of a history: an API object, or parsed JSON. Throws for other values. */
export async function historyBytes(history: unknown): Promise<Uint8Array> {
  if (typeof history !== "object" || history === null) {
    throw new TypeError(`Expected a non-null history object, got ${typeof history}`);
  }
  const unread = unreadHistoryBytes(history);
  if (unread !== undefined) return unread;
  const { events } = history as { events?: readonly { eventId?: unknown }[] };
  // Ids are strings in JSON and Longs in API objects.
  if (events === undefined || typeof events[0]?.eventId === "string") {
    return (await readHistoryFile(new TextEncoder().encode(JSON.stringify(history)))).bytes;
  }
  return encodePlain(HistorySchema, history);
}

/**
 * Replays one history. Decodes payloads like a worker. Like the official replayer, ignores a task
 * that history does not have as completed: its errors are only logged.
 */
export async function replayOne(
  realm: Realm,
  workflowId: string,
  history: Uint8Array,
  codec: MessageCodec | undefined,
  logger: Logger,
  values: CompiledValueCheck | undefined,
): Promise<ReplayResult> {
  let decoded: Uint8Array;
  try {
    decoded = codec === undefined
      ? history
      : await codec.decode(HistorySchema, history, { givenOnly: true });
  } catch (error) {
    if (!(error instanceof PayloadCodecError)) throw error;
    return {
      workflowId,
      runId: readRunStart(history)?.runId ?? "",
      error: taskFailure(error.message),
    };
  }
  const verdict = await realm.replay(
    workflowId,
    decoded,
    values === undefined ? {} : { values: values.comparison },
  );
  let error: ReplayResult["error"] = makeReplayError(verdict);
  if (verdict.verdict === "failed" && await failsInOpenTask(realm, workflowId, decoded)) {
    logger.warn(
      `the open task of ${verdict.workflowType} ${workflowId} fails: ${
        formatDetails(verdict, codec?.hidesText === true)
      }`,
    );
    error = undefined;
  }
  const { runId, changedValues = [], uncomparedValues = [] } = verdict;
  if (changedValues.length > 0) {
    if (values!.isFatal) error ??= new ChangedValuesError(changedValues);
    else {
      const lines = changedValues.map(describeChangedValue).join("\n");
      logger.warn(`${verdict.workflowType} ${workflowId} replays with other values:\n${lines}`);
    }
  }
  return {
    ...{ workflowId, runId },
    ...(error !== undefined && { error }),
    ...(values !== undefined && { changedValues, uncomparedValues }),
  };
}

/** Returns whether a failed replay has replayed all completed tasks. */
async function failsInOpenTask(
  realm: Realm,
  workflowId: string,
  history: Uint8Array,
): Promise<boolean> {
  const { recorded = [] } = await realm.replay(workflowId, history, { record: true });
  const last = recorded.at(-1);
  if (last !== undefined) return !last.isReplaying;
  // No code ran: the type is unknown, or the history is invalid.
  const { events } = fromBinary(HistorySchema, history);
  return events.length > 0 &&
    !events.some(({ attributes }) => attributes.case === "workflowTaskCompletedEventAttributes");
}

const taskFailure = (details: string) =>
  new ReplayError(`Replay failed due workflow task failure. Details: ${details}`);

function formatDetails(verdict: ReplayVerdict, hidesText = false): string {
  const { error } = verdict;
  const at = error === undefined || error.location === "" ? "" : ` (${error.location})`;
  return `${error === undefined ? "no details" : replayMessage(verdict, hidesText)}${at}`;
}

function makeReplayError(
  replayed: ReplayVerdict,
): ReplayError | DeterminismViolationError | undefined {
  const { verdict } = replayed;
  if (verdict === "ok") return undefined;
  const details = formatDetails(replayed);
  if (verdict === "failed") return taskFailure(details);
  return new DeterminismViolationError(
    "Replay failed with a nondeterminism error. This means that the workflow code as written is not compatible with the history " +
      `that was fed in. Details: ${details}`,
  );
}
