// runtime: node
// takes: 10 s
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
import { noOfficial, officialVerdicts, quietWorkerPackage, root } from "./support/official.ts";

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
  const workflowsPath = join(folder, "program.mjs");
  const given = ["Order", "Failing", "Renewal"].map((workflowId) => ({
    workflowId,
    history: histories[workflowId]!,
  }));
  const verdicts = async (text: string) => {
    writeFileSync(workflowsPath, text);
    const bundle = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger("ERROR") });
    const theirs = await officialVerdicts(
      bundle,
      given.map(({ workflowId, history }) => [workflowId, history]),
    );
    const changes: { [workflow: string]: readonly string[] } = {};
    const options = { workflowsPath, values: "warn" } as const;
    const decoded = given.map(({ workflowId, history }) => ({
      workflowId,
      history: temporal.api.history.v1.History.decode(history),
    }));
    const replays = ours.Worker.runReplayHistories(options, decoded);
    for await (const { workflowId, error, changedValues = [] } of replays) {
      changes[workflowId] = error !== undefined ? [String(error)] : changedValues
        .flatMap(({ differences }) =>
          differences.map(({ path, history, code }) => `${path}: ${history} -> ${code}`)
        ).sort();
    }
    return { theirs, changes };
  };
  // All edits at once: none is in the way of another, and each of them would be enough for a
  // rejection.
  const edited = edits.reduce((text, { from, to }) => {
    assert.ok(text.includes(from), from);
    return text.replace(from, to);
  }, PROGRAM);
  const expected = Object.fromEntries(given.map(({ workflowId }) => {
    const of = edits.filter(({ workflow }) => workflow === workflowId);
    assert.ok(of.length > 0, workflowId);
    return [workflowId, of.flatMap(({ changes }) => changes).sort()];
  }));
  const found = await verdicts(edited);
  assert.deepEqual(found, { theirs: given.map(() => "ok"), changes: expected });
  // The official replayer does replay: a changed command is rejected.
  const other = await verdicts(PROGRAM.replace("acts.charge(", "acts.bill("));
  assert.match(other.theirs[0]!, /Nondeterminism/);
});
