// `@temporalio/workflow` programs in a realm. A separate module, because realms without such
// programs do not load it.
import {
  asksForFlags,
  compatModules,
  CompatProgram,
  rehearse,
  rewriteHelper,
  sharedByRuns,
  workflowNames,
} from "../compat/mod.ts";
import { versioningBehaviorOf as behaviorOf } from "../compat/mod.ts";
import type { VersioningBehavior } from "../executor/program/definition.ts";
import {
  asyncStorageContext,
  type CompatProgramOptions,
  type Exports,
  type ScopeFrame,
  SlotContext,
} from "../compat/mod.ts";
import { convertFailuresBy, type CustomFailures } from "../compat/common/failure_converter.ts";
import type { PayloadConverter } from "../converter/payload.ts";
import { asyncStorage } from "../platform/async_context.ts";
import type {
  EvaluableGraph,
  EvaluationListener,
  ProvidedModule,
} from "../modules/loader/evaluate.ts";
import type { Provided } from "../modules/loader/resolve.ts";
import { sameNameMessage } from "../executor/run/native_program.ts";
import { displayName } from "../modules/loader/errors.ts";
import type { ModuleGraph } from "../modules/loader/module_graph.ts";
import { exportOrigin, type TemporalWorkflows } from "./programs.ts";

export class TemporalPrograms {
  readonly #slot: SlotContext | undefined;
  readonly #scopes: CompatProgramOptions["scopes"];

  /** Called before the guard, which blocks the runtime's modules. */
  constructor(restoreFrames: boolean) {
    this.#slot = restoreFrames ? new SlotContext() : undefined;
    this.#scopes = this.#slot ?? asyncStorageContext(asyncStorage<ScopeFrame | undefined>()!);
  }

  /** Returns the packages of the official SDK. Called after the guard. */
  provided(): { readonly [module in Provided]?: ProvidedModule } {
    return compatModules();
  }

  /** Converts failures with the program's own converter, if it has one. */
  convertFailures(failures: unknown, converter: PayloadConverter): void {
    if (failures !== undefined) convertFailuresBy(failures as CustomFailures, converter);
  }

  /** Returns values of this package that runs share. */
  shared(): unknown[] {
    return sharedByRuns();
  }

  /**
   * Evaluates the modules for no run, before the realm is sealed. Throws a WorkflowLoadError with
   * file and line of errors that they throw.
   */
  async load(
    graph: EvaluableGraph,
    listener: EvaluationListener,
    nowMs: number,
  ): Promise<TemporalWorkflows> {
    const helper = rewriteHelper(this.#slot);
    const options = (heard: EvaluationListener | undefined): CompatProgramOptions => ({
      scopes: this.#scopes,
      helper,
      asksForFlags: graph.graph.modules.some(({ specifiers }) => specifiers.some(asksForFlags)),
      modules: (scope) => graph.evaluateForRun(scope, heard),
    });
    const { exported, converter } = await rehearse(options(listener), nowMs);
    const named = exported ?? graph.graph.runExports.map(fromNames);
    const files = runFiles(graph.graph, named.length);
    return {
      program: new CompatProgram(options(undefined)),
      names: namesOf(named, files),
      originOf: (name) => originIn(named, files, name),
      versioningBehaviors: versioningBehaviors(named),
      takesAnyType: named.some(hasDefault),
      converter,
    };
  }
}

/** Only names are known of modules that only a run can evaluate. */
function fromNames(names: readonly string[]): Exports {
  return Object.fromEntries(names.map((name) => [name, () => {}]));
}

/** Returns versioning behaviors of functions whose options name one without a run. */
function versioningBehaviors(
  entries: readonly Exports[],
): Map<string, VersioningBehavior> {
  return new Map(
    entries.flatMap((exported) =>
      workflowNames(exported).map((name) => [name, behaviorOf(exported[name])] as const)
    )
      .filter((entry): entry is readonly [string, VersioningBehavior] => entry[1] !== undefined),
  );
}

const hasDefault = (exported: Exports): boolean => workflowNames(exported).includes("default");

/** Returns the files of the modules in order; empty if unknown. */
function runFiles({ modules, runEntries }: ModuleGraph, count: number): string[] {
  const files = runEntries.map((index) => displayName(modules[index]!.url));
  return files.length === count ? files : [];
}

function originIn(
  entries: readonly Exports[],
  files: readonly string[],
  name: string,
): string | undefined {
  const i = entries.findIndex((exported) => workflowNames(exported).includes(name));
  return exportOrigin(i < 0 ? undefined : name, files[i]);
}

/** Returns the names in all modules. Throws if two different functions have the same name. */
function namesOf(entries: readonly Exports[], files: readonly string[]): string[] {
  const found = new Map<string, { readonly value: unknown; readonly file: string | undefined }>();
  entries.forEach((exported, i) => {
    for (const name of workflowNames(exported)) {
      if (name === "default") continue;
      const before = found.get(name);
      if (before !== undefined && before.value !== exported[name]) {
        throw new Error(
          sameNameMessage(name, [exportOrigin(name, before.file), exportOrigin(name, files[i])]),
        );
      }
      found.set(name, before ?? { value: exported[name], file: files[i] });
    }
  });
  return [...found.keys()];
}
