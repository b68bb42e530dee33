// A program written for `@temporalio/workflow`, as the executor runs it (executor/program/program.ts). One program per entry module; each run
// gets fresh instances of the modules.
import { JobOrder } from "../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { Activator, Program, RunContext } from "../executor/program/program.ts";
import { CompatActivator } from "./activator.ts";
import * as common from "./common/mod.ts";
import { type AsyncStorage, asyncStorageContext, type ScopeContext, SlotContext } from "./context.ts";
import { KNOWN_FLAGS, USED_FLAGS } from "./flags.ts";
import { compatGlobals } from "./globals.ts";
import { type CompileFunction, ModuleGraph, type ModuleSource } from "./loader/module_graph.ts";
import { COMPAT_SDK_NAME } from "./sdk_name.ts";
import * as workflow from "./workflow/mod.ts";

export interface CompatProgramOptions {
  /** The module whose exports are the workflows, by their names. */
  entry: string;
  source: ModuleSource;
  /** Given: the context follows async functions by it. Absent: modules are rewritten, which works everywhere. */
  asyncStorage?: AsyncStorage;
  /** Absent: the host's eval. */
  compile?: CompileFunction;
}

export class CompatProgram implements Program {
  readonly jobOrder = JobOrder.JOB_ORDER_COMPAT;
  /**
   * Not the native programs' name: the core chooses Core's rule of task boundaries by it
   * (docs/dev/semantics/history.md#one-boundary-rule-per-run).
   */
  readonly sdkName = COMPAT_SDK_NAME;
  readonly knownLangFlags = KNOWN_FLAGS;
  readonly usedLangFlags = USED_FLAGS;
  #modules: ModuleGraph;
  #scopes: ScopeContext;

  private constructor(modules: ModuleGraph, scopes: ScopeContext) {
    this.#modules = modules;
    this.#scopes = scopes;
  }

  /** Loads and compiles the modules; nothing of them is evaluated before a run starts. */
  static async load(options: CompatProgramOptions): Promise<CompatProgram> {
    const slot = options.asyncStorage === undefined ? new SlotContext() : undefined;
    const modules = await ModuleGraph.load(options.entry, options.source, {
      packages: { "@temporalio/workflow": workflow, "@temporalio/common": common },
      globals: compatGlobals(),
      ...(slot === undefined ? {} : { slot }),
      ...(options.compile === undefined ? {} : { compile: options.compile }),
    });
    return new CompatProgram(modules, slot ?? asyncStorageContext(options.asyncStorage!));
  }

  createActivator(context: RunContext): Activator {
    return new CompatActivator(context, { modules: this.#modules, scopes: this.#scopes });
  }
}
