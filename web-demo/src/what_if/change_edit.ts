// The fields of the form for one change, and the edit that is built from them. Errors name their
// field.
import type { Edit, Message } from "../../../ts/what_if/edits.ts";
import type { RunItem, RunModel } from "../store/run_model.ts";
import { isTransact } from "../inspector/legal_now.ts";
import { jsonText } from "./words.ts";

/** The kind of change. */
export type What =
  | ("values" | "drop" | "again" | "move" | "replace" | "fails" | "returns" | "times out" | "fires")
  /** A new message. */
  | "send";

/** Names of the fields. */
export type Field = "text" | "name" | "after";

/** Content of the fields. */
export interface Given {
  readonly text: string;
  readonly name: string;
  readonly kind: Message["kind"];
  /** Id of the event after which the message arrives. */
  readonly after: string;
}

/** The content of a field is invalid. */
export class FieldError extends Error {
  override name = "FieldError";
  readonly field: Field;

  constructor(field: Field, message: string) {
    super(message);
    this.field = field;
  }
}

type Choices = readonly (readonly [What, string])[];

const DROP = ["drop", "is not sent"] as const;
const MOVE = ["move", "arrives after another event"] as const;
const REPLACE = ["replace", "is another message"] as const;
const MESSAGE: Choices = [
  ["values", "has other values"],
  DROP,
  ["again", "is sent twice"],
  MOVE,
  REPLACE,
];
const CALL: Choices = [["fails", "fails"], ["returns", "returns another result"]];

const CHOICES: { readonly [kind in RunItem["kind"]]?: Choices } = {
  run: [["values", "has other arguments"]],
  signal: MESSAGE,
  update: MESSAGE,
  activity: [...CALL, ["times out", "times out"]],
  child: CALL,
  timer: [["fires", "fires at another time"]],
};

/** The changes for an item; empty if a branch cannot change it. */
export function choicesOf(model: RunModel, item: RunItem | undefined): Choices {
  if (item === undefined) return [["send", "send"]];
  // A cancel request is an item of kind signal, without values.
  const isCancel = model.lines[item.from - 1]?.type === "WorkflowExecutionCancelRequested";
  if (isTransact(item)) return CALL;
  return isCancel ? [DROP, MOVE, REPLACE] : CHOICES[item.kind] ?? [];
}

export const hasValues = (kind: Message["kind"]): boolean => kind === "signal" || kind === "update";

/** Label of the text field; undefined if the change has no text. */
export function textLabel(what: What, kind: Message["kind"]): string | undefined {
  switch (what) {
    case "values":
      return "Values, as a JSON array";
    case "send":
    case "replace":
      return hasValues(kind) ? "Values, as a JSON array" : "Reason";
    case "fails":
      return "Error message";
    case "returns":
      return "Result, as JSON";
    case "fires":
      return "Fires after, in seconds";
    default:
      return undefined;
  }
}

/** Initial content of the text field. */
export function firstText(
  model: RunModel,
  item: RunItem | undefined,
  what: What,
  kind: Message["kind"],
): string {
  if (textLabel(what, kind) === "Reason") return "";
  if (item === undefined) return "[]";
  if (what === "fails") return `${item.name} failed`;
  if (what === "fires") return "1";
  if (what === "returns") {
    const output = model.outputOf(item);
    return output !== undefined && "value" in output ? jsonText(output.value) : "null";
  }
  return jsonText(model.inputOf(item).map((one) => "value" in one ? one.value : null));
}

/**
 * Builds the edit. Throws a {@link FieldError} for invalid content. `events`: number of events of
 * the history.
 */
export function buildEdit(
  item: RunItem | undefined,
  what: What,
  given: Given,
  events: number,
): Edit {
  if (item === undefined) {
    return { kind: "insert", after: eventOf(given.after, events), message: messageOf(given) };
  }
  const eventId = item.from;
  const call = item.kind === "child" ? "child" : isTransact(item) ? "transact" : "activity";
  switch (what) {
    case "values":
      return item.kind === "run"
        ? { kind: "input", args: listOf(given.text) }
        : { kind: "payload", eventId, args: listOf(given.text) };
    case "drop":
      return { kind: "drop", eventId };
    case "again":
      return { kind: "duplicate", eventId };
    case "move": {
      const after = eventOf(given.after, events);
      if (after === eventId) {
        throw new FieldError("after", "a message cannot arrive after itself; enter another event");
      }
      return { kind: "move", eventId, after };
    }
    case "replace":
      return { kind: "replace", eventId, message: messageOf(given) };
    case "fails":
      return { kind: call, eventId, end: { kind: "failed", failure: { message: given.text } } };
    case "times out":
      return { kind: call, eventId, end: { kind: "timed out" } };
    case "returns":
      return { kind: call, eventId, end: { kind: "completed", result: jsonOf(given.text) } };
    default: {
      const seconds = Number(given.text);
      if (given.text.trim() === "" || !(seconds >= 0)) {
        throw new FieldError("text", "enter the seconds as a number of at least 0");
      }
      return { kind: "timer", eventId, afterMs: seconds * 1000 };
    }
  }
}

/** Title of a branch with this change. */
export function changeTitle(
  item: RunItem | undefined,
  what: What,
  { kind, name, after }: Given,
): string {
  const message = hasValues(kind) ? name : kind === "cancel" ? "a cancel request" : "a termination";
  if (item === undefined) return `${message} is sent`;
  const thing = item.name || "start";
  if (what === "move") return `${thing} arrives after event ${after}`;
  if (what === "replace") return `${thing} is ${message}`;
  return `${thing} ${
    [...MESSAGE, ...CHOICES.activity!, ...CHOICES.timer!].find(([each]) => each === what)?.[1] ?? ""
  }`;
}

function messageOf({ kind, name, text }: Given): Message {
  if (kind === "signal" || kind === "update") {
    if (name.trim() === "") {
      throw new FieldError(
        "name",
        `enter the name of ${kind === "signal" ? "a signal" : "an update"} of the workflow`,
      );
    }
    return { kind, name: name.trim(), args: listOf(text) };
  }
  return { kind, reason: text };
}

function eventOf(text: string, events: number): number {
  const event = Number(text);
  if (text.trim() !== "" && Number.isInteger(event) && event >= 1 && event <= events) return event;
  throw new FieldError("after", `enter the id of an event, 1 to ${events}`);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new FieldError("text", `invalid JSON: ${(error as Error).message}`);
  }
}

function listOf(text: string): readonly unknown[] {
  const values = jsonOf(text);
  if (!Array.isArray(values)) throw new FieldError("text", "enter a JSON array: [first, second]");
  return values;
}
