// Stand-ins for modules of Node that packages import. Many packages name one for what a workflow never does, so to import it and to look at
// its names is no error; who calls one of its functions is refused, by package and line.
import { userFrame } from "../../executor/program/call_site.ts";
import type { GuardContext } from "./violations.ts";

/** What `class extends` and interop helpers of compilers read of anything. */
const SILENT: { readonly [key: string]: unknown } = {
  __proto__: null,
  __esModule: undefined,
  then: undefined,
  prototype: Object.create(null),
};

/** `part`: what the realm has of the module. */
export function hostModule(context: GuardContext, name: string, advice: string, part: object | undefined): unknown {
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
      if (key === "default") return part === undefined ? hostModule(context, name, advice, undefined) : part;
      if (!members.has(key)) members.set(key, hostModule(context, `${name}.${key}`, advice, undefined));
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
