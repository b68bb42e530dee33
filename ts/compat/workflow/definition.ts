// Options on the function of a workflow.
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

/** Sets options of a workflow's function. */
export function setWorkflowOptions<F extends Workflow>(
  options: WorkflowDefinitionOptionsOrGetter,
  fn: F,
): void {
  defineWorkflowOptions(fn, { workflowDefinitionOptions: options });
}

/** Sets options of a workflow's function, including type hints. */
export function defineWorkflowOptions<F extends Workflow>(
  fn: F,
  config: WorkflowDefinitionConfig,
): void {
  Object.assign(fn, config);
}

/**
 * Returns the options of a workflow's function; a function that computes them is called in its run.
 */
export function readDefinition(fn: unknown): WorkflowDefinitionOptions {
  if (!isWorkflowFunctionWithOptions(fn)) return {};
  const { workflowDefinitionOptions: options } = fn;
  return (typeof options === "function" ? options() : options) ?? {};
}

/** Returns the options that are needed before the arguments are decoded. */
export function readStaticOptions(fn: unknown): WorkflowStaticOptions {
  return isWorkflowFunctionWithStaticOptions(fn) ? fn.staticOptions : {};
}

/** Returns the versioning behavior of a workflow's function, if known without a run. */
export function versioningBehaviorOf(
  fn: unknown,
): VersioningBehavior | undefined {
  if (
    !isWorkflowFunctionWithOptions(fn) ||
    typeof fn.workflowDefinitionOptions !== "object"
  ) return undefined;
  return fn.workflowDefinitionOptions.versioningBehavior;
}
