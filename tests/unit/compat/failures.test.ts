// The failure converter that programs extend.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  ApplicationFailure,
  DefaultFailureConverter,
  defaultPayloadConverter,
} from "../../../ts/compat/common/mod.ts";

interface Shown {
  readonly message: string;
  readonly cause?: Shown;
}

/** The messages of a failure and its causes. */
function messages(failure: Shown | null | undefined): string[] {
  return failure ? [failure.message, ...messages(failure.cause)] : [];
}

const CIRCULAR = "circular cause: this error is already above in the chain";

test("cyclic causes end at the repetition, also with encoded attributes", () => {
  const first = ApplicationFailure.create({ message: "first", type: "T" });
  const second = new Error("second", { cause: first });
  Object.defineProperty(first, "cause", { value: second });
  const failure = new DefaultFailureConverter().errorToFailure(
    first,
    defaultPayloadConverter,
  ) as unknown as Shown;
  assert.deepEqual(messages(failure), ["first", "second", CIRCULAR]);
  // The next conversion knows nothing of the last one.
  assert.deepEqual(
    messages(
      new DefaultFailureConverter().errorToFailure(
        second,
        defaultPayloadConverter,
      ) as unknown as Shown,
    ),
    ["second", "first", CIRCULAR],
  );
  const encoded = new DefaultFailureConverter({ encodeCommonAttributes: true }).errorToFailure(
    first,
    defaultPayloadConverter,
  );
  assert.deepEqual(messages(encoded as unknown as Shown), [
    "Encoded failure",
    "Encoded failure",
    "Encoded failure",
  ]);
});

test("a very long chain of causes is truncated", () => {
  let error = new Error("0");
  for (let i = 1; i <= 5000; i++) error = new Error(String(i), { cause: error });
  const found = messages(
    new DefaultFailureConverter().errorToFailure(
      error,
      defaultPayloadConverter,
    ) as unknown as Shown,
  );
  assert.ok(found.length < 100, String(found.length));
  assert.equal(found.at(-1), "further causes were left out");
});

test("details that cannot be converted do not affect the next conversion", () => {
  const bad = ApplicationFailure.create({ message: "bad", details: [() => {}] });
  const converter = new DefaultFailureConverter();
  for (let i = 0; i < 2; i++) {
    assert.throws(
      () => converter.errorToFailure(bad, defaultPayloadConverter),
      /Unable to convert/,
    );
  }
});
