// What a module says of a workflow beside its function: options that the function carries.
import {
  isWorkflowFunctionWithOptions,
  isWorkflowFunctionWithStaticOptions,
  type WorkflowDefinitionConfig,
  type WorkflowDefinitionOptions,
  type WorkflowDefinitionOptionsOrGetter,
  type WorkflowStaticOptions,
} from "../common/type_info.ts";
import type { VersioningBehavior } from "../common/policies.ts";
import type { Workflow } from "../common/definitions.ts";

/** Gives a workflow's function options. */
export function setWorkflowOptions<F extends Workflow>(
  options: WorkflowDefinitionOptionsOrGetter,
  fn: F,
): void {
  defineWorkflowOptions(fn, { workflowDefinitionOptions: options });
}

/** Gives a workflow's function options, and what is known of its values. */
export function defineWorkflowOptions<F extends Workflow>(
  fn: F,
  config: WorkflowDefinitionConfig,
): void {
  Object.assign(fn, config);
}

/** The options of a workflow's function; those of a function are asked for now, in its run. */
export function definitionOf(fn: unknown): WorkflowDefinitionOptions {
  if (!isWorkflowFunctionWithOptions(fn)) return {};
  const { workflowDefinitionOptions: options } = fn;
  return (typeof options === "function" ? options() : options) ?? {};
}

/** Options of a workflow's function that are needed before its arguments are read. */
export function staticOptionsOf(fn: unknown): WorkflowStaticOptions {
  return isWorkflowFunctionWithStaticOptions(fn) ? fn.staticOptions : {};
}

/** The versioning behavior of a workflow's function, where it is known without a run. */
export function versioningBehaviorOf(
  fn: unknown,
): VersioningBehavior | undefined {
  if (
    !isWorkflowFunctionWithOptions(fn) ||
    typeof fn.workflowDefinitionOptions !== "object"
  ) return undefined;
  return fn.workflowDefinitionOptions.versioningBehavior;
}
