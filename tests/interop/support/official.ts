// Temporal's own TypeScript SDK, which lies in tests/interop/node_modules and only there. Nothing here imports its types: tsc must pass
// without it. Whole programs for it are plain modules in tests/interop/official, which Node runs as they lie in the checkout.
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import process from "node:process";

/** The checkout; tests run in it. */
export const root = process.cwd();

const manifest = join(root, "tests/interop/package.json");

/** For `{ skip }` of tests: false, or why the official SDK is not here. `npm test -- interop` installs it. */
export const noOfficial: string | false = existsSync(join(root, "tests/interop/node_modules/@temporalio/worker/package.json"))
  ? false
  : "Temporal's TypeScript SDK is not installed (npm ci in tests/interop)";

/** A package of the official SDK, e.g. `official("@temporalio/client")`. */
// deno-lint-ignore no-explicit-any
export function official(name: string): any {
  return createRequire(manifest)(name);
}

/** A program in tests/interop/official, for `node`. */
export const officialProgram = (name: string): string => join(root, "tests/interop/official", name);
