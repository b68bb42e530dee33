// The verdicts of tests/unit/compat/verdicts.test.ts in realms with their guard, as a worker has
// them. A realm takes a while to start, so of each case only the program that recorded it;
// `run-official.mjs --adapter dist/tests/unit/compat/adapter.js` of the corpus judges all rows.
// takes: 8 s
// runtime: node (long; shorter files of this room run in each runtime)
import assert from "node:assert/strict";
import { test } from "node:test";
import { caseNames, corpusRoot, NO_CASES } from "../compat/support/corpus.ts";
import { differences } from "../compat/support/replay.ts";

const root = corpusRoot();
const skip = root === undefined
  ? "the corpus ../shared/fixtures/compat is not next to this checkout"
  : false;

for (const name of root === undefined ? [NO_CASES] : caseNames(root)) {
  test(`official verdicts in a realm: ${name}`, { skip }, async () => {
    assert.deepEqual(
      await differences(
        root!,
        name,
        ({ variant }) => variant === "base",
        "asyncLocalStorage",
        "realm",
      ),
      [],
    );
  });
}
