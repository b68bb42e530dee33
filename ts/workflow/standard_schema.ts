// The interface of Standard Schema (spec 1.1.0), implemented by zod, valibot, arktype and others:
// such validators can be attached to a message. Types only, written from the specification.

/** A validator that converts an `Input` to an `Output`, or returns issues. */
export interface StandardSchemaV1<Input = unknown, Output = Input> {
  /** Members required by the specification. */
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** The result of a validator. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** One issue found by a validator. */
export interface StandardIssue {
  /** Description of the issue. */
  readonly message: string;
  /** Path to the value, from the outside in. */
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}
