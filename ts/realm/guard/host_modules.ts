// Stand-ins for modules of Node that packages import. Packages often import one for features that
// workflows never use, so importing it and reading its names is allowed. A call of its functions
// throws an error with the package and the line.
import { userFrame } from "../../executor/program/call_site.ts";
import type { GuardContext } from "./violations.ts";

/** Read from any object by `class extends` and by interop helpers of compilers. */
const SILENT: { readonly [key: string]: unknown } = {
  __proto__: null,
  __esModule: undefined,
  then: undefined,
  prototype: Object.create(null),
};

/** `part`: the part of the module that the realm provides. */
export function hostModule(
  context: GuardContext,
  name: string,
  advice: string,
  part: object | undefined,
): unknown {
  const members = new Map<string, unknown>();
  const refuse = (): never => {
    const place = userFrame(new Error().stack);
    return context.refuse(`${name}()`, `${advice}${place === "" ? "" : ` (called by ${place})`}`);
  };
  return new Proxy((function () {}).bind(undefined), {
    apply: refuse,
    construct: refuse,
    get(_target, key) {
      if (typeof key === "symbol") return undefined;
      if (part !== undefined && key in part) return (part as { [key: string]: unknown })[key];
      if (key in SILENT) return SILENT[key];
      // `import crypto from "node:crypto"` is the module itself.
      if (key === "default") {
        return part === undefined ? hostModule(context, name, advice, undefined) : part;
      }
      if (!members.has(key)) {
        members.set(key, hostModule(context, `${name}.${key}`, advice, undefined));
      }
      return members.get(key);
    },
    has: (_target, key) => part !== undefined && key in part,
    set: () => false,
    deleteProperty: () => false,
    defineProperty: () => false,
    ownKeys: () => [],
    getOwnPropertyDescriptor: () => undefined,
    getPrototypeOf: () => null,
    setPrototypeOf: () => false,
  });
}
