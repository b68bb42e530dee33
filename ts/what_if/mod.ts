// What-if branches: a recorded run continues with edits in an embedded engine with virtual time.
// Real runs are not affected.
import { inlineEngine } from "../core/inline_engine.ts";
import { type BranchOptions, type BranchResult, runBranch as run } from "./branch.ts";

const withStore = (history: Uint8Array, options: BranchOptions): Promise<BranchResult> =>
  run(history, options, async () => (await import("../engine/sqlite/in_memory.ts")).openInMemory());

/**
 * Runs a branch of a recorded run. `history`: bytes of temporal.api.history.v1.History with decoded
 * payloads (see readHistoryFile). Rejects with an EditError for edits that do not match the
 * history.
 */
export const runBranch: typeof withStore = /* @__PURE__ */ inlineEngine(withStore);
export type { BranchOptions, BranchOutcome, BranchResult, UpdateAnswer } from "./branch.ts";
export { type ComparedStep, compareRuns, type Comparison } from "./compare.ts";
export {
  type Edit,
  EditError,
  type End,
  type FailureToTell,
  type Message,
  type Question,
  type Values,
} from "./edits.ts";
export { type ResetAdvice, resetAdvice } from "./reset.ts";
export { type Step, type StepKind, stepsOf } from "./steps.ts";
export type { BranchTables } from "./tables.ts";
export { branchTestFiles, type BranchTestOptions } from "./test_file.ts";
export type { TaskRealm } from "./workflow_tasks.ts";
export { type BranchNode, BranchTree } from "./tree.ts";
