// Checks messages from the sandbox, which can be hostile. Accepts only the messages of a realm,
// made of plain data: no other objects, no names that change prototypes, nothing that Preact would
// accept as an element, and no more values than the longest replay needs.
import type { FromRealm } from "../../../ts/realm/protocol.ts";

/** Values in one message. A traced replay of 51,200 events has about 3 million. */
const MOST_VALUES = 40_000_000;
const DEEPEST = 200;

type Fields = { readonly [name: string]: unknown };
type Kind = "string" | "number" | "boolean" | "object";

/** The fields of each accepted message with their types. Replays and branches need no others. */
const FIELDS: { readonly [t: string]: { readonly [field: string]: Kind } } = {
  ready: {
    workflowTypes: "object",
    takesAnyType: "boolean",
    versioningBehaviors: "object",
  } satisfies Of<"ready">,
  refused: { message: "string" } satisfies Of<"refused">,
  busy: { id: "number" } satisfies Of<"busy">,
  alive: {} satisfies Of<"alive">,
  at: { id: "number", eventId: "number" } satisfies Of<"at">,
  line: { id: "number", at: "object" } satisfies Of<"line">,
  verdict: { id: "number", verdict: "object" } satisfies Of<"verdict">,
  error: { id: "number", message: "string" } satisfies Of<"error">,
  outcome: { id: "number", outcome: "object", cachedRuns: "number" } satisfies Of<"outcome">,
  local: { id: "number", work: "object" } satisfies Of<"local">,
  cached: { runs: "number" } satisfies Of<"cached">,
  trapped: { message: "string" } satisfies Of<"trapped">,
  log: { entry: "object" } satisfies Of<"log">,
};
type Of<T extends FromRealm["t"]> = {
  readonly [field in keyof Omit<Extract<FromRealm, { t: T }>, "t">]?: Kind;
};

/** Fields of a verdict. */
const VERDICT: { readonly [field: string]: Kind } = {
  ...{
    verdict: "string",
    workflowType: "string",
    workflowId: "string",
    runId: "string",
    activations: "number",
  },
  ...{ events: "number", warnings: "object" },
};

/** Returns the message. Throws an Error that says what is invalid. */
export function checkedMessage(data: unknown): FromRealm {
  plainData(data);
  const { t } = (data ?? {}) as { readonly t?: unknown };
  if (typeof t !== "string" || !Object.hasOwn(FIELDS, t)) {
    throw new Error(`unknown type ${short(t)}`);
  }
  fields(data as Fields, FIELDS[t]!, t);
  const message = data as FromRealm;
  if (message.t === "verdict") {
    fields(message.verdict as unknown as Fields, VERDICT, "verdict");
    if (!["ok", "nondeterminism", "failed"].includes(message.verdict.verdict)) {
      throw new Error("unknown verdict");
    }
    if (!Array.isArray(message.verdict.warnings)) {
      throw new Error("warnings of the verdict: expected a list");
    }
  } else if (message.t === "line") {
    fields(message.at as unknown as Fields, { location: "string", ran: "number" }, "line");
  } else if (message.t === "ready") {
    const { workflowTypes, versioningBehaviors } = message;
    if (!Array.isArray(workflowTypes) || !workflowTypes.every((type) => typeof type === "string")) {
      throw new Error("workflowTypes: expected a list of names");
    }
    if (!(versioningBehaviors instanceof Map)) {
      throw new Error("versioningBehaviors: expected a map");
    }
  } else if (message.t === "refused" && message.problems !== undefined) {
    if (!Array.isArray(message.problems) || message.problems.length === 0) {
      throw new Error("problems: expected a list");
    }
    for (const problem of message.problems) {
      fields(problem as unknown as Fields, {
        file: "string",
        line: "number",
        column: "number",
        message: "string",
      }, "problem");
    }
  }
  return message;
}

function fields(value: Fields, wanted: { readonly [field: string]: Kind }, of: string): void {
  for (const [name, kind] of Object.entries(wanted)) {
    if (value === null || typeof value[name] !== kind || value[name] === null) {
      throw new Error(`${name} of ${of}: expected ${kind}, got ${short(value?.[name])}`);
    }
  }
}

/**
 * Throws if a value is not plain data. Without recursion, because the sender controls the depth.
 */
export function plainData(data: unknown): void {
  let open: unknown[] = [data];
  let values = 0;
  const seen = new Set<object>();
  for (let depth = 0; open.length > 0; depth++) {
    if (depth > DEEPEST) throw new Error(`the message is nested deeper than ${DEEPEST} levels`);
    const inner: unknown[] = [];
    for (const value of open) {
      if (++values > MOST_VALUES) {
        throw new Error(`the message has more than ${MOST_VALUES} values`);
      }
      if (typeof value !== "object" || value === null || seen.has(value)) continue;
      if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) continue;
      seen.add(value);
      if (value instanceof Map) {
        for (const [name, each] of value) inner.push(name, each);
        continue;
      }
      // Sets are part of recorded lines.
      if (value instanceof Set) {
        for (const each of value) inner.push(each);
        continue;
      }
      if (Array.isArray(value)) {
        for (const each of value) inner.push(each);
        continue;
      }
      if (Object.getPrototypeOf(value) !== Object.prototype) {
        throw new Error(`the message contains ${short(value)}, which is not plain data`);
      }
      for (const [name, each] of Object.entries(value)) {
        if (name === "__proto__" || (name === "constructor" && each === undefined)) {
          throw new Error(`the message has a field ${name}`);
        }
        inner.push(each);
      }
    }
    open = inner;
  }
}

const short = (value: unknown): string =>
  typeof value === "object" && value !== null
    ? Object.prototype.toString.call(value)
    : String(value).slice(0, 80);
