// Replays of histories against workflow code: what `Worker.runReplayHistories` gives.
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { DeterminismViolationError } from "../common/errors.ts";
import type { HistoryAndWorkflowId } from "../common/mod.ts";
import { fromPlain } from "../common/plain_proto.ts";
import { decodeResponse } from "../../codec/coded_service.ts";
import type { MessageCodec } from "../../codec/message_codec.ts";
import { readHistoryFile } from "../../debug/history_file.ts";
import type { Realm, ReplayVerdict } from "../../realm/realm.ts";
import { HistorySchema } from "../../api/generated/temporal/api/history/v1/message_pb.ts";
import { GetWorkflowExecutionHistoryResponseSchema } from "../../api/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { readHistoryPage } from "../../worker/realms.ts";

/** A history, as the official packages have it. */
// deno-lint-ignore no-explicit-any
export type History = any;

/** A replay failed for another reason than that code and history differ. */
export class ReplayError extends Error {
  override name = "ReplayError";
}

/** What a replay gave. */
export interface ReplayResult {
  /** Id of the workflow. */
  readonly workflowId: string;
  /** Id of the run. */
  readonly runId: string;
  /** Absent when code and history fit. */
  readonly error?: ReplayError | DeterminismViolationError;
}

/** Histories, with the ids of their workflows. */
export type ReplayHistoriesIterable = AsyncIterable<HistoryAndWorkflowId> | Iterable<HistoryAndWorkflowId>;

/** The bytes of a history: an object of the API, or what JSON of one holds. Throws for what is no history. */
export async function historyBytes(history: unknown): Promise<Uint8Array> {
  if (typeof history !== "object" || history === null) {
    throw new TypeError(`Expected a non-null history object, got ${typeof history}`);
  }
  const { events } = history as { events?: readonly { eventId?: unknown }[] };
  // In JSON, ids are text; in objects of the API they are Longs.
  if (events === undefined || typeof events[0]?.eventId === "string") {
    return (await readHistoryFile(new TextEncoder().encode(JSON.stringify(history)))).bytes;
  }
  return toBinary(HistorySchema, fromPlain(HistorySchema, history));
}

/** The history with its payloads decoded. */
export async function decodedHistory(history: Uint8Array, codec: MessageCodec | undefined): Promise<Uint8Array> {
  if (codec === undefined) return history;
  const page = create(GetWorkflowExecutionHistoryResponseSchema, { history: fromBinary(HistorySchema, history) });
  const bytes = toBinary(GetWorkflowExecutionHistoryResponseSchema, page);
  return readHistoryPage(await decodeResponse(codec, "getWorkflowExecutionHistory", bytes)).history;
}

/** Replays one history. */
export async function replayOne(realm: Realm, workflowId: string, history: Uint8Array): Promise<ReplayResult> {
  const verdict = await realm.replay(workflowId, history);
  const error = errorOf(verdict);
  return { workflowId, runId: verdict.runId, ...(error !== undefined && { error }) };
}

function errorOf({ verdict, error }: ReplayVerdict): ReplayError | DeterminismViolationError | undefined {
  if (verdict === "ok") return undefined;
  const at = error === undefined || error.location === "" ? "" : ` (${error.location})`;
  const details = `${error?.message ?? "no details"}${at}`;
  if (verdict === "failed") return new ReplayError(`Replay failed due workflow task failure. Details: ${details}`);
  return new DeterminismViolationError(
    "Replay failed with a nondeterminism error. This means that the workflow code as written is not compatible with the history " +
      `that was fed in. Details: ${details}`,
  );
}
