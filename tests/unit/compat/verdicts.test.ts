// Programs written for the official SDK, replayed from histories that it recorded, with changed
// variants and cut histories: each verdict must be the one that the official replayer gave, and for
// nondeterminism its wording too. Once with AsyncLocalStorage, once with the rewriting loader.
// takes: 4 s
import assert from "node:assert/strict";
import { test } from "node:test";
import { caseNames, corpusRoot, NO_CASES } from "./support/corpus.ts";
import { differences, type Mechanism } from "./support/replay.ts";

const root = corpusRoot();
const skip = root === undefined
  ? "the corpus ../shared/fixtures/compat is not next to this checkout"
  : false;
for (const mechanism of ["asyncLocalStorage", "rewritten"] satisfies Mechanism[]) {
  for (const name of root === undefined ? [NO_CASES] : caseNames(root)) {
    test(`official verdicts, ${mechanism}: ${name}`, { skip }, async () => {
      assert.deepEqual(await differences(root!, name, () => true, mechanism, "thread"), []);
    });
  }
}
