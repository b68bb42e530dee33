// Functions of temporalex/debug that take bytes of a history reject damaged bytes with their own
// errors, never with those of the decoder.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  HistoryFileError,
  historyJson,
  minimize,
  NoProblemError,
  openRun,
  redact,
  testFiles,
} from "../../../ts/debug/mod.ts";
import type { ReplayingRealm } from "../../../ts/debug/mod.ts";
import { plantedHistory } from "./planted.ts";

const INPUTS = 2000;

/** Replays everything: bytes that can be decoded have no divergence. */
const realm = {
  replay: () => Promise.resolve({ verdict: "ok", activations: 0, warnings: [] }),
} as unknown as ReplayingRealm;

/** Numbers from 0 to 1, the same in each run. */
function numbersFrom(seed: number): () => number {
  let state = seed;
  return () => (state = Math.imul(state, 1664525) + 1013904223 >>> 0) / 2 ** 32;
}

/**
 * The first events of a history with all kinds of events, cut off or with up to three bytes
 * changed.
 */
function damagedCopy(bytes: Uint8Array, next: () => number): Uint8Array {
  if (next() < 0.4) return bytes.slice(0, Math.floor(next() * bytes.length));
  const copy = bytes.slice();
  for (let i = 0; i <= next() * 3; i++) {
    copy[Math.floor(next() * copy.length)]! ^= 1 << Math.floor(next() * 8);
  }
  return copy;
}

const functions: { readonly [name: string]: (bytes: Uint8Array) => unknown } = {
  historyJson,
  testFiles: (bytes) => testFiles(bytes, { runner: "node", name: "h", workflows: "../w.ts" }),
  redact: (bytes) => redact(bytes, { numbers: true }),
  minimize: (bytes) => minimize(bytes, { realm }),
  openRun: (bytes) => openRun(bytes),
};

test("2,000 damaged histories are read or rejected with a HistoryFileError", async () => {
  const { bytes: whole } = plantedHistory();
  const bytes = whole.subarray(0, 6000);
  const next = numbersFrom(20_261_128);
  const names = Object.keys(functions);
  let rejected = 0;
  for (let i = 0; i < INPUTS; i++) {
    const name = names[i % names.length]!;
    const damaged = damagedCopy(i % 2 === 0 ? bytes : whole.subarray(0, 6000 + i), next);
    try {
      await functions[name]!(damaged);
    } catch (e) {
      if (e instanceof NoProblemError) continue;
      assert.ok(e instanceof HistoryFileError, `${name}, input ${i}: ${(e as Error).stack}`);
      rejected++;
    }
  }
  assert.ok(rejected > INPUTS / 4, `${rejected} rejected`);
});

test("the error names the damaged event and field", async () => {
  // A first event with the id 1, and a second one that is cut off within its id.
  const bytes = Uint8Array.of(0x0a, 2, 0x08, 1, 0x0a, 2, 0x08, 0x80);
  const expected = {
    name: "HistoryFileError",
    message: /^the history cannot be decoded: events\[1\]: /,
  };
  assert.throws(() => historyJson(bytes), expected);
  assert.throws(
    () => testFiles(bytes, { runner: "node", name: "h", workflows: "../w.ts" }),
    expected,
  );
  await assert.rejects(redact(bytes), expected);
  await assert.rejects(minimize(bytes, { realm }), expected);
  // The workflow type of the started event is cut off within its name.
  const nested = Uint8Array.of(0x0a, 7, 0x08, 1, 0x32, 3, 0x0a, 1, 0x0a);
  assert.throws(() => historyJson(nested), {
    name: "HistoryFileError",
    message:
      /^the history cannot be decoded: events\[0\]\.workflowExecutionStartedEventAttributes\.workflowType: ./,
  });
  // The length of the second event is more than there is.
  assert.throws(
    () => historyJson(bytes.subarray(0, 7)),
    /the history cannot be decoded: after 1 event: /,
  );
  // A time whose nanoseconds have no JSON form.
  const time = Uint8Array.of(0x0a, 10, 0x08, 1, 0x12, 6, 0x10, 0xff, 0xff, 0xff, 0xff, 0x7f);
  assert.throws(() => historyJson(time), {
    name: "HistoryFileError",
    message: /^events\[0\] \(eventId 1\) has an invalid value: /,
  });
});
