// One mutant against the tests that run the place which it changed.
import { covers } from "./coverage.mjs";
import { runTestFile } from "./test_file.mjs";

/** A suite of the room's own is the likeliest to notice. */
const OWN = 3;
/** A test file has three times what it takes alone, and this. */
const PATIENCE_MS = 15_000;

/**
 * Returns the outcome: "killed" by which test, "timeout", or "survived" (`left`: so many test files
 * were not run, because the budget was used up; it is measured by their times alone).
 */
export async function judge(mutant, { workspace, suites, results, budgetMs }) {
  const { file, start, end, text, code } = mutant;
  const kills = new Map();
  for (const { by } of Object.values(results)) {
    if (by !== undefined) kills.set(by, (kills.get(by) ?? 0) + 1);
  }
  const passing = suites.filter(([, record]) => record.outcome === "passed");
  let tests = passing.filter(([, record]) => covers(record, file, start));
  // Threads that are terminated leave no coverage: what loads the file may run the place.
  if (tests.length === 0) tests = passing.filter(([, record]) => record.files[file] !== undefined);
  const room = file.split("/")[1];
  const isOwn = (test) =>
    test.startsWith(`tests/unit/${room}/`) || (room === "executor" && test.includes("#"));
  const worth = ([test, record]) =>
    (isOwn(test) ? OWN : 1) * (1 + (kills.get(test) ?? 0)) / (1000 + record.ms);
  tests.sort((a, b) => worth(b) - worth(a));
  const began = performance.now();
  const answer = (outcome, more) => ({
    outcome,
    ms: Math.round(performance.now() - began),
    ...more,
  });
  workspace.put(file, code.slice(0, start) + text + code.slice(end));
  try {
    let files = 0;
    let spentMs = 0;
    for (const [test, record] of tests) {
      if (files > 0 && spentMs + record.ms > budgetMs) continue;
      files++;
      spentMs += record.ms;
      const timeoutMs = 3 * record.ms + PATIENCE_MS;
      let run = await runTestFile(workspace.folder, test, { timeoutMs });
      // The machine may have been busy with something else: what hangs, hangs again.
      if (run.outcome === "timeout") {
        run = await runTestFile(workspace.folder, test, { timeoutMs: 2 * timeoutMs });
      }
      if (run.outcome === "timeout") return answer("timeout", { by: test, files });
      if (run.outcome === "failed") {
        return answer("killed", { by: test, failure: run.failure, files });
      }
    }
    return answer("survived", { files, left: tests.length - files });
  } finally {
    workspace.restore(file);
  }
}
