// What is known of one thing of the history, from its events: arguments, answer, how long it took, ids.
import { lasting } from "../ui/time.ts";

export interface ThingFact {
  readonly name: string;
  readonly value: unknown;
  /** As it is: not as a value of the user's. */
  readonly isPlain: boolean;
}

type Fields = { readonly [name: string]: unknown };
export interface ThingEvent {
  readonly eventId: number;
  readonly timeMs: number | undefined;
  readonly details: Fields;
}

const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null && !Array.isArray(value);

/** Where events of all kinds keep what went in, what came out, and ids. */
const IN = ["input", "acceptedRequest", "arguments"];
const OUT = ["result", "outcome"];
const IDS: readonly (readonly [string, string])[] = [
  ["activityId", "Activity id"],
  ["timerId", "Timer id"],
  ["updateId", "Update id"],
  ["workflowId", "Workflow id"],
  ["runId", "Run id"],
  ["identity", "By"],
  ["attempt", "Try"],
  ["taskQueue", "Task queue"],
  ["startToFireTimeout", "Length"],
  ["summary", "Summary"],
];

/** A field at any depth of an event, outermost first. */
function found(details: Fields, wanted: string, depth = 0): unknown {
  if (Object.hasOwn(details, wanted)) return details[wanted];
  if (depth > 3) return undefined;
  for (const value of Object.values(details)) {
    const inner = isFields(value) ? found(value, wanted, depth + 1) : undefined;
    if (inner !== undefined) return inner;
  }
  return undefined;
}

/** One argument stands for itself, several are a list. */
const argument = (value: unknown): unknown => Array.isArray(value) && value.length === 1 ? value[0] : value;

export function thingFacts(events: readonly ThingEvent[]): readonly ThingFact[] {
  const facts: ThingFact[] = [];
  const first = (names: readonly string[], from: readonly ThingEvent[]) => {
    for (const { details } of from) {
      for (const name of names) {
        const value = found(details, name);
        if (value !== undefined && value !== null && value !== "") return value;
      }
    }
    return undefined;
  };
  const input = first(IN, events);
  const args = isFields(input) && "args" in input
    ? input["args"]
    : isFields(input) && "input" in input
    ? argsOf(input["input"])
    : input;
  if (args !== undefined) {
    facts.push({
      name: Array.isArray(args) && args.length > 1 ? "Arguments" : "Argument",
      value: argument(args),
      isPlain: false,
    });
  }
  const output = first(OUT, events.toReversed());
  const failure = first(["failure", "lastFailure"], events.toReversed());
  if (failure !== undefined) facts.push({ name: "Failure", value: failureText(failure), isPlain: true });
  else if (output !== undefined) {
    const answer = isFields(output) && "success" in output ? output["success"] : output;
    facts.push({ name: "Answer", value: argument(answer), isPlain: false });
  }
  const times = events.flatMap(({ timeMs }) => timeMs === undefined ? [] : [timeMs]);
  if (times.length > 1) facts.push({ name: "Took", value: lasting(times.at(-1)! - times[0]!), isPlain: true });
  for (const [field, name] of IDS) {
    const value = first([field], events);
    const text = isFields(value) ? value["name"] : value;
    if (typeof text === "string" || typeof text === "number") facts.push({ name, value: String(text), isPlain: true });
  }
  return facts;
}

const argsOf = (input: unknown): unknown => isFields(input) && "args" in input ? input["args"] : input;

function failureText(failure: unknown): string {
  if (!isFields(failure)) return String(failure);
  const { message, cause, applicationFailureInfo: info } = failure;
  const type = isFields(info) && typeof info["type"] === "string" && info["type"] !== "" ? `${info["type"]}: ` : "";
  const own = `${type}${typeof message === "string" ? message : ""}`;
  return isFields(cause) ? `${own}, because of ${failureText(cause)}` : own;
}
