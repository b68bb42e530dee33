// Types of definitions in workflow code, used by the client: a name at run time, arguments and
// results in the type. A name as a string works too; its values are untyped.
// deno-lint-ignore-file no-explicit-any
import type { Procedure, Query, Signal, Update, WorkflowDefinition } from "../workflow/mod.ts";

export type { Procedure, Query, Signal, Update, WorkflowDefinition };

/** Any definition of a workflow. */
export type AnyDefinition = WorkflowDefinition<any[], any>;
/** A definition, or the name of a workflow type whose definition the caller does not have. */
export type AnyWorkflow = AnyDefinition | string;

/** Type parameter of a handle: the definition, or string for a name. */
export type Named<W extends AnyWorkflow> = W extends string ? string : W;

/** The arguments of a workflow's `run`. */
export type WorkflowArgs<W> = W extends WorkflowDefinition<infer A, any> ? A : any[];
/** Result of a workflow's `run`. */
export type WorkflowResult<W> = W extends WorkflowDefinition<any, infer R> ? R : unknown;

/** `args`, optional for workflows without arguments. */
export type ArgsOption<A extends any[]> = [] extends A ? { args?: A } : { args: A };

export function definitionName(definition: { readonly name: string } | string): string {
  const name: unknown = typeof definition === "string"
    ? definition
    : (definition as { readonly name?: string } | undefined)?.name;
  if (typeof name === "string" && name !== "") return name;
  const shown = definition === undefined
    ? "undefined (check that the module exports this name)"
    : "a value without a name";
  throw new TypeError(`expected a definition or a name of a workflow or message, not ${shown}`);
}
