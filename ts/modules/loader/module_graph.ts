// A module graph as plain data, as the loader makes it and a realm evaluates it.
import type { ProbedSource } from "../../executor/program/line_probe.ts";
import type { Problem } from "./errors.ts";
import type { ModuleKind } from "./module_code.ts";
import type { HostModule, Provided } from "./resolve.ts";

/**
 * Another module's index, a module of the realm, or why it is rejected. `host`: a stand-in for a
 * module of Node that a package imports; its calls are rejected.
 */
export type Dependency =
  | { readonly module: number }
  | { readonly provided: Provided; readonly onlyForRuns?: string; readonly host?: HostModule }
  | { readonly refused: string; readonly host?: HostModule };

/** One module, ready to be evaluated. */
export interface LoadedModule {
  readonly url: string;
  readonly kind: ModuleKind;
  /**
   * Expression of the module's function, or JSON text; "" for a module that is evaluated only for
   * runs.
   */
  readonly code: string;
  /** The same in the form for runs; "" for a module that no such program needs. */
  readonly runCode: string;
  /** Names that the module itself defines, in the order of their numbers in its code. */
  readonly exports: readonly string[];
  /** Dependencies whose namespace is used as a value; of the others only names are read. */
  readonly whole: readonly number[];
  readonly specifiers: readonly string[];
  readonly dependencies: readonly Dependency[];
  /** Of an ES module: dependencies that its code requires during execution. */
  readonly required: readonly number[];
  /** Dependencies of `import()`. */
  readonly dynamic: readonly number[];
  /** See ModuleResolver. */
  readonly takesDefault: boolean;
  /**
   * Exports from other modules: local name, index of the dependency, name there ("*": its
   * namespace).
   */
  readonly reexports: readonly (readonly [string, number, string])[];
  /** CommonJS dependencies of `export *`: their names are known only after they have run. */
  readonly open: readonly number[];
  /** Names imported from CommonJS modules, checked after those have run. */
  readonly checks: readonly (readonly [number, string, number])[];
  /** Set in debug sessions: the code has probes. */
  readonly probes?: ProbedSource;
}

export interface ModuleGraph {
  /** Unordered. Evaluation is depth first from the entries. */
  readonly modules: readonly LoadedModule[];
  /**
   * Evaluated once. The converter's module, if any, is the last; empty without native workflows.
   */
  readonly entries: readonly number[];
  /** Evaluated for each run. */
  readonly runEntries: readonly number[];
  /** Exports of `runEntries`, as far as the texts show. */
  readonly runExports: readonly (readonly string[])[];
  /** Modules of interceptors, evaluated for each run before `runEntries`. */
  readonly interceptorEntries: readonly number[];
  /**
   * The converter's module if programs are evaluated for each run: its classes must be the run's.
   */
  readonly runConverter?: number;
  /** True if a module needs the environment of `@temporalio/workflow` programs. */
  readonly needsTemporal: boolean;
  /** Scopes are followed by rewritten code instead of AsyncLocalStorage. */
  readonly restoreFrames: boolean;
  /** False if AsyncLocalStorage may have another scope somewhere in the rewritten code. */
  readonly followsScopes: boolean;
  readonly warnings: readonly Problem[];
}
