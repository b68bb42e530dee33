// Recently completed updates with their results, by id. They pass to the next run on
// continue-as-new. A server that loses a request while its run closes sends it again to the next
// run (temporalio/temporal#6375), as does a client after a lost connection. The next run responds
// with the same result, without its handler.
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  type Failure,
  FailureSchema,
} from "../../messages/generated/temporal/api/failure/v1/message_pb.ts";
import type { WirePayload } from "../program/encode.ts";
import {
  ANSWERED_UPDATES_HEADER,
  fromText,
  HEADER_LIMIT,
  headerBytes,
  jsonHeader,
  type PayloadText,
  toBase64,
  toText,
} from "./next_run_headers.ts";
import { LazyMap } from "./lazy_map.ts";

/** Default number of kept updates, the latest. */
export const ANSWERED_COUNT = 32;
/** Default limit of kept results, in bytes; a larger one is not kept. */
export const ANSWERED_LIMIT = HEADER_LIMIT / 8;

/** The caller's result: a value, or an encoded Failure. */
export type Answer = { readonly value: WirePayload } | { readonly failure: Uint8Array };

interface AnswerText {
  readonly id: string;
  readonly value?: PayloadText;
  readonly failure?: string;
}

export class AnsweredUpdates {
  /**
   * Oldest first. Limited by count and size, not time, which depends on the grouping into tasks
   * (P9).
   */
  readonly #answers = new LazyMap<string, Answer>();
  #bytes = 0;
  readonly #count: number;
  readonly #limit: number;

  /** `count`: `rememberUpdates` of the definition. */
  constructor(count?: number) {
    this.#count = count ?? ANSWERED_COUNT;
    this.#limit = count === undefined ? ANSWERED_LIMIT : HEADER_LIMIT;
  }

  get(updateId: string): Answer | undefined {
    return this.#answers.get(updateId);
  }

  add(updateId: string, given: Answer): void {
    this.#drop(updateId);
    const answer = "value" in given ? given : { failure: withoutStacks(given.failure) };
    const bytes = sizeOf(updateId, answer);
    if (bytes > this.#limit) return;
    this.#answers.set(updateId, answer);
    this.#bytes += bytes;
    while (this.#answers.size > this.#count || this.#bytes > this.#limit) {
      this.#drop(this.#answers.keys().next().value!);
    }
  }

  #drop(updateId: string): void {
    const known = this.#answers.get(updateId);
    if (known === undefined) return;
    this.#answers.delete(updateId);
    this.#bytes -= sizeOf(updateId, known);
  }

  /** The header for the next run; {} without results. */
  header(): { [key: string]: WirePayload } {
    if (this.#answers.size === 0) return {};
    const answers: AnswerText[] = [...this.#answers].map(([id, answer]) =>
      "value" in answer
        ? { id, value: toText(answer.value) }
        : { id, failure: toBase64(answer.failure) }
    );
    return jsonHeader.write(ANSWERED_UPDATES_HEADER, answers);
  }

  /** Restores the results of the previous run. */
  restore(headers: { readonly [key: string]: WirePayload }): void {
    jsonHeader.read<AnswerText[]>(headers, ANSWERED_UPDATES_HEADER, (answers) => {
      for (const { id, value, failure } of answers) {
        this.add(
          id,
          value === undefined ? { failure: headerBytes(failure!) } : { value: fromText(value) },
        );
      }
    });
  }
}

/**
 * A stack has frames of the host, which replay does not reproduce (P3), and is most of a failure's
 * size.
 */
function withoutStacks(bytes: Uint8Array): Uint8Array {
  const failure = fromBinary(FailureSchema, bytes);
  for (let part: Failure | undefined = failure; part !== undefined; part = part.cause) {
    part.stackTrace = "";
  }
  return toBinary(FailureSchema, failure);
}

function sizeOf(updateId: string, answer: Answer): number {
  const bytes = updateId.length + ("value" in answer ? answer.value.data : answer.failure).length;
  if (!("value" in answer)) return bytes;
  return Object.entries(answer.value.metadata).reduce(
    (sum, [key, value]) => sum + key.length + value.length,
    bytes,
  );
}
