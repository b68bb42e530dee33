// Programs for `@temporalio/workflow` in the executor (executor/program/program.ts). One program
// for all workflows of a realm, because the official worker looks up the workflow's function in the
// exports after the modules are evaluated for the run.
import { JobOrder } from "../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { Activator, Program, RunContext } from "../executor/program/program.ts";
import { CompatActivator } from "./activator.ts";
import type { ScopeContext } from "./context.ts";
import type { EvaluateModules } from "./exports.ts";
import { KNOWN_FLAGS, USED_FLAGS } from "./flags.ts";
import type { RewriteHelper } from "./rewritten.ts";
import { COMPAT_SDK_NAME } from "./sdk_name.ts";

export interface CompatProgramOptions {
  readonly modules: EvaluateModules;
  readonly scopes: ScopeContext;
  readonly helper: RewriteHelper;
  /** True if its modules request flags by name, so that all of them are recorded. */
  readonly asksForFlags?: boolean;
}

export class CompatProgram implements Program {
  readonly jobOrder = JobOrder.JOB_ORDER_COMPAT;
  /**
   * Differs from the name of native programs: it selects the core's rule of task boundaries
   * (docs/dev/semantics/history.md#one-boundary-rule-per-run).
   */
  readonly sdkName = COMPAT_SDK_NAME;
  readonly knownLangFlags = KNOWN_FLAGS;
  readonly usedLangFlags: readonly number[];
  readonly throwsUnregisteredLocal = true;
  readonly #options: CompatProgramOptions;

  constructor(options: CompatProgramOptions) {
    this.#options = options;
    this.usedLangFlags = options.asksForFlags === true ? KNOWN_FLAGS : USED_FLAGS;
  }

  createActivator(context: RunContext): Activator {
    return new CompatActivator(context, this.#options);
  }
}
