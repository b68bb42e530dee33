// Defines `object.__proto__`, which is undefined in Deno. Packages for workflow code were written
// for runtimes that have it; without it they would behave differently in Deno.

/** Defines it as in the language (Annex B) if the runtime has another or none. */
export function restoreProto(): void {
  // Reading it would make Deno print a hint.
  const { get } = Object.getOwnPropertyDescriptor(Object.prototype, "__proto__") ?? {};
  if (get !== undefined && /\[native code\]/.test(Function.prototype.toString.call(get))) return;
  const { getPrototypeOf, setPrototypeOf } = Object;
  const accessor = {
    get __proto__(): unknown {
      return getPrototypeOf(existing(this));
    },
    set __proto__(prototype: unknown) {
      const isObject = (value: unknown) =>
        (typeof value === "object" && value !== null) || typeof value === "function";
      const self: unknown = existing(this);
      if (isObject(self) && (prototype === null || isObject(prototype))) {
        setPrototypeOf(self, prototype as object | null);
      }
    },
  };
  const descriptor = Object.getOwnPropertyDescriptor(accessor, "__proto__")!;
  Object.defineProperty(Object.prototype, "__proto__", { ...descriptor, enumerable: false });
}

function existing<T>(value: T): T {
  if (value === undefined || value === null) {
    throw new TypeError("Object.prototype.__proto__ called on null or undefined");
  }
  return value;
}
