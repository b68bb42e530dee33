// The modules that the realm gives programs of `@temporalio/workflow`, by the names under which its loader knows them. A module that names a
// package of the official SDK gets these, whether or not that package is installed.
import * as commonLib from "./common/lib.ts";
import * as common from "./common/mod.ts";
import { assert } from "./sandbox/assert.ts";
import * as workflowLib from "./workflow/lib.ts";
import * as workflow from "./workflow/mod.ts";

/** What `import` gives, and what `require` gives. */
export interface ProvidedByCompat {
  readonly namespace: { readonly [name: string]: unknown };
  readonly required: unknown;
}

/** A package that is CommonJS with ES modules in mind, as TypeScript writes it. */
function packageOf(module: object): ProvidedByCompat {
  const required = Object.freeze(Object.assign(Object.create(null), module, { __esModule: true }));
  // In modules that take `exports.default` for `default`, the loader refuses it: there is none.
  return { namespace: Object.freeze(Object.assign(Object.create(null), module, { default: required })), required };
}

/** A module of Node, of which the official sandbox has a part. */
function builtinOf(exported: object): ProvidedByCompat {
  return {
    namespace: Object.freeze(Object.assign(Object.create(null), exported, { default: exported })),
    required: exported,
  };
}

/** Made when it is asked for: after a guard has replaced the realm's globals. */
export function compatModules() {
  const { URL, URLSearchParams, TextEncoder, TextDecoder } = globalThis;
  return {
    "temporal/workflow": packageOf(workflow),
    "temporal/workflow/lib": packageOf(workflowLib),
    "temporal/common": packageOf(common),
    "temporal/common/lib": packageOf(commonLib),
    assert: builtinOf(assert),
    url: builtinOf(Object.freeze({ URL, URLSearchParams })),
    util: builtinOf(Object.freeze({ TextEncoder, TextDecoder })),
  };
}

/** What runs share of this package: for the guard, which freezes it. */
export function sharedByRuns(): unknown[] {
  return [...Object.values(workflowLib), ...Object.values(commonLib), assert];
}
