// The interface of Standard Schema (spec 1.1.0), which zod, valibot, arktype and others implement: any such validator can be attached to
// a message. Types only, written from the specification; nothing is imported at run time.

/** A validator that turns an `Input` into an `Output` or into issues. */
export interface StandardSchemaV1<Input = unknown, Output = Input> {
  /** What the specification asks of a validator. */
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** What a validator answers. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** One thing that a validator found wrong. */
export interface StandardIssue {
  /** What is wrong, for people. */
  readonly message: string;
  /** Where in the value, from the outside in. */
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}
