// `temporalex debug` ends before its first worker has started.
// process: own (the code that starts workers is not loaded)
import { test } from "node:test";
import { Verdicts } from "../../../ts/cli/commands/debug/verdicts.ts";

test("an end before the first worker has started leaves no rejection", async () => {
  await new Verdicts({ workflows: [], interceptors: [] }, () => {}).close();
  // A rejection without a listener is reported after the turn, and fails the test.
  await new Promise((resolve) => setImmediate(resolve));
});
