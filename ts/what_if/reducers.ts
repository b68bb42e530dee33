// The reducers of a branch. Without tables their results come from the recorded calls of the same
// reducer with the same arguments, otherwise from the user: the effect of other arguments on
// unavailable tables is unknown. With tables, reducers are executed.
import { toBinary } from "@bufbuild/protobuf";
import {
  type Payloads,
  PayloadSchema,
} from "../messages/generated/temporal/api/common/v1/message_pb.ts";
import { FailureSchema } from "../messages/generated/temporal/api/failure/v1/message_pb.ts";
import {
  TransactMarker,
  type TransactResult,
} from "../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { PayloadConverter } from "../converter/payload.ts";
import type { ReducerRunner } from "../engine/reducing.ts";
import { decodeLeniently } from "./activities.ts";
import type { Answers } from "./answers.ts";
import { inputKey } from "./recorded.ts";
import { calledBy } from "./transact_marker.ts";

const NO_BYTES = new Uint8Array(0);

/** Returns known results of reducers to the engine of a branch. */
export class AnsweredReducers implements ReducerRunner {
  readonly #results = new Map<number, TransactResult>();

  /**
   * Looks up the result of a reducer before its task completes. Returns why the task cannot
   * complete: the result is unknown, or the failure of the reducer fails the task; undefined if it
   * can.
   */
  prepare(
    details: { readonly [name: string]: Payloads },
    answers: Answers,
    converter: PayloadConverter,
  ): "asks" | { readonly fails: string } | undefined {
    const call = calledBy(details, { kind: "never" });
    if (call === undefined) return { fails: "a transact that cannot be read" };
    const { seq, reducer, args, recordsErrors, awaited } = call;
    const asked = {
      of: "transact",
      type: reducer,
      input: inputKey(args),
      eventId: 0,
      args: decodeLeniently(converter, args?.payloads),
    } as const;
    const end = answers.ofReducer(asked, awaited);
    if (end === undefined) return "asks";
    if (end.kind === "failed") {
      if (!recordsErrors) {
        return {
          fails: `reducer "${reducer}" fails the workflow task: ${end.failure?.message ?? ""}`,
        };
      }
      const failure = end.failure === undefined ? NO_BYTES : toBinary(FailureSchema, end.failure);
      this.#results.set(seq, { result: NO_BYTES, failure, awaited: true });
      return undefined;
    }
    const [payload] = end.kind === "completed" ? end.result?.payloads ?? [] : [];
    const result = payload === undefined ? NO_BYTES : toBinary(PayloadSchema, payload);
    this.#results.set(seq, { result, failure: NO_BYTES, awaited });
    return undefined;
  }

  run(...[tasks, engine]: Parameters<ReducerRunner["run"]>): undefined {
    for (const { requestId, calls } of tasks) {
      const results = calls.map(({ marker }) => this.#results.get(seqOf(marker))!);
      engine.transacted({ requestId, results, failure: NO_BYTES });
    }
  }
}

function seqOf(marker: Uint8Array): number {
  const [payload] = TransactMarker.decode(marker).details["id"]?.payloads ?? [];
  return payload === undefined ? 0 : Number(JSON.parse(new TextDecoder().decode(payload.data)));
}
