// Imports modules by path outside of workflows, such as activities. They are ordinary modules of
// the process. Deno loads TypeScript itself; Node uses hooks of this package, because its own
// support varies by version: types are removed, enums, parameter properties, `using` and JSX
// compiled, decorators rejected.
import { existsSync } from "node:fs";
import { createRequire, register } from "node:module";
import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { ownFile } from "../../platform/own_code.ts";
import type { LoaderHooks } from "../../worker/activities/thread_messages.ts";
import { UsageError } from "../frame/errors.ts";
import { AGAIN } from "./again.ts";
import { importErrorPlace } from "./error_place.ts";

let hooked: Promise<void> | undefined;

/** Returns the hooks for Node's loader; undefined in Deno. */
export function loaderHooks(): LoaderHooks | undefined {
  if ("Deno" in globalThis) return undefined;
  const instead = "start the program of the package, which is not bundled";
  return {
    // Imports of the official SDK resolve to this package.
    imports: [
      ownFile("compat/register/mod", instead).href,
      ownFile("cli/modules/official_activities", instead).href,
    ],
    url: ownFile("cli/modules/ts_hooks", instead).href,
    // Resolved from here, the package's own name is this package.
    data: { url: import.meta.url },
  };
}

async function hook(): Promise<void> {
  const hooks = loaderHooks();
  if (hooks === undefined) return;
  for (const first of hooks.imports) await import(first);
  register(hooks.url, { data: hooks.data });
}

let again = 0;

/** Makes `importModule` reload these files on request: CommonJS modules are cached by path. */
export function forget(files: Iterable<string>): void {
  again++;
  const { cache } = createRequire(import.meta.url);
  for (const file of files) delete cache[file];
}

/**
 * Imports a module by a path relative to `cwd`, or a file URL. `reload`: loads the module and the
 * files that it imports again, as of the last `forget` (in Deno not its imports). Throws a
 * UsageError for a module that cannot be loaded.
 */
export async function importModule(
  cwd: string,
  path: string,
  reload = false,
): Promise<{ readonly [name: string]: unknown }> {
  const url = /^[a-z][a-z0-9+.-]+:\/\//i.test(path)
    ? new URL(path)
    : pathToFileURL(resolve(cwd, path));
  if (url.protocol !== "file:") {
    throw new UsageError(`cannot load ${path}: expected a path or a file URL, not ${url.protocol}`);
  }
  if (!existsSync(url)) {
    const absolute = fileURLToPath(url);
    throw new UsageError(
      `module not found: ${path}${absolute === path ? "" : ` (looked for ${absolute})`}`,
    );
  }
  await (hooked ??= hook());
  if (reload && again > 0) url.searchParams.set(AGAIN, String(again));
  try {
    return await import(url.href) as { readonly [name: string]: unknown };
  } catch (e) {
    const { message } = e as Error;
    const advice = /^require is not defined/.test(message)
      ? "; TypeScript is loaded as ES modules: name the JavaScript that it is compiled to"
      : "";
    throw new UsageError(
      `${path} cannot be loaded: ${importErrorPlace(e, url)}${message}${advice}`,
      { cause: e },
    );
  }
}

/**
 * Returns the exported functions of modules for a worker, including those of a default export that
 * is an object.
 */
export async function importActivities(cwd: string, paths: readonly string[]): Promise<object[]> {
  const activities: object[] = [];
  for (const path of paths) {
    const { default: main, ...named } = await importModule(cwd, path);
    const found = [named, ...(typeof main === "object" && main !== null ? [main] : [])];
    const functions = found.filter((object) =>
      Object.values(object).some((value) => typeof value === "function")
    );
    if (functions.length === 0) {
      throw new UsageError(`${path} exports no function, so it has no activities`);
    }
    activities.push(...functions);
  }
  return activities;
}
