// Errors that end a command, and their output: a message as text, an object as JSON; a stack trace
// for bugs.
import { Code } from "../../service/raw.ts";
import { Exit } from "./exit.ts";
import { printable } from "./printable.ts";

/** A wrong command line. The message is shown; exit code 2. */
export class UsageError extends Error {
  override name = "UsageError";
}

/** The command failed; the message has the reason and advice. Exit code 1. */
export class CommandError extends Error {
  override name = "CommandError";
}

/** Ctrl-C or SIGTERM. */
export class Interrupted extends Error {
  override name = "Interrupted";
  readonly signalName: "SIGINT" | "SIGTERM";

  constructor(signalName: "SIGINT" | "SIGTERM" = "SIGINT") {
    super(signalName === "SIGINT" ? "interrupted" : "terminated");
    this.signalName = signalName;
  }
}

/** Errors of the language: caused by bugs, never by a wrong command line or a service. */
const BUGS: ReadonlySet<string> = new Set([
  "TypeError",
  "ReferenceError",
  "RangeError",
  "SyntaxError",
  "EvalError",
  "URIError",
  "AssertionError",
]);

export function isBug(error: unknown): boolean {
  return !(error instanceof Error) ||
    (BUGS.has(error.name) && (error as { code?: unknown }).code === undefined);
}

export function exitCodeOf(error: unknown): number {
  if (error instanceof UsageError) return Exit.usage;
  if (error instanceof Interrupted) {
    return error.signalName === "SIGINT" ? Exit.interrupted : Exit.terminated;
  }
  return Exit.failed;
}

const codeName = (code: number): string =>
  Object.entries(Code).find(([, number]) => number === code)?.[0] ?? String(code);

/** Errors of the transport: their wrapping error has a better message. */
const MECHANICAL: ReadonlySet<string> = new Set(["ServiceError", "ConnectError"]);

function causeOf({ message, cause }: Error): Error | undefined {
  return cause instanceof Error && cause.message !== message && !MECHANICAL.has(cause.name)
    ? cause
    : undefined;
}

/** Returns an error for `--json`. */
export function errorDocument(
  error: unknown,
): { error: { name: string; message: string; [field: string]: unknown } } {
  if (!(error instanceof Error)) return { error: { name: "Error", message: String(error) } };
  const { name, message } = error;
  const cause = causeOf(error);
  const fields: { [field: string]: unknown } = {};
  for (
    const key of [
      "code",
      "reason",
      "workflowId",
      "runId",
      "updateId",
      "type",
      "activityType",
      "retryState",
    ] as const
  ) {
    const value = (error as unknown as { [key: string]: unknown })[key];
    if (key === "code" && typeof value === "number") fields[key] = codeName(value);
    else if ((typeof value === "string" && value !== "") || typeof value === "number") {
      fields[key] = value;
    }
  }
  return {
    error: {
      name,
      message,
      ...fields,
      ...(cause !== undefined && { cause: errorDocument(cause).error }),
    },
  };
}

/** Names the activity: the message of its failure has only the fact. */
function ownWords({ name, message, ...fields }: Error): string {
  const { activityType } = fields as { activityType?: unknown };
  return name === "ActivityFailure" && typeof activityType === "string"
    ? `activity ${activityType} failed`
    : message;
}

/** Formats an error as text. Shows causes that add information to the message. */
export function formatError(error: unknown, stack: boolean): string {
  if (!(error instanceof Error)) return `temporalex: ${String(error)}\n`;
  if (error instanceof Interrupted) return "";
  const lines = [`temporalex: ${error.message || error.name}`];
  for (
    let cause = causeOf(error), depth = 0;
    cause !== undefined && depth < 5;
    cause = causeOf(cause), depth++
  ) {
    const message = ownWords(cause);
    if (message !== "" && !lines.some((line) => line.includes(message))) {
      lines.push(`  because: ${message}`);
    }
  }
  if (isBug(error)) lines.push("This is a bug of temporalex; please report it with what follows.");
  if (stack || isBug(error)) lines.push(error.stack ?? "");
  // Messages can contain texts of a workflow, a service or a file.
  return `${printable(lines.join("\n"))}\n`;
}
