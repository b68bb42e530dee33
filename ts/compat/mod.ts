// Exports for realms that run programs of `@temporalio/workflow`.
export {
  type AsyncStorage,
  asyncStorageContext,
  type ScopeContext,
  type ScopeFrame,
  SlotContext,
} from "./context.ts";
export { asksForFlags } from "./flags.ts";
export { type EvaluateModules, type Exports, workflowNames } from "./exports.ts";
export { CompatProgram, type CompatProgramOptions } from "./program.ts";
export { compatModules, sharedByRuns } from "./provided.ts";
export { versioningBehaviorOf } from "./workflow/definition.ts";
export { rehearse } from "./rehearsal.ts";
export { rewriteHelper } from "./rewritten.ts";
