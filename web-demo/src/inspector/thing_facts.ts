// Facts about one item: arguments, result, duration, attempts, ids. They need the history only.
import type { RunItem, RunModel, Shown, ShownFailure } from "temporalex/debug";
import { lasting } from "../ui/time.ts";

export interface ThingFact {
  readonly name: string;
  /** A value of the user, or a text of the page. */
  readonly what: { readonly value: unknown } | { readonly text: string };
  /** True if it has not happened at the position. */
  readonly isFuture: boolean;
  readonly isFailure?: boolean;
}

type Fields = { readonly [name: string]: unknown };
const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Label of the key, by kind of item. */
const KEYS: { readonly [kind: string]: string } = {
  activity: "Activity id",
  localActivity: "Activity id",
  timer: "Timer id",
  update: "Update id",
  child: "Workflow id",
  external: "Workflow id",
  nexus: "Operation",
};

const STATUS: { readonly [status: string]: string } = {
  open: "open at the end of the history",
  timedOut: "timed out",
  canceled: "canceled",
  terminated: "terminated",
  rejected: "rejected",
};

export function thingFacts(
  model: RunModel,
  item: RunItem,
  position: number,
  task: number | undefined,
): readonly ThingFact[] {
  const facts: ThingFact[] = [];
  const isClosed = item.closedBy === undefined ? position >= item.to : position >= item.closedBy;
  const text = (name: string, text: string, isFuture = false) =>
    facts.push({ name, what: { text }, isFuture });
  const input = model.inputOf(item);
  if (input.length > 0) {
    facts.push({
      name: input.length === 1 ? "Argument" : "Arguments",
      what: input.length === 1 ? whatOf(input[0]!) : { value: input.map(plainOf) },
      isFuture: false,
    });
  }
  const output = model.outputOf(item);
  if (output !== undefined) {
    facts.push({ name: "Result", what: whatOf(output), isFuture: !isClosed });
  }
  const failure = model.failureOf(item);
  if (failure !== undefined) {
    facts.push({
      name: "Failure",
      what: { text: failureText(failure) },
      isFuture: !isClosed,
      isFailure: true,
    });
  }
  if (
    item.startMs !== undefined && item.endMs !== undefined && item.kind !== "signal" &&
    item.from !== item.to
  ) {
    text(
      "Took",
      `${lasting(item.endMs - item.startMs)}${task === undefined ? "" : `, in task ${task}`}`,
      !isClosed,
    );
  }
  const details = model.eventOf(item.from);
  if (item.attempt > 1 || item.kind === "activity") {
    const most = deep(details, "maximumAttempts");
    if (item.attempt > 0) {
      text(
        "Attempt",
        `${item.attempt}${typeof most === "number" && most > 0 ? ` of ${most}` : ", no limit"}`,
        !isClosed,
      );
    }
  }
  if (STATUS[item.status] !== undefined) {
    text("Status", STATUS[item.status]!, item.status !== "open" && !isClosed);
  }
  if (item.key !== "") text(KEYS[item.kind] ?? "Id", item.key);
  const by = item.eventIds.slice(0, 3).map((id) => deep(model.eventOf(id), "identity")).find((
    found,
  ) => typeof found === "string");
  if (typeof by === "string" && by !== "" && item.kind !== "task") text("By", by);
  return facts;
}

const plainOf = (shown: Shown): unknown =>
  "value" in shown ? shown.value : `[unreadable: ${shown.unreadable}]`;
const whatOf = (shown: Shown): ThingFact["what"] =>
  "value" in shown ? { value: shown.value } : { text: `cannot be read: ${shown.unreadable}` };

/** Finds a field at any depth of an event; the outermost wins. */
function deep(details: unknown, wanted: string, depth = 0): unknown {
  if (!isFields(details)) return undefined;
  if (Object.hasOwn(details, wanted)) return details[wanted];
  if (depth > 3) return undefined;
  for (const value of Object.values(details)) {
    const inner = deep(value, wanted, depth + 1);
    if (inner !== undefined) return inner;
  }
  return undefined;
}

/** For example "GatewayTimeout: no response, because of ...". */
export function failureText({ type, message, cause }: ShownFailure): string {
  const own = [type, message].filter((part) => part !== "").join(": ");
  return cause === undefined ? own : `${own}, because of ${failureText(cause)}`;
}
