// Modules that the realm provides to programs of `@temporalio/workflow`, by the loader's names.
// Imports of official packages resolve to these, whether or not the packages are installed.
import * as commonLib from "./common/lib.ts";
import * as common from "./common/mod.ts";
import { assert } from "./sandbox/assert.ts";
import * as workflowLib from "./workflow/lib.ts";
import * as workflow from "./workflow/mod.ts";

/** Results of `import` and of `require`. */
export interface ProvidedByCompat {
  readonly namespace: { readonly [name: string]: unknown };
  readonly required: unknown;
}

/** A CommonJS package in the form that TypeScript writes for ES modules. */
function makePackage(module: object): ProvidedByCompat {
  const required = Object.freeze(Object.assign(Object.create(null), module, { __esModule: true }));
  // Modules that use `exports.default` for `default` are rejected by the loader: it does not exist.
  return {
    namespace: Object.freeze(Object.assign(Object.create(null), module, { default: required })),
    required,
  };
}

/** A module of Node that the official sandbox provides in part. */
function makeBuiltin(exported: object): ProvidedByCompat {
  return {
    namespace: Object.freeze(Object.assign(Object.create(null), exported, { default: exported })),
    required: exported,
  };
}

/** Created on demand: after a guard has replaced the realm's globals. */
export function compatModules() {
  const { URL, URLSearchParams, TextEncoder, TextDecoder } = globalThis;
  return {
    "temporal/workflow": makePackage(workflow),
    "temporal/workflow/lib": makePackage(workflowLib),
    "temporal/common": makePackage(common),
    "temporal/common/lib": makePackage(commonLib),
    assert: makeBuiltin(assert),
    url: makeBuiltin(Object.freeze({ URL, URLSearchParams })),
    util: makeBuiltin(Object.freeze({ TextEncoder, TextDecoder })),
  };
}

/** Returns the objects of this package that runs share, which the guard freezes. */
export function sharedByRuns(): unknown[] {
  return [...Object.values(workflowLib), ...Object.values(commonLib), assert];
}
