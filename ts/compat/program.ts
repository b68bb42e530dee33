// Programs written for `@temporalio/workflow`, as the executor runs them (executor/program/program.ts). One program for all workflows of a realm:
// the official worker looks for the workflow's function among what the modules export, when they have been evaluated for the run.
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
  /** Its modules ask for flags by name, so all of them are recorded. */
  readonly asksForFlags?: boolean;
}

export class CompatProgram implements Program {
  readonly jobOrder = JobOrder.JOB_ORDER_COMPAT;
  /**
   * Not the native programs' name: the core chooses Core's rule of task boundaries by it
   * (docs/dev/semantics/history.md#one-boundary-rule-per-run).
   */
  readonly sdkName = COMPAT_SDK_NAME;
  readonly knownLangFlags = KNOWN_FLAGS;
  readonly usedLangFlags: readonly number[];
  readonly #options: CompatProgramOptions;

  constructor(options: CompatProgramOptions) {
    this.#options = options;
    this.usedLangFlags = options.asksForFlags === true ? KNOWN_FLAGS : USED_FLAGS;
  }

  createActivator(context: RunContext): Activator {
    return new CompatActivator(context, this.#options);
  }
}
