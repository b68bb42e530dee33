// Bundler plugins that resolve imports of `@temporalio` to modules of "temporalex/compat", as seen
// from the program. Compiling against this module needs no types of the bundlers.
import { findSubpath } from "../package_names/subpaths.ts";

/** The part of Vite, Rolldown and Rollup that is used. */
interface BundlerContext {
  readonly meta: { readonly rolldownVersion?: string };
  resolve(source: string, importer: string | undefined, options: object): Promise<unknown>;
}

/** A plugin of Vite, Rolldown and Rollup. */
export interface RolldownPlugin {
  /** Name in the bundler's messages. */
  readonly name: string;
  /** Vite: runs before its own resolution, which would look for the official packages. */
  readonly enforce: "pre";
  /**
   * Vite: adds this plugin to builds of workers (`new Worker(new URL(...))`), which have separate
   * plugins.
   */
  config(): { readonly worker: { plugins(): RolldownPlugin[] } };
  /**
   * Rolldown: minified functions keep their names unless `keepNames` is set, because workflow types
   * are function names.
   */
  outputOptions(this: BundlerContext, options: { keepNames?: boolean }): object;
  /** Resolves a name of the official SDK. */
  resolveId(
    this: BundlerContext,
    source: string,
    importer: string | undefined,
    options: object,
  ): Promise<unknown>;
}

/** The part of esbuild that is used. */
interface EsbuildBuild {
  readonly initialOptions: { keepNames?: boolean };
  // deno-lint-ignore no-explicit-any
  onResolve(options: { filter: RegExp }, callback: (args: any) => any): void;
  // deno-lint-ignore no-explicit-any
  resolve(path: string, options: any): Promise<{ errors: readonly unknown[] }>;
}

/** A plugin of esbuild. */
export interface EsbuildPlugin {
  /** Name in the bundler's messages. */
  readonly name: string;
  /** Called by esbuild. */
  setup(build: EsbuildBuild): void;
}

const NAME = "temporalex";
const notFound = (source: string, target: string, importer: string | undefined) =>
  `"${source}" resolves to "${target}", which ${
    importer ?? "the program"
  } cannot import: run \`npm install temporalex\` where the program is`;

/**
 * Returns the replacement of a specifier; undefined outside the official SDK. Throws for
 * unsupported packages.
 */
function findTarget(source: string): string | undefined {
  const found = findSubpath(source);
  if (found === undefined) return undefined;
  if ("refused" in found) throw new Error(found.refused);
  return `temporalex/${found.subpath}`;
}

/**
 * Returns a plugin for Rolldown, Rollup, Vite and Vitest. External modules (`external`) keep the
 * replaced name.
 *
 * @example
 * import { rolldownPlugin } from "temporalex/compat/plugin";
 * await build({ input: "src/client.ts", plugins: [rolldownPlugin()] });
 */
export function rolldownPlugin(): RolldownPlugin {
  return {
    name: NAME,
    enforce: "pre",
    // Vite appends this to the user's plugins.
    config: () => ({ worker: { plugins: () => [rolldownPlugin()] } }),
    outputOptions(options) {
      // Rollup does not rename functions and lacks the option.
      return this.meta.rolldownVersion === undefined
        ? options
        : { ...options, keepNames: options.keepNames ?? true };
    },
    async resolveId(source, importer, options) {
      const target = findTarget(source);
      if (target === undefined) return null;
      const resolved = await this.resolve(target, importer, { ...options, skipSelf: true });
      if (resolved === null || resolved === undefined) {
        throw new Error(notFound(source, target, importer));
      }
      return resolved;
    },
  };
}

/**
 * Returns a plugin for esbuild.
 *
 * @example
 * import { esbuildPlugin } from "temporalex/compat/plugin";
 * await build({ entryPoints: ["src/client.ts"], bundle: true, platform: "node", plugins: [esbuildPlugin()] });
 */
export function esbuildPlugin(): EsbuildPlugin {
  return {
    name: NAME,
    setup(build) {
      // Workflow types are function names, which a minifier must not change.
      build.initialOptions.keepNames ??= true;
      build.onResolve(
        { filter: /^@temporalio\// },
        async ({ path, importer, namespace, resolveDir, kind }) => {
          try {
            const target = findTarget(path);
            if (target === undefined) return undefined;
            const resolved = await build.resolve(target, { importer, namespace, resolveDir, kind });
            return resolved.errors.length === 0
              ? resolved
              : { errors: [{ text: notFound(path, target, importer) }] };
          } catch (error) {
            return { errors: [{ text: (error as Error).message }] };
          }
        },
      );
    },
  };
}
