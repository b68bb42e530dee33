// Published state and the queries over it. publishState keeps the value as it is at the call, encoded; a query sees a read-only copy of
// it and never touches the run. The queries that Temporal has for every workflow are in built_in_queries.ts.
import { CommandKind, type Job, QueryResult } from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { encodeFailure } from "../../converter/failure_converter.ts";
import { ApplicationFailure } from "../../converter/failures.ts";
import { namingWhat } from "../../converter/lossy_value.ts";
import { fromPayloads, type Payload } from "../../converter/payload.ts";
import { answerBuiltIn } from "../tasks/built_in_queries.ts";
import { encode, wire } from "../scheduler/encode.ts";
import { MisuseError } from "../scheduler/errors.ts";
import { hop } from "../../platform/hop.ts";
import type { NativeRun } from "../scheduler/run.ts";
import { inFencedClosure, slot } from "../scheduler/current.ts";
import { calls, original, view } from "./read_only_view.ts";

export class Published {
  #payload: Payload | undefined;
  #decoded: { value: unknown } | undefined;
  #touched = false;

  publish(run: NativeRun, value: unknown): void {
    this.#payload = namingWhat("the published state", () => run.converter.toPayload(value));
    this.#decoded = undefined;
  }

  /** The last published state as it was written; undefined before the first. */
  get payload(): Payload | undefined {
    return this.#payload;
  }

  /** A read-only view of the last published state; undefined before the first. */
  view(run: NativeRun): unknown {
    if (this.#payload === undefined) return undefined;
    this.#decoded ??= { value: run.converter.fromPayload(this.#payload) };
    calls.report = () => this.#touched = true;
    return view(this.#decoded.value, "the published state");
  }

  /** A query has called functions of the decoded state, which may have changed it: the next one gets another. */
  forgetTouched(): void {
    calls.report = undefined;
    if (this.#touched) this.#decoded = undefined;
    this.#touched = false;
  }
}

export async function answerQueries(run: NativeRun, jobs: readonly Job[]): Promise<void> {
  for (const { variant } of jobs) {
    if (variant?.$case !== "queryWorkflow") {
      throw new Error(`the core sent a job among queries that is none: ${variant?.$case ?? "an unknown one"}`);
    }
    const { queryId, queryType, arguments: args } = variant.value;
    // To the end of its microtasks: queries are not replayed, so nothing of them may be taken for the workflow's.
    slot.closure = "query";
    try {
      const result = inFencedClosure("query", () => answer(run, queryType, args));
      await hop();
      run.issue(CommandKind.COMMAND_KIND_QUERY_RESULT, encode(QueryResult, { queryId, result }));
    } finally {
      slot.closure = undefined;
    }
  }
}

/** What becomes a value, or a failure, is made by code of the query, too: getters and toJSON of what it answers or throws. */
function answer(run: NativeRun, queryType: string, args: Parameters<typeof fromPayloads>[1]): QueryResult["result"] {
  const { converter } = run.context;
  try {
    const builtIn = answerBuiltIn(run, queryType);
    const value = builtIn ??
      namingWhat("its answer", () => converter.toPayload(original(ask(run, queryType, fromPayloads(converter, args)))));
    return { $case: "succeeded", value: wire(value) };
  } catch (e) {
    return { $case: "failed", value: encodeFailure(e, converter) };
  } finally {
    run.published.forgetTouched();
  }
}

function ask(run: NativeRun, name: string, args: unknown[]): unknown {
  const { queries } = run.definition;
  if (!Object.hasOwn(queries, name)) {
    const names = Object.keys(queries);
    throw new ApplicationFailure(
      `Unknown query "${name}"; workflow "${run.definition.name}" answers ${
        names.length === 0 ? "no queries" : names.join(", ")
      }`,
      { type: "UnknownQuery", nonRetryable: true },
    );
  }
  const answer = queries[name]!(run.published.view(run), ...args);
  if (typeof (answer as PromiseLike<unknown> | undefined)?.then === "function") {
    Promise.resolve(answer).catch(() => {});
    throw new MisuseError(`the handler of query "${name}" returned a promise; a query answers at once`);
  }
  return answer;
}
