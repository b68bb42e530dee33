// The published state of a run. It is encoded at the call; queries see the decoded value, and never
// affect the run.
import { namingWhat } from "../../converter/lossy_value.ts";
import type { Payload, PayloadConverter } from "../../converter/payload.ts";

export class PublishedState {
  #payload: Payload | undefined;
  #decoded: { value: unknown } | undefined;
  #touched = false;

  /** `what` names the value in errors. */
  publish(converter: PayloadConverter, value: unknown, what = "the published state"): void {
    this.#payload = namingWhat(what, () => converter.toPayload(value));
    this.#decoded = undefined;
  }

  /** The last published state, encoded; undefined before the first. */
  get payload(): Payload | undefined {
    return this.#payload;
  }

  /** The last published state, decoded once for all queries; undefined before the first. */
  decoded(converter: PayloadConverter): { readonly value: unknown } | undefined {
    if (this.#payload !== undefined) {
      this.#decoded ??= { value: converter.fromPayload(this.#payload) };
    }
    return this.#decoded;
  }

  /** Records that a query has called functions of the decoded state, which may have changed it. */
  touch(): void {
    this.#touched = true;
  }

  /** Discards the decoded state if a query has touched it. */
  forgetTouched(): void {
    if (this.#touched) this.#decoded = undefined;
    this.#touched = false;
  }
}
