// The state that a run has published. It is kept as it was at the call, encoded; queries see what it
// decodes to, and never touch the run.
import { namingWhat } from "../../converter/lossy_value.ts";
import type { Payload, PayloadConverter } from "../../converter/payload.ts";

export class PublishedState {
  #payload: Payload | undefined;
  #decoded: { value: unknown } | undefined;
  #touched = false;

  /** `what`: what an error about the value calls it. */
  publish(converter: PayloadConverter, value: unknown, what = "the published state"): void {
    this.#payload = namingWhat(what, () => converter.toPayload(value));
    this.#decoded = undefined;
  }

  /** The last published state as it was written; undefined before the first. */
  get payload(): Payload | undefined {
    return this.#payload;
  }

  /** The last published state, decoded once for all queries; undefined before the first. */
  decoded(converter: PayloadConverter): { readonly value: unknown } | undefined {
    if (this.#payload !== undefined) this.#decoded ??= { value: converter.fromPayload(this.#payload) };
    return this.#decoded;
  }

  /** A query has called functions of the decoded state, which may have changed it. */
  touch(): void {
    this.#touched = true;
  }

  /** The next query gets another decoded state where one has touched this. */
  forgetTouched(): void {
    if (this.#touched) this.#decoded = undefined;
    this.#touched = false;
  }
}
