// Queries see a read-only copy of the published state and never affect the run. For Temporal's
// built-in queries see built_in_answers.ts.
import {
  CommandKind,
  type Job,
  QueryResult,
} from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { encodeFailure } from "../../converter/failure_converter.ts";
import { ApplicationFailure } from "../../converter/failures.ts";
import { namingWhat } from "../../converter/lossy_value.ts";
import { fromPayloads } from "../../converter/payload.ts";
import { answerBuiltIn } from "./built_in_answers.ts";
import { encodeWith, wire } from "../program/encode.ts";
import { MisuseError } from "../program/errors.ts";
import { hop } from "../../platform/hop.ts";
import type { RunState } from "../scheduler/run_state.ts";
import { current, inClosureWithMicrotasks } from "../program/current.ts";
import { calls, original, view } from "../primitives/read_only_view.ts";

export async function answerQueries(run: RunState, jobs: readonly Job[]): Promise<void> {
  for (const { variant } of jobs) {
    if (variant?.$case !== "queryWorkflow") {
      throw new Error(
        `unexpected job from the core among queries: ${variant?.$case ?? "an unknown one"}`,
      );
    }
    const { queryId, queryType, arguments: args } = variant.value;
    // Includes the query's microtasks: queries are not replayed, so they must not be attributed to
    // the workflow.
    current.closure = "query";
    try {
      const result = inClosureWithMicrotasks("query", () => answer(run, queryType, args));
      await hop();
      run.issue(
        CommandKind.COMMAND_KIND_QUERY_RESULT,
        encodeWith(QueryResult, { queryId, result }),
      );
    } finally {
      current.closure = undefined;
    }
  }
}

/** Getters and toJSON of the result or error are also code of the query. */
function answer(
  run: RunState,
  queryType: string,
  args: Parameters<typeof fromPayloads>[1],
): QueryResult["result"] {
  const { converter } = run.context;
  try {
    const builtIn = answerBuiltIn(run, queryType);
    const value = builtIn ??
      namingWhat(
        `the result of query "${queryType}"`,
        () => converter.toPayload(original(ask(run, queryType, fromPayloads(converter, args)))),
      );
    return { $case: "succeeded", value: wire(value) };
  } catch (e) {
    return { $case: "failed", value: encodeFailure(e, converter) };
  } finally {
    calls.report = undefined;
    run.published.forgetTouched();
  }
}

/** A read-only view of the last published state; undefined before the first. */
function publishedView(run: RunState): unknown {
  const decoded = run.published.decoded(run.converter);
  if (decoded === undefined) return undefined;
  calls.report = () => run.published.touch();
  return view(decoded.value, "the published state");
}

function ask(run: RunState, name: string, args: unknown[]): unknown {
  const { queries } = run.definition;
  if (!Object.hasOwn(queries, name)) {
    const names = Object.keys(queries);
    throw new ApplicationFailure(
      `Unknown query "${name}"; workflow "${run.definition.name}" has ${
        names.length === 0 ? "no queries" : names.join(", ")
      }`,
      { type: "UnknownQuery", nonRetryable: true },
    );
  }
  const answer = queries[name]!(publishedView(run), ...args);
  if (typeof (answer as PromiseLike<unknown> | undefined)?.then === "function") {
    Promise.resolve(answer).catch(() => {});
    throw new MisuseError(
      `the handler of query "${name}" returned a promise; a query handler must be synchronous`,
    );
  }
  return answer;
}
