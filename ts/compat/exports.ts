// Exports of the modules of a program of `@temporalio/workflow`, and which of them are workflows.
import { isWorkflowDefinition } from "../executor/program/definition.ts";
import type { RewriteHelper } from "./rewritten.ts";
import type { RunGlobals } from "./sandbox/globals.ts";

/** Exports by name. */
export type Exports = { readonly [name: string]: unknown };

/** Scope of modules that are evaluated for a run. */
export interface RunModulesScope {
  readonly globals: RunGlobals;
  readonly helper: RewriteHelper;
}

/** Modules of the program for a run. Each part is evaluated on call, shared dependencies once. */
export interface RunModules {
  /** Exports of the payload converter's module, if there is one. */
  converter(): Exports | undefined;
  interceptors(): readonly Exports[];
  workflows(): readonly Exports[];
}

/** Prepares the modules of the program for a run. */
export type EvaluateModules = (scope: RunModulesScope) => RunModules;

export type WorkflowFunction = (...args: unknown[]) => unknown;

/** Returns the function of a workflow type. The default export handles types without a function. */
export function findWorkflowFunction(
  entries: readonly Exports[],
  workflowType: string,
): WorkflowFunction | undefined {
  for (const name of [workflowType, "default"]) {
    for (const exported of entries) {
      const value = name in exported ? exported[name] : undefined;
      if (typeof value === "function" && !isWorkflowDefinition(value)) {
        return value as WorkflowFunction;
      }
    }
  }
  return undefined;
}

/** Returns the names of possible workflows: functions that are not classes, including "default". */
export function workflowNames(exported: Exports): string[] {
  return Object.keys(exported).filter((name) => isFunction(exported[name]));
}

function isFunction(value: unknown): boolean {
  return typeof value === "function" && !isWorkflowDefinition(value) &&
    !/^class\b/.test(Function.prototype.toString.call(value));
}
