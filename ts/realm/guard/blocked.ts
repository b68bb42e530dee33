// Stand-ins for globals that workflow code cannot use. `typeof` and `instanceof` work, so that
// libraries can test for them; other uses throw an error with the name and an alternative.
import type { GuardContext } from "./violations.ts";

export interface BlockedOptions {
  /** Result of `typeof`. */
  readonly typeOf?: "function" | "object";
  readonly advice: string;
  /** Readable properties: constants that reveal nothing about the machine. */
  readonly constants?: { readonly [name: string]: unknown };
  /** The host's object, whose properties the function of sideEffect() may read. */
  readonly real?: unknown;
}

const EMPTY = Object.freeze(Object.create(null)) as object;
const isNever = () => false;
const made = new WeakSet<object>();

/** True for stand-ins: they have no properties to freeze. */
export const isBlocked = (value: object): boolean => made.has(value);

export function blocked(context: GuardContext, name: string, options: BlockedOptions): unknown {
  const { advice, constants = {}, real } = options;
  const refuse = (what: string): never => context.refuse(what, advice);
  const handler: ProxyHandler<object> = {
    apply: () => refuse(`${name}()`),
    construct: () => refuse(`new ${name}()`),
    get(_target, key) {
      // `x instanceof Blob` is false, without an error.
      if (key === "prototype") return EMPTY;
      if (key === Symbol.hasInstance) return isNever;
      if (typeof key === "symbol") return undefined;
      if (Object.hasOwn(constants, key)) return constants[key];
      if (context.inSideEffect && real !== undefined && real !== null) {
        return realProperty(real, key);
      }
      // Packages test for features while they are loaded, and work without those that are missing.
      return context.packageLoads() !== undefined ? undefined : refuse(`${name}.${key}`);
    },
    set: (_target, key) => refuse(`${name}.${String(key)}`),
    has: (_target, key) => typeof key === "string" && Object.hasOwn(constants, key),
    deleteProperty: (_target, key) => refuse(`${name}.${String(key)}`),
    defineProperty: (_target, key) => refuse(`${name}.${String(key)}`),
    ownKeys: () => [],
    getOwnPropertyDescriptor: () => undefined,
    getPrototypeOf: () => null,
    setPrototypeOf: () => refuse(name),
  };
  // A bound function can be called and constructed, and has no non-configurable property.
  const target = options.typeOf === "object" ? {} : (function () {}).bind(undefined);
  const stand = new Proxy(target, handler);
  made.add(stand);
  return stand;
}

/** Methods are bound to their object, because those of the host check `this`. */
function realProperty(object: unknown, key: string): unknown {
  const value = Reflect.get(object as object, key, object);
  return typeof value === "function"
    ? (...args: unknown[]) => Reflect.apply(value, object, args)
    : value;
}
