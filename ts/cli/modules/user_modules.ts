// Modules that a command is given by path: activities (and whatever else runs outside of workflows). They are ordinary modules of the
// process. JavaScript and TypeScript, in Deno as Deno loads them; in Node through hooks of our own, because Node 20 loads no TypeScript and
// later versions not all of it: types are removed, not checked; enums, parameter properties, `using` and JSX are compiled, decorators are
// rejected. Workflow modules are not loaded here: their realm does that.
import { existsSync } from "node:fs";
import { createRequire, register } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { ownFile } from "../../platform/own_code.ts";
import type { LoaderHooks } from "../../worker/thread_messages.ts";
import { UsageError } from "../frame/errors.ts";
import { AGAIN } from "./again.ts";
import { importErrorPlace } from "./error_place.ts";

let hooked: Promise<void> | undefined;

/** The hooks for Node's loader; undefined where Deno is, which needs none. */
export function loaderHooks(): LoaderHooks | undefined {
  if ("Deno" in globalThis) return undefined;
  const instead = "start the program of the package, which is not bundled";
  return {
    // Modules of the official SDK are those of this package.
    imports: [ownFile("compat/register/mod", instead).href, ownFile("cli/modules/official_activities", instead).href],
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

/** From now on `importModule` loads these files again, where it is asked to: CommonJS modules are kept by their path. */
export function forget(files: Iterable<string>): void {
  again++;
  const { cache } = createRequire(import.meta.url);
  for (const file of files) delete cache[file];
}

/**
 * Imports a module by a path relative to `cwd`, or a file URL; `anew`: with the files that it imports, as they were at the last `forget` (in
 * Deno without those). A module that cannot be loaded is a UsageError that says why.
 */
export async function importModule(cwd: string, path: string, anew = false): Promise<{ readonly [name: string]: unknown }> {
  const url = /^[a-z][a-z0-9+.-]+:\/\//i.test(path) ? new URL(path) : pathToFileURL(resolve(cwd, path));
  if (url.protocol !== "file:") throw new UsageError(`${path} is no file; modules can only be loaded from files`);
  if (!existsSync(url)) throw new UsageError(`module not found: ${path}`);
  await (hooked ??= hook());
  if (anew && again > 0) url.searchParams.set(AGAIN, String(again));
  try {
    return await import(url.href) as { readonly [name: string]: unknown };
  } catch (e) {
    const { message } = e as Error;
    const advice = /^require is not defined/.test(message)
      ? "; TypeScript is loaded as ES modules: name the JavaScript that it is compiled to"
      : "";
    throw new UsageError(`${path} cannot be loaded: ${importErrorPlace(e, url)}${message}${advice}`, { cause: e });
  }
}

/** The functions that modules export, as a worker takes them; a default export that is an object gives its functions too. */
export async function importActivities(cwd: string, paths: readonly string[]): Promise<object[]> {
  const activities: object[] = [];
  for (const path of paths) {
    const { default: main, ...named } = await importModule(cwd, path);
    const found = [named, ...(typeof main === "object" && main !== null ? [main] : [])];
    const functions = found.filter((object) => Object.values(object).some((value) => typeof value === "function"));
    if (functions.length === 0) throw new UsageError(`${path} exports no function, so it has no activities`);
    activities.push(...functions);
  }
  return activities;
}
