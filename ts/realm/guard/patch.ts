// Helpers that replace properties of globals with the attributes of built-in ones.

/** The global object, with the parts that the guard replaces. */
export interface Globals {
  Date: DateConstructor;
  Math: Math;
  Intl: typeof Intl;
  Function: FunctionConstructor;
  Error: ErrorConstructor;
  performance: unknown;
  [name: string]: unknown;
}

export const UTC = "UTC";
/** The default locale of workflow code. */
export const LOCALE = "en-US";

/** Defines a data property that is not enumerable, like built-in ones. */
export function override(object: object, name: PropertyKey, value: unknown): void {
  Object.defineProperty(object, name, {
    value,
    writable: true,
    enumerable: false,
    configurable: true,
  });
}

// deno-lint-ignore no-explicit-any
type Method = (this: any, ...args: any[]) => unknown;

/** Defines a method with its own name. */
export function defineMethod(object: object, name: string, method: Method): void {
  Object.defineProperty(method, "name", { value: name, configurable: true });
  override(object, name, method);
}
