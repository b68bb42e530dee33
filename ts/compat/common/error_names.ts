// Names of error classes in the official packages.

/**
 * Sets the name of an error class on its prototype, like the official classes, so that it is not
 * printed or spread with the fields. Subclasses can override it.
 */
export function defineErrorName(type: { readonly prototype: object }, name: string): void {
  Object.defineProperty(type.prototype, "name", {
    configurable: true,
    enumerable: true,
    get: () => name,
    set(this: object, value: unknown) {
      Object.defineProperty(this, "name", { value, configurable: true, writable: true });
    },
  });
}
