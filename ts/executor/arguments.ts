// Arguments of messages: payloads to values, then through the message's Standard Schema validators, whose outputs are what handlers get.
// Schemas run live and on replay alike, so they must be pure, like all workflow code.
import { ApplicationFailure } from "../converter/failures.ts";
import { fromPayloads } from "../converter/payload.ts";
import type { MessageShape } from "./definition.ts";
import type { WirePayload } from "./encode.ts";
import { MisuseError } from "./errors.ts";
import type { NativeRun } from "./run.ts";
import { inClosure } from "./slot.ts";

/** A message's schema refused its arguments. */
export class InvalidArguments extends ApplicationFailure {
  override name = "InvalidArguments";
  readonly issues: readonly string[];

  constructor(message: MessageShape, issues: readonly string[]) {
    super(`the arguments of ${message.kind} "${message.name}" are not valid: ${issues.join("; ")}`, {
      type: "InvalidArguments",
      nonRetryable: true,
      details: [issues],
    });
    this.issues = issues;
  }
}

/** The values of a message's arguments. Throws InvalidArguments, or a PayloadConverterError. */
export function decodeArgs(run: NativeRun, message: MessageShape, input: readonly WirePayload[]): unknown[] {
  const values = fromPayloads(run.converter, input);
  const schemas = message.args;
  if (schemas === undefined) return values;
  const issues: string[] = [];
  for (let i = 0; i < schemas.length; i++) {
    const result = inClosure("schema", () => schemas[i]!["~standard"].validate(values[i])) as SchemaResult | PromiseLike<unknown>;
    if (typeof (result as PromiseLike<unknown>).then === "function") {
      Promise.resolve(result).catch(() => {});
      run.misuse(new MisuseError(`the schema of argument ${i} of ${message.kind} "${message.name}" is asynchronous`));
    }
    const { issues: found, value } = result as SchemaResult;
    if (found === undefined) values[i] = value;
    else for (const issue of found) issues.push(`argument ${i}${pathOf(issue.path)}: ${issue.message}`);
  }
  if (issues.length > 0) throw new InvalidArguments(message, issues);
  return values;
}

interface SchemaResult {
  readonly value?: unknown;
  readonly issues?: readonly {
    readonly message: string;
    readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[];
  }[];
}

function pathOf(path: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined): string {
  return (path ?? []).map((part) => `.${String(typeof part === "object" ? part.key : part)}`).join("");
}
