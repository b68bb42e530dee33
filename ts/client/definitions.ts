// Types of definitions in workflow code, used by the client: a name at run time, arguments and
// results in the type. A name as a string works too; its values are untyped.
// deno-lint-ignore-file no-explicit-any
import { deriveId } from "../converter/derived_id.ts";
import type {
  DerivedId,
  Procedure,
  Query,
  Signal,
  Update,
  WorkflowDefinition,
} from "../workflow/mod.ts";

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

/** `id`, optional for workflows that derive it from their arguments. */
export type IdOption<W> = [W] extends [DerivedId] ? { id?: string | undefined } : { id: string };

/** `args`, optional for workflows without arguments. */
export type ArgsOption<A extends any[]> = [] extends A ? { args?: A } : { args: A };

export function definitionName(definition: { readonly name: string } | string): string {
  const name: unknown = typeof definition === "string"
    ? definition
    : (definition as { readonly name?: string } | undefined)?.name;
  if (typeof name === "string" && name !== "") return name;
  const shown = definition === undefined
    ? "undefined (check that the module exports this name)"
    : definition === ""
    ? "an empty string"
    : `a value of type ${typeof definition} without a name`;
  throw new TypeError(`expected a definition or a name of a workflow or message, not ${shown}`);
}

/**
 * Options of a start, with the id that the workflow derives if the caller gave none. A duplicate
 * start with a derived id attaches to the open run, unless the options say otherwise.
 */
export function withDerivedId<
  O extends {
    id?: string | undefined;
    args?: readonly unknown[];
    idConflictPolicy?: string;
    idReusePolicy?: string;
  },
>(workflow: unknown, options: O): O {
  if (options.id !== undefined) return options;
  const id = deriveId(workflow, options.args ?? []);
  if (id === undefined) return options;
  // The service accepts TERMINATE_IF_RUNNING only without a conflict policy.
  return options.idConflictPolicy === undefined && options.idReusePolicy !== "TERMINATE_IF_RUNNING"
    ? { ...options, id, idConflictPolicy: "USE_EXISTING" }
    : { ...options, id };
}
