// Small means of replacing properties of globals, so that they look like the language's own.

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
/** The locale where workflow code names none. */
export const LOCALE = "en-US";

/** Replaces or makes a data property that is not enumerable, as built-in ones are. */
export function override(object: object, name: PropertyKey, value: unknown): void {
  Object.defineProperty(object, name, { value, writable: true, enumerable: false, configurable: true });
}

// deno-lint-ignore no-explicit-any
type Method = (this: any, ...args: any[]) => unknown;

/** A method that carries its own name. */
export function defineMethod(object: object, name: string, method: Method): void {
  Object.defineProperty(method, "name", { value: name, configurable: true });
  override(object, name, method);
}
