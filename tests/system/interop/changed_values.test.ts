// runtime: node
// takes: 20 s
// The official replayer accepts code with changed values; the option `values` of our
// `Worker.runReplayHistories` reports them. Both replay the same histories with the same programs.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import * as ours from "../../../ts/compat/worker/mod.ts";
import { temporal } from "../../../ts/compat/proto/mod.ts";
import { recordEditHistories } from "../../unit/debug/recorded_edits.ts";
import { EDITS, PROGRAM } from "../../unit/debug/value_edits.ts";
import { noOfficial, officialVerdict, quietWorkerPackage, root } from "./support/official.ts";

const folder = mkdtempSync(join(tmpdir(), "temporalex-changed-values-"));
after(() => rmSync(folder, { recursive: true, force: true }));

/** An edit of each kind, by its replacement. */
const KINDS: readonly string[] = [
  "cents: 1300",
  '"to", "from"',
  '"30 hours"',
  'startToCloseTimeout: "20s"',
  "seats: 4",
  '"hi", 8',
  '"sent"',
  "CustomIntField: [5]",
  "total: 2",
  '"all gone"',
  '"eve"',
];
const edits = EDITS.filter(({ to }) => KINDS.includes(to));

test("the official replayer accepts changed values that ours reports", {
  skip: noOfficial,
}, async () => {
  assert.ok(edits.length >= 10, String(edits.length));
  symlinkSync(join(root, "tests/system/interop/node_modules"), join(folder, "node_modules"));
  const histories = await recordEditHistories();
  const { bundleWorkflowCode, DefaultLogger } = quietWorkerPackage();
  ours.Runtime.install({ logger: new ours.DefaultLogger("ERROR") });
  const verdicts = async (text: string, workflow: string) => {
    const workflowsPath = join(folder, "program.mjs");
    writeFileSync(workflowsPath, text);
    const bundle = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger("ERROR") });
    const history = histories[workflow]!;
    const given = [{
      workflowId: workflow,
      history: temporal.api.history.v1.History.decode(history),
    }];
    const options = { workflowsPath, values: "warn" } as const;
    for await (const { error, changedValues } of ours.Worker.runReplayHistories(options, given)) {
      return {
        theirs: await officialVerdict(bundle, history, workflow),
        error,
        changes: changedValues!.flatMap(({ differences }) =>
          differences.map(({ path, history, code }) => `${path}: ${history} -> ${code}`)
        ),
      };
    }
    throw new Error("no replay");
  };
  for (const { workflow, from, to, changes } of edits) {
    const found = await verdicts(PROGRAM.replace(from, to), workflow);
    assert.deepEqual(found, { theirs: "ok", error: undefined, changes }, to);
  }
  // The official replayer does replay: a changed command is rejected.
  const other = await verdicts(PROGRAM.replace("acts.charge(", "acts.bill("), "Order");
  assert.match(other.theirs, /Nondeterminism/);
});
