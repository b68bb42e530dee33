// Texts for edits, outcomes and values.
import type { Edit, End } from "../../../ts/what_if/edits.ts";
import type { BranchNode } from "../../../ts/what_if/tree.ts";
import { stepsOf } from "../../../ts/what_if/steps.ts";
import type { HistoryEvent } from "../../../ts/messages/generated/temporal/api/history/v1/message_pb.ts";
import type { RunItem, RunModel } from "../store/run_model.ts";

export const jsonText = (value: unknown): string =>
  JSON.stringify(value, undefined, 1) ?? "undefined";

/** The recorded item that an edit changes. */
export const itemOfEdit = (model: RunModel, edit: Edit): RunItem | undefined =>
  "eventId" in edit ? model.itemOf(edit.eventId) : undefined;

const endWords = (end: End): string =>
  end.kind === "completed"
    ? `returns ${jsonText(end.result)}`
    : end.kind === "failed"
    ? `fails: ${end.failure.message}`
    : end.kind === "never"
    ? "never completes"
    : end.kind;

/** One edit as a line: the name of the item, and the change. */
export function editWords(
  model: RunModel,
  edit: Edit,
): { readonly name: string; readonly did: string } {
  const item = itemOfEdit(model, edit);
  const name = item?.name ?? "";
  switch (edit.kind) {
    case "input":
      return { name: "start", did: "other arguments" };
    case "payload":
      return { name, did: `event ${edit.eventId}, other values` };
    case "drop":
      return { name, did: `event ${edit.eventId}, dropped` };
    case "replace":
      return {
        name,
        did: `event ${edit.eventId} → ${
          "name" in edit.message ? edit.message.name : edit.message.kind
        }`,
      };
    case "insert":
      return {
        name: "name" in edit.message ? edit.message.name : edit.message.kind,
        did: `sent after event ${edit.after}`,
      };
    case "duplicate":
      return { name, did: `event ${edit.eventId}, sent twice` };
    case "move":
      return { name, did: `event ${edit.eventId}, after event ${edit.after}` };
    case "activity":
    case "child":
    case "transact":
      return { name, did: `event ${edit.eventId}, ${endWords(edit.end)}` };
    case "timer":
      return { name, did: `event ${edit.eventId}, fires after ${edit.afterMs / 1000} s` };
    case "answer":
      return { name: edit.key, did: endWords(edit.end) };
  }
}

/** How a history ends. */
export function endOf(events: readonly HistoryEvent[]): string {
  const last = stepsOf(events.slice(-1)).at(-1);
  return last?.kind === "run" && last.what !== "started"
    ? `${last.what}${last.text === "" ? "" : ` ${last.text}`}`
    : "still open";
}

/** The result of a branch. `isBad`: shown in red. */
export function outcomeWords(
  { result }: BranchNode,
): { readonly text: string; readonly isBad: boolean } {
  if (result === undefined) return { text: "has not run", isBad: false };
  const { outcome, events } = result;
  switch (outcome.kind) {
    case "stuck":
      return { text: `code fails: ${outcome.message}`, isBad: true };
    case "stopped":
      return { text: `stopped: ${outcome.message}`, isBad: false };
    case "asks":
      return { text: "needs a result", isBad: false };
    case "waits":
      return { text: "waits", isBad: false };
    default:
      return {
        text: endOf(events),
        isBad: outcome.kind === "failed" || outcome.kind === "timed out",
      };
  }
}
