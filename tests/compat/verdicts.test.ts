// Programs written for the official SDK, replayed from histories that it recorded, with changed variants and cut histories: each verdict
// must be the one that the official replayer gave, and for nondeterminism its wording too. Once with AsyncLocalStorage, once with the
// rewriting loader.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { corpusRoot, historyOf, loadCase, loadRows, normalized } from "./support/corpus.ts";
import { type Mechanism, replay } from "./support/replay.ts";

/** The cases whose programs need nothing that is not built yet. */
const CASES = [
  "f-activity-basic",
  "f-activity-cancel-try-cancel",
  "f-activity-cancel-wait-failOnCancel",
  "f-activity-cancel-wait-waitForCancel",
  "f-can-signals-block",
  "f-child-cancel-try_cancel",
  "f-child-cancel-wait_cancellation_completed-swallow",
  "f-child-failures",
  "f-child-signal",
  "f-dc-binary",
  "f-dc-failure",
  "f-eager-non-remote",
  "f-la-cancel-try_cancel",
  "f-la-laBackoffTimer",
  "f-la-laMixed",
  "f-la-laOneSuccessOneFail",
  "f-la-laSerial",
  "f-query-unexpected",
  "f-search-attributes",
  "f-signal-basic",
  "f-signal-workflow-to-workflow",
  "f-update-async-accepted",
  "f-update-basic-async",
  "f-update-self",
  "m-activity-timeouts",
  "m-can-options",
  "m-details",
  "m-failures-afterTimer",
  "m-failures-cause",
  "m-failures-nextDelay",
  "m-failures-retryable",
  "m-fanout",
  "m-info",
  "m-mutex",
  "m-nocache-fanout",
  "m-nocache-updates",
  "m-patch",
  "m-payloads",
  "m-reset",
  "m-timers",
  "m-update-before-main",
  "m-update-unfinished",
  "m-wft-failure",
];

const root = corpusRoot();
const skip = root === undefined ? "the corpus ../shared/fixtures/compat is not beside this checkout" : false;
const rows = root === undefined ? [] : loadRows(root);

for (const mechanism of ["asyncLocalStorage", "rewritten"] satisfies Mechanism[]) {
  for (const name of CASES) {
    test(`official verdicts, ${mechanism}: ${name}`, { skip }, async () => {
      const found = loadCase(root!, name);
      const expected = rows.filter((row) => row.case === name);
      assert.ok(expected.length > 0);
      const differences: string[] = [];
      for (const row of expected) {
        const history = historyOf(root!, found, row);
        const { workflowId } = history.events[0].workflowExecutionStartedEventAttributes;
        const file = join(root!, "workflows", found.variants[row.variant]!.file);
        const { verdict, message } = await replay(file, mechanism, workflowId || `replay-${row.history}`, history);
        const same = verdict === row.verdict && (verdict !== "NONDETERMINISM" || normalized(message) === row.reason);
        const where = `${row.history}${row.cutAt === undefined ? "" : `#${row.cutAt}`} with ${row.variant}`;
        if (!same) differences.push(`${where}: expected ${row.verdict} ${row.reason ?? ""}, got ${verdict} ${message}`);
      }
      assert.deepEqual(differences, []);
    });
  }
}
