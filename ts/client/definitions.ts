// What the client knows of the definitions that workflow code declares (`workflow`, `signal`, `update`, `query`): a name at run time, and
// arguments and results in the type. A call may name a workflow or message by a string instead; then its values are untyped.
// deno-lint-ignore-file no-explicit-any

/** A workflow definition with the arguments of its `run` and its result. */
export interface WorkflowRef<A extends any[] = any[], R = any> {
  readonly kind: "workflow";
  readonly name: string;
  readonly _a?: A;
  readonly _r?: R;
}

export interface SignalRef<A extends unknown[] = any[]> {
  readonly kind: "signal";
  readonly name: string;
  readonly _a?: A;
}

export interface UpdateRef<A extends unknown[] = any[], R = any> {
  readonly kind: "update";
  readonly name: string;
  readonly _a?: A;
  readonly _r?: R;
}

export interface QueryRef<R = any, A extends unknown[] = any[]> {
  readonly kind: "query";
  readonly name: string;
  readonly _a?: A;
  readonly _r?: R;
}

/** A definition, or the name of a workflow type whose definition the caller does not have. */
export type AnyWorkflow = WorkflowRef | string;

/** The arguments of a workflow's `run`. */
export type WorkflowArgs<W> = W extends WorkflowRef<infer A, any> ? A : any[];
/** What a workflow's `run` returns. */
export type WorkflowResult<W> = W extends WorkflowRef<any, infer R> ? R : any;

/** `args`, optional where the workflow takes none. */
export type ArgsOption<A extends any[]> = [] extends A ? { args?: A } : { args: A };

export function nameOf(definition: { readonly name: string } | string): string {
  return typeof definition === "string" ? definition : definition.name;
}
