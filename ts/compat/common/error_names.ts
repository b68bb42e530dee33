// Names of error classes, as the official packages have them.

/**
 * Gives a class of errors its name: on the prototype, as the official classes have it, so that it is not among the fields that are printed or
 * spread. Subclasses may set their own.
 */
export function named(type: { readonly prototype: object }, name: string): void {
  Object.defineProperty(type.prototype, "name", {
    configurable: true,
    enumerable: true,
    get: () => name,
    set(this: object, value: unknown) {
      Object.defineProperty(this, "name", { value, configurable: true, writable: true });
    },
  });
}
