// Arguments of messages: payloads to values, then through the message's Standard Schema validators,
// whose outputs go to handlers. Validators also run on replay, so they must be pure.
import { ApplicationFailure } from "../../converter/failures.ts";
import { fromPayloads } from "../../converter/payload.ts";
import type { MessageShape } from "../program/definition.ts";
import type { WirePayload } from "../program/encode.ts";
import { MisuseError } from "../program/errors.ts";
import type { RunState } from "../scheduler/run_state.ts";
import { current, inClosure } from "../program/current.ts";

/** A message's schema rejected its arguments. */
export class InvalidArguments extends ApplicationFailure {
  override name = "InvalidArguments";
  readonly issues: readonly string[];

  constructor(message: MessageShape, issues: readonly string[]) {
    super(
      `the arguments of ${message.kind} "${message.name}" are not valid: ${issues.join("; ")}`,
      {
        type: "InvalidArguments",
        nonRetryable: true,
        details: [issues],
      },
    );
    this.issues = issues;
  }
}

/**
 * Returns the values of a message's arguments. Throws InvalidArguments, or a PayloadConverterError.
 */
export function decodeArgs(
  run: RunState,
  message: MessageShape,
  input: readonly WirePayload[],
): unknown[] {
  const values = fromPayloads(run.converter, input);
  const schemas = message.args;
  if (schemas === undefined) return values;
  const issues: string[] = [];
  let count = 0;
  for (let i = 0; i < schemas.length; i++) {
    const refusals: Error[] = [];
    current.refusals = refusals;
    const result = inClosure("schema", () => schemas[i]!["~standard"].validate(values[i])) as
      | SchemaResult
      | PromiseLike<unknown>;
    if (typeof (result as PromiseLike<unknown>).then === "function") {
      Promise.resolve(result).catch(() => {});
      throw new MisuseError(
        `the schema of argument ${i} of ${message.kind} "${message.name}" is asynchronous; use a synchronous schema`,
      );
    }
    if (refusals.length > 0) throw refusals[0]!;
    const { issues: found, value } = result as SchemaResult;
    if (found === undefined) values[i] = value;
    else {
      // A validator may reject without a reason.
      const said = found.length > 0 ? found : [{ message: "rejected by the schema" }];
      count += said.length;
      for (const issue of said.slice(0, MAX_ISSUES - issues.length)) {
        issues.push(shortened(`argument ${i}${pathOf(issue.path)}: ${issue.message}`));
      }
    }
  }
  if (count > issues.length) issues.push(`and ${count - issues.length} more`);
  if (count > 0) throw new InvalidArguments(message, issues);
  return values;
}

/**
 * Limits of reported issues: a rejection too large for the service would fail the task repeatedly.
 */
const MAX_ISSUES = 20;
const MAX_ISSUE_LENGTH = 500;

function shortened(issue: string): string {
  return issue.length <= MAX_ISSUE_LENGTH ? issue : `${issue.slice(0, MAX_ISSUE_LENGTH)}...`;
}

interface SchemaResult {
  readonly value?: unknown;
  readonly issues?: readonly {
    readonly message: string;
    readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[];
  }[];
}

function pathOf(
  path: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined,
): string {
  return (path ?? []).map((part) => `.${String(typeof part === "object" ? part.key : part)}`).join(
    "",
  );
}
