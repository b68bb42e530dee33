// Stand-ins for globals that workflow code cannot use. `typeof` and `instanceof` answer, so that a library can look around; whatever
// would do something throws an error that names it and says what to use instead.
import type { GuardContext } from "./violations.ts";

export interface BlockedOptions {
  /** What `typeof` says. */
  readonly typeOf?: "function" | "object";
  readonly advice: string;
  /** Properties that may be read: constants that say nothing about the machine. */
  readonly constants?: { readonly [name: string]: unknown };
  /** The host's object, whose properties the function of sideEffect() may read. */
  readonly real?: unknown;
}

const EMPTY = Object.freeze(Object.create(null)) as object;
const isNever = () => false;
const made = new WeakSet<object>();

/** True for stand-ins: they have nothing to freeze. */
export const isBlocked = (value: object): boolean => made.has(value);

export function blocked(context: GuardContext, name: string, options: BlockedOptions): unknown {
  const { advice, constants = {}, real } = options;
  const refuse = (what: string): never => context.refuse(what, advice);
  const handler: ProxyHandler<object> = {
    apply: () => refuse(`${name}()`),
    construct: () => refuse(`new ${name}()`),
    get(_target, key) {
      // `x instanceof Blob` is false, with no error.
      if (key === "prototype") return EMPTY;
      if (key === Symbol.hasInstance) return isNever;
      if (typeof key === "symbol") return undefined;
      if (Object.hasOwn(constants, key)) return constants[key];
      if (context.inSideEffect && real !== undefined && real !== null) return realProperty(real, key);
      // Packages look around while they are loaded, and go without what they do not find.
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
  // A bound function can be called and constructed and has no property that could not be denied.
  const target = options.typeOf === "object" ? {} : (function () {}).bind(undefined);
  const stand = new Proxy(target, handler);
  made.add(stand);
  return stand;
}

/** Methods get their own object as `this`: the host's check it. */
function realProperty(object: unknown, key: string): unknown {
  const value = Reflect.get(object as object, key, object);
  return typeof value === "function" ? (...args: unknown[]) => Reflect.apply(value, object, args) : value;
}
