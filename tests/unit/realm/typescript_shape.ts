// The form of the tables of TypeScript modules.

/**
 * How a module is loaded: as native workflow code, as a program of `@temporalio/workflow`, as
 * activities by the command line.
 */
export type ShapeLoader = "shared" | "run" | "activity";

export interface TypeScriptShape {
  readonly name: string;
  readonly text: string;
  /** Other modules next to it. */
  readonly files?: { readonly [name: string]: string };
  /** The module's file name. Default: "main.ts". */
  readonly main?: string;
  /** What `main()` returns, as JSON. */
  readonly value?: string;
  /** The line of what is rejected. Default: 1. */
  readonly line?: number;
  /** Loaders that reject it, and a part of the message. */
  readonly rejected?: { readonly [loader in ShapeLoader]?: string };
}
