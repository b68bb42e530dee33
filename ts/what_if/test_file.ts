// A branch as a test: a file that runs the branch on the history next to it with the user's
// workflows, and checks its outcome.
import type { Edit } from "./edits.ts";
import type { BranchResult } from "./branch.ts";
import {
  historyJson,
  readText,
  TEST_ENDINGS,
  type TestFileOptions,
  testText,
  type TextFile,
} from "../debug/take_away/test_file.ts";
import { stepsOf } from "./steps.ts";

/** Options of {@link branchTestFiles}. */
export interface BranchTestOptions extends Omit<TestFileOptions, "strict"> {
  readonly edits: readonly Edit[];
  /** The test expects the same outcome, and the same end with its value or failure. */
  readonly result: Pick<BranchResult, "outcome" | "events">;
}

/**
 * Returns the test and the recorded history. `history`: the history of the branch, as bytes of
 * temporal.api.history.v1.History.
 */
export function branchTestFiles(
  history: Uint8Array,
  {
    runner,
    name,
    workflows,
    edits,
    result,
    title = `what if: ${name}`,
    ending = TEST_ENDINGS[runner],
  }: BranchTestOptions,
): { readonly test: TextFile; readonly history: TextFile } {
  const historyName = `${name}.history.json`;
  const last = stepsOf(result.events).at(-1);
  const expected = { outcome: result.outcome.kind, last: last === undefined ? "" : lastText(last) };
  const test = testText({
    ...{ runner, title, workflows },
    imports: `import assert from "${ASSERT}";
import { readHistoryFile } from "temporalex/debug";
import { runBranch, stepsOf } from "temporalex/what-if";
`,
    before:
      `// What the branch changes of the recorded run; event IDs refer to the history next to this file.
const edits = ${literal(edits)};
// The expected outcome.
const expected = ${literal(expected)};

`,
    steps: `const { bytes } = await readHistoryFile(${readText(runner, historyName)});
    const { outcome, events } = await runBranch(bytes, { realm, edits });
    const { kind, what, name, text } = stepsOf(events).at(-1);
    assert.deepEqual({ outcome: outcome.kind, last: [kind, what, name, text].filter((part) => part !== "").join(" ") }, expected);`,
  });
  return {
    test: { name: `${name}${ending}`, text: test },
    history: { name: historyName, text: historyJson(history) },
  };
}

/** A name for the text of a test; this code does not depend on Node. */
const ASSERT = ["node", "assert/strict"].join(":");

const lastText = ({ kind, what, name, text }: ReturnType<typeof stepsOf>[number]): string =>
  [kind, what, name, text].filter((part) => part !== "").join(" ");

const literal = (value: unknown): string =>
  JSON.stringify(value, undefined, 2).replaceAll("\u2028", "\\u2028").replaceAll(
    "\u2029",
    "\\u2029",
  );
