// Rules that leave values out of a comparison: timestamps, ids. A rule selects values by workflow
// type, command, name and path. Invalid rules are rejected with their index and name.
import type { StepKind, ValueCommand, ValueRule } from "./types.ts";

/** Names of fields and indices of list items, from the whole to the part. */
export type ValuePath = readonly (string | number)[];

/** The command whose value is compared. */
export interface ComparedCommand {
  readonly workflowType: string;
  readonly command: ValueCommand | undefined;
  /** Type of the activity or child, name of the signal, update, operation or reducer. */
  readonly name: string;
}

/** Returns whether a rule matches the value at this path. */
export type IsIgnored = (command: ComparedCommand, path: ValuePath) => boolean;

/** Invalid rules for compared values. */
export class ValueRulesError extends TypeError {
  override name = "ValueRulesError";
}

const COMMANDS: ReadonlySet<string> = new Set(
  [
    "activity",
    "timer",
    "child",
    "signal",
    "nexus",
    "transact",
    "update",
    "searchAttributes",
    "memo",
    "complete",
    "fail",
    "continueAsNew",
  ] satisfies readonly ValueCommand[],
);
const ENDS: { readonly [name: string]: ValueCommand } = {
  completed: "complete",
  failed: "fail",
  continuedAsNew: "continueAsNew",
};

/** Returns the command of a step as rules name it; undefined for steps without values. */
export function commandOfStep(kind: StepKind, name: string): ValueCommand | undefined {
  if (kind === "end") return ENDS[name];
  return COMMANDS.has(kind) ? kind as ValueCommand : undefined;
}

/** The first names of paths. */
const ROOTS = [
  "input",
  "result",
  "failure",
  "duration",
  "memo",
  "searchAttributes",
  "options",
  "workflowType",
  "workflowId",
  "signalName",
  "operation",
  "endpoint",
] as const;
const FIELDS = ["name", "workflow", "command", "type", "path"];

/** Any number of names and indices, also none. */
const ANY_DEPTH = Symbol("**");
/** One name or index. */
const ANY = Symbol("*");
type Segment = string | typeof ANY | typeof ANY_DEPTH;

/** Checks rules and returns their predicate. Throws a ValueRulesError. */
export function compileValueRules(rules: unknown): IsIgnored {
  if (!Array.isArray(rules)) {
    throw new ValueRulesError(`ignore is ${printed(rules)}; expected a list of rules`);
  }
  const compiled = rules.map((rule, i) => compileRule(rule, i));
  return (command, path) => compiled.some((matches) => matches(command, path));
}

/** Reads the text of a rule file, `{ "ignore": [rule, ...] }`. Throws a ValueRulesError. */
export function readValueRules(text: string): readonly ValueRule[] {
  let file: unknown;
  try {
    file = JSON.parse(text);
  } catch (e) {
    throw new ValueRulesError(`the file is not valid JSON: ${(e as Error).message}`);
  }
  const { ignore, ...others } = isObject(file) ? file : {};
  if (ignore === undefined) {
    throw new ValueRulesError('the file has no rules; expected { "ignore": [{ "path": "..." }] }');
  }
  const [other] = Object.keys(others);
  if (other !== undefined) {
    throw new ValueRulesError(`unknown field "${other}" in the file; expected "ignore"`);
  }
  compileValueRules(ignore);
  return ignore as readonly ValueRule[];
}

function compileRule(rule: unknown, index: number): IsIgnored {
  const named = isObject(rule) && typeof rule["name"] === "string" ? ` "${rule["name"]}"` : "";
  const fail = (problem: string): never => {
    throw new ValueRulesError(`ignore[${index}]${named}: ${problem}`);
  };
  if (!isObject(rule)) return fail(`expected an object with a path, not ${printed(rule)}`);
  for (const [field, value] of Object.entries(rule)) {
    if (!FIELDS.includes(field)) fail(`unknown field "${field}"; expected ${FIELDS.join(", ")}`);
    if (typeof value !== "string" || value === "") {
      fail(`${field} is ${printed(value)}; expected a non-empty string`);
    }
  }
  const { workflow, command, type, path } = rule as { readonly [field: string]: string };
  if (path === undefined) return fail('path is missing; "**" matches all values');
  if (command !== undefined && !COMMANDS.has(command)) {
    fail(`command is "${command}"; expected ${[...COMMANDS].join(", ")}`);
  }
  const segments = parsePath(path, fail);
  const [isWorkflow, isType] = [compileText(workflow), compileText(type)];
  return (at, place) =>
    isWorkflow(at.workflowType) && (command === undefined || command === at.command) &&
    isType(at.name) && matchesPath(segments, place);
}

/** `*` in a name matches any text. */
function compileText(pattern: string | undefined): (text: string) => boolean {
  if (pattern === undefined) return () => true;
  const parts = pattern.split("*").map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&"));
  const expression = new RegExp(`^${parts.join(".*")}$`, "s");
  return (text) => expression.test(text);
}

function parsePath(path: string, fail: (problem: string) => never): Segment[] {
  const segments: Segment[] = [];
  const token = /(\.)?(?:\[(\d+|\*|"(?:[^"\\]|\\.)*")\]|([^.[\]"]+))/y;
  while (token.lastIndex < path.length) {
    const from = token.lastIndex;
    const [, dot, inBrackets, name] = token.exec(path) ?? [];
    const isFirst = segments.length === 0;
    const hasDot = dot !== undefined;
    // Names follow a dot, and brackets do not.
    if (
      (inBrackets === undefined && name === undefined) ||
      hasDot !== (name !== undefined && !isFirst)
    ) {
      return fail(
        `path "${path}" is invalid at character ${from + 1}; ` +
          'expected the form input[0].lines[*].id, memo["a.b"] or **.createdAt',
      );
    }
    segments.push(
      name === "**"
        ? ANY_DEPTH
        : name === "*" || inBrackets === "*"
        ? ANY
        : name ?? (inBrackets!.startsWith('"') ? JSON.parse(inBrackets!) as string : inBrackets!),
    );
  }
  const [first] = segments;
  if (typeof first === "string" && !(ROOTS as readonly string[]).includes(first)) {
    return fail(`path begins with "${first}"; expected ${ROOTS.join(", ")}, * or **`);
  }
  return segments;
}

/** A rule for a value also matches the parts of that value. */
function matchesPath(segments: readonly Segment[], path: ValuePath, s = 0, p = 0): boolean {
  const segment = segments[s];
  if (segment === undefined) return true;
  if (segment === ANY_DEPTH) {
    for (let from = p; from <= path.length; from++) {
      if (matchesPath(segments, path, s + 1, from)) return true;
    }
    return false;
  }
  return p < path.length && (segment === ANY || segment === String(path[p])) &&
    matchesPath(segments, path, s + 1, p + 1);
}

/** Formats a path as rules contain it. */
export function formatValuePath(path: ValuePath): string {
  return path.map((part, i) =>
    typeof part === "number"
      ? `[${part}]`
      : i > 0 && !/^[^.[\]"*]+$/.test(part)
      ? `[${JSON.stringify(part)}]`
      : `${i > 0 ? "." : ""}${part}`
  ).join("");
}

const isObject = (value: unknown): value is { readonly [field: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function printed(value: unknown): string {
  const text = JSON.stringify(value) ?? typeof value;
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
