// What the client takes from the definitions that workflow code declares: a name at run time, and arguments and results in the type. A call
// may name a workflow or message by a string instead; then its values are untyped.
// deno-lint-ignore-file no-explicit-any
import type { Procedure, Query, Signal, Update, WorkflowDefinition } from "../workflow/mod.ts";

export type { Procedure, Query, Signal, Update, WorkflowDefinition };

/** Any definition of a workflow. */
export type AnyDefinition = WorkflowDefinition<any[], any>;
/** A definition, or the name of a workflow type whose definition the caller does not have. */
export type AnyWorkflow = AnyDefinition | string;

/** What a handle knows of its workflow: its definition, or nothing but that there is a name. */
export type Named<W extends AnyWorkflow> = W extends string ? string : W;

/** The arguments of a workflow's `run`. */
export type WorkflowArgs<W> = W extends WorkflowDefinition<infer A, any> ? A : any[];
/** What a workflow's `run` completes with. */
export type WorkflowResult<W> = W extends WorkflowDefinition<any, infer R> ? R : unknown;

/** `args`, optional where there are none. */
export type ArgsOption<A extends any[]> = [] extends A ? { args?: A } : { args: A };

export function definitionName(definition: { readonly name: string } | string): string {
  const name: unknown = typeof definition === "string"
    ? definition
    : (definition as { readonly name?: string } | undefined)?.name;
  if (typeof name === "string" && name !== "") return name;
  const shown = definition === undefined ? "undefined (check that the module exports this name)" : "a value without a name";
  throw new TypeError(`expected a definition or a name of a workflow or message, not ${shown}`);
}
