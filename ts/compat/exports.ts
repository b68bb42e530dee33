// What the modules of a program of `@temporalio/workflow` export, and which of it are workflows.
import type { RewriteHelper } from "./rewritten.ts";
import type { RunGlobals } from "./sandbox/globals.ts";

/** What a module exports, by name. */
export type Exports = { readonly [name: string]: unknown };

/** What modules are given that are evaluated for a run. */
export interface RunModulesScope {
  readonly globals: RunGlobals;
  readonly helper: RewriteHelper;
}

/** The modules of the program, for a run. Each part is evaluated when it is called, and what both need once. */
export interface RunModules {
  /** What the module of the payload converter exports, if there is one. */
  converter(): Exports | undefined;
  /** What the modules of interceptors export. */
  interceptors(): readonly Exports[];
  /** What the modules of workflows export. */
  workflows(): readonly Exports[];
}

/** Makes the modules of the program ready for a run. */
export type EvaluateModules = (scope: RunModulesScope) => RunModules;

export type WorkflowFunction = (...args: unknown[]) => unknown;

/** The function that runs workflows of a type. The default export runs those that have none of their own. */
export function mainOf(entries: readonly Exports[], workflowType: string): WorkflowFunction | undefined {
  for (const name of [workflowType, "default"]) {
    for (const exported of entries) {
      const value = name in exported ? exported[name] : undefined;
      if (typeof value === "function") return value as WorkflowFunction;
    }
  }
  return undefined;
}

/** Names of what can be a workflow: functions, but no classes. "default" is among them where a default export is one. */
export function workflowNames(exported: Exports): string[] {
  return Object.keys(exported).filter((name) => isFunction(exported[name]));
}

function isFunction(value: unknown): boolean {
  return typeof value === "function" && !/^class\b/.test(Function.prototype.toString.call(value));
}
