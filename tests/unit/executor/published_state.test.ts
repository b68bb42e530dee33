// The published state is decoded once for all queries, and again only if a query has called
// functions of it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { defaultPayloadConverter, type Payload } from "../../../ts/converter/payload.ts";
import { PublishedState } from "../../../ts/executor/scheduler/published_state.ts";

test("a state that a query may have changed is decoded again for the next query, then cached again", () => {
  let decodings = 0;
  const converter = {
    toPayload: (value: unknown) => defaultPayloadConverter.toPayload(value),
    fromPayload(payload: Payload) {
      decodings++;
      return defaultPayloadConverter.fromPayload(payload);
    },
  };
  const state = new PublishedState();
  /** One query; returns what it sees. */
  const query = (touches = false) => {
    const seen = state.decoded(converter)?.value;
    if (touches) state.touch();
    state.forgetTouched();
    return seen;
  };
  assert.equal(query(), undefined);
  state.publish(converter, { n: 1 });
  assert.equal(query(), query());
  assert.equal(decodings, 1);
  const touched = query(true);
  const next = query();
  assert.notEqual(next, touched);
  assert.deepEqual(next, { n: 1 });
  assert.equal(query(), next);
  assert.equal(decodings, 2);
  state.publish(converter, { n: 2 });
  assert.deepEqual([query(), decodings], [{ n: 2 }, 3]);
});
