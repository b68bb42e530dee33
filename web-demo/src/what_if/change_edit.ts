// What the form of one change holds, and the edit that it stands for. Errors name the field that they are about.
import type { Edit, Message } from "../../../ts/what_if/edits.ts";
import type { RunItem, RunModel } from "../app/run_model.ts";
import { isTransact } from "../inspector/legal_now.ts";
import { jsonText } from "./words.ts";

/** What happens to a thing. */
export type What =
  | ("values" | "drop" | "again" | "move" | "replace" | "fails" | "answers" | "times out" | "fires")
  /** Of no thing: a new message. */
  | "send";

/** The fields of the form, by their names. */
export type Field = "text" | "name" | "after";

/** What is written in the form. */
export interface Given {
  readonly text: string;
  readonly name: string;
  readonly kind: Message["kind"];
  /** The event behind which a message comes. */
  readonly after: string;
}

/** A field holds something that is no change. */
export class FieldError extends Error {
  override name = "FieldError";
  readonly field: Field;

  constructor(field: Field, message: string) {
    super(message);
    this.field = field;
  }
}

type Choices = readonly (readonly [What, string])[];

const DROP = ["drop", "was not sent"] as const;
const MOVE = ["move", "comes after another event"] as const;
const REPLACE = ["replace", "is another message"] as const;
const MESSAGE: Choices = [["values", "other values"], DROP, ["again", "is sent again"], MOVE, REPLACE];
const CALL: Choices = [["fails", "fails"], ["answers", "answers by hand"]];

const CHOICES: { readonly [kind in RunItem["kind"]]?: Choices } = {
  run: [["values", "other arguments"]],
  signal: MESSAGE,
  update: MESSAGE,
  activity: [...CALL, ["times out", "times out"]],
  child: CALL,
  timer: [["fires", "fires after, in seconds"]],
};

/** What can be changed of a thing; nothing of kinds that a branch cannot change. */
export function choicesOf(model: RunModel, item: RunItem | undefined): Choices {
  if (item === undefined) return [["send", "send"]];
  // It stands among the messages of a run, and carries no values.
  const isCancel = model.lines[item.from - 1]?.type === "WorkflowExecutionCancelRequested";
  if (isTransact(item)) return CALL;
  return isCancel ? [DROP, MOVE, REPLACE] : CHOICES[item.kind] ?? [];
}

/** A message with values. */
export const hasValues = (kind: Message["kind"]): boolean => kind === "signal" || kind === "update";

/** What the text field is for; undefined: it is not needed. */
export function textLabel(what: What, kind: Message["kind"]): string | undefined {
  switch (what) {
    case "values":
      return "Values, as a JSON list";
    case "send":
    case "replace":
      return hasValues(kind) ? "Values, as a JSON list" : "Reason";
    case "fails":
      return "Message";
    case "answers":
      return "Result, as JSON";
    case "fires":
      return "Seconds";
    default:
      return undefined;
  }
}

/** What the text field holds at first. */
export function firstText(model: RunModel, item: RunItem | undefined, what: What, kind: Message["kind"]): string {
  if (textLabel(what, kind) === "Reason") return "";
  if (item === undefined) return "[]";
  if (what === "fails") return `${item.name} failed`;
  if (what === "fires") return "1";
  if (what === "answers") {
    const output = model.outputOf(item);
    return output !== undefined && "value" in output ? jsonText(output.value) : "null";
  }
  return jsonText(model.inputOf(item).map((one) => "value" in one ? one.value : null));
}

/** The edit of a form. Throws a {@link FieldError} for what is no change. `events`: how many the history has. */
export function buildEdit(item: RunItem | undefined, what: What, given: Given, events: number): Edit {
  if (item === undefined) return { kind: "insert", after: eventOf(given.after, events), message: messageOf(given) };
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
      if (after === eventId) throw new FieldError("after", "it cannot come after itself: name another event");
      return { kind: "move", eventId, after };
    }
    case "replace":
      return { kind: "replace", eventId, message: messageOf(given) };
    case "fails":
      return { kind: call, eventId, end: { kind: "failed", failure: { message: given.text } } };
    case "times out":
      return { kind: call, eventId, end: { kind: "timed out" } };
    case "answers":
      return { kind: call, eventId, end: { kind: "completed", result: jsonOf(given.text) } };
    default: {
      const seconds = Number(given.text);
      if (given.text.trim() === "" || !(seconds >= 0)) throw new FieldError("text", "give a number of seconds from 0 on");
      return { kind: "timer", eventId, afterMs: seconds * 1000 };
    }
  }
}

/** A change in words, for the name of its branch. */
export function changeTitle(item: RunItem | undefined, what: What, { kind, name, after }: Given): string {
  const message = hasValues(kind) ? name : kind === "cancel" ? "a cancel request" : "a termination";
  if (item === undefined) return `${message} is sent`;
  const thing = item.name || "start";
  if (what === "move") return `${thing} comes after event ${after}`;
  if (what === "replace") return `${thing} is ${message}`;
  return `${thing} ${[...MESSAGE, ...CHOICES.activity!, ...CHOICES.timer!].find(([each]) => each === what)?.[1] ?? ""}`;
}

function messageOf({ kind, name, text }: Given): Message {
  if (kind === "signal" || kind === "update") {
    if (name.trim() === "") {
      throw new FieldError(
        "name",
        `${kind === "signal" ? "a signal" : "an update"} has a name: that of a handler of the workflow`,
      );
    }
    return { kind, name: name.trim(), args: listOf(text) };
  }
  return { kind, reason: text };
}

function eventOf(text: string, events: number): number {
  const event = Number(text);
  if (text.trim() !== "" && Number.isInteger(event) && event >= 1 && event <= events) return event;
  throw new FieldError("after", `the history has the events 1 to ${events}: give one of these numbers`);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new FieldError("text", `that is not JSON: ${(error as Error).message}`);
  }
}

function listOf(text: string): readonly unknown[] {
  const values = jsonOf(text);
  if (!Array.isArray(values)) throw new FieldError("text", "give the values as a JSON list: [first, second]");
  return values;
}
