// console in a realm writes to the workflow's log: silent during replay, with the run's names and
// workflow time on each line.
import { stackText } from "../../converter/stack.ts";
import { isA, messageOf } from "../../converter/thrown.ts";
import { defineMethod, type Globals, override } from "./patch.ts";
import type { Level } from "./violations.ts";

const LEVELS: { readonly [method: string]: Level } = {
  debug: "debug",
  log: "info",
  info: "info",
  dir: "info",
  dirxml: "info",
  table: "info",
  trace: "debug",
  warn: "warn",
  error: "error",
};
/** Counters, groups and timers would be state that runs share. */
const NOTHING = [
  "clear",
  "count",
  "countReset",
  "group",
  "groupCollapsed",
  "groupEnd",
  "time",
  "timeEnd",
  "timeLog",
  "timeStamp",
  "profile",
  "profileEnd",
];

export function guardConsole(
  globals: Globals,
  write: (level: Level, message: string) => void,
): void {
  const console = {};
  for (const [method, level] of Object.entries(LEVELS)) {
    defineMethod(console, method, (...args: unknown[]) => write(level, formatArgs(args)));
  }
  defineMethod(console, "assert", (condition: unknown, ...args: unknown[]) => {
    if (!condition) {
      write("error", `Assertion failed${args.length === 0 ? "" : `: ${formatArgs(args)}`}`);
    }
  });
  for (const method of NOTHING) defineMethod(console, method, () => {});
  override(globals, "console", Object.freeze(console));
}

/**
 * Formats arguments as one line: strings as they are, errors with their stack, other values as
 * JSON.
 */
export function formatArgs(args: readonly unknown[]): string {
  return args.map(formatArg).join(" ");
}

function formatArg(arg: unknown): string {
  if (typeof arg === "string") return arg;
  if (isA(arg, Error)) return stackText(arg);
  if (typeof arg === "bigint") return `${arg}n`;
  if (typeof arg === "symbol" || typeof arg === "function" || arg === undefined) return String(arg);
  const seen = new Set<unknown>();
  try {
    return JSON.stringify(arg, (_key, value: unknown) => {
      if (typeof value === "bigint") return `${value}n`;
      if (value instanceof Map) return Object.fromEntries(value);
      if (value instanceof Set) return [...value];
      if (typeof value !== "object" || value === null) return value;
      if (seen.has(value)) return "[seen above]";
      seen.add(value);
      return value;
    }) ?? String(arg);
  } catch (e) {
    return `[cannot be shown: ${messageOf(e)}]`;
  }
}
