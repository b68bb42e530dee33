// What if: branches of a recorded run, run on in an embedded engine with virtual time. Nothing of them reaches a real run.
import { inlineEngine } from "../core/inline_engine.ts";
import { runBranch as run } from "./branch.ts";

/** Runs a branch of a recorded run. */
export const runBranch: typeof run = /* @__PURE__ */ inlineEngine(run);
export type { BranchOptions, BranchOutcome, BranchResult, UpdateAnswer } from "./branch.ts";
export { type ComparedStep, compareRuns, type Comparison } from "./compare.ts";
export { type Edit, EditError, type End, type FailureToTell, type Message, type Question, type Values } from "./edits.ts";
export { type ResetAdvice, resetAdvice } from "./reset.ts";
export { type Step, type StepKind, stepsOf } from "./steps.ts";
export { branchTestFiles, type BranchTestOptions } from "./test_file.ts";
export type { TaskRealm } from "./workflow_tasks.ts";
export { type BranchNode, BranchTree } from "./tree.ts";
