// Plugins for bundlers: what a program imports from `@temporalio` is resolved to the modules of "temporalex/compat", from where the program
// lies. They resolve names and nothing else; types of the bundlers are not needed to compile against this module.
import { doorOf } from "../doors/names.ts";

/** What the plugins ask of Vite, Rolldown and Rollup. */
interface BundlerContext {
  readonly meta: { readonly rolldownVersion?: string };
  resolve(source: string, importer: string | undefined, options: object): Promise<unknown>;
}

/** A plugin of Vite, Rolldown and Rollup. */
export interface RolldownPlugin {
  /** What the bundler's messages call it. */
  readonly name: string;
  /** Vite: before its own resolution, which would look for the official packages. */
  readonly enforce: "pre";
  /** Vite: its builds of workers (`new Worker(new URL(...))`) have plugins of their own, and get this one. */
  config(): { readonly worker: { plugins(): RolldownPlugin[] } };
  /** Rolldown: functions keep their names under a minifier, unless `keepNames` says otherwise. Types of workflows are names of functions. */
  outputOptions(this: BundlerContext, options: { keepNames?: boolean }): object;
  /** Resolves a name of the official SDK. */
  resolveId(this: BundlerContext, source: string, importer: string | undefined, options: object): Promise<unknown>;
}

/** What the plugin asks of esbuild. */
interface EsbuildBuild {
  readonly initialOptions: { keepNames?: boolean };
  // deno-lint-ignore no-explicit-any
  onResolve(options: { filter: RegExp }, callback: (args: any) => any): void;
  // deno-lint-ignore no-explicit-any
  resolve(path: string, options: any): Promise<{ errors: readonly unknown[] }>;
}

/** A plugin of esbuild. */
export interface EsbuildPlugin {
  /** What the bundler's messages call it. */
  readonly name: string;
  /** Called by esbuild. */
  setup(build: EsbuildBuild): void;
}

const NAME = "temporalex";
const notFound = (source: string, target: string, importer: string | undefined) =>
  `"${source}" stands for "${target}", which ${
    importer ?? "the program"
  } cannot import: run \`npm install temporalex\` where the program is`;

/** Returns the name that stands for a specifier; undefined for one that is not of the official SDK. Throws for what has none here. */
function targetOf(source: string): string | undefined {
  const door = doorOf(source);
  if (door === undefined) return undefined;
  if ("refused" in door) throw new Error(door.refused);
  return `temporalex/${door.subpath}`;
}

/**
 * Returns a plugin for Rolldown, Rollup, Vite and Vitest. What one of them leaves out of the bundle (`external`), it leaves out by its name
 * here.
 *
 * @example
 * import { rolldownPlugin } from "temporalex/compat/plugin";
 * await build({ input: "src/client.ts", plugins: [rolldownPlugin()] });
 */
export function rolldownPlugin(): RolldownPlugin {
  return {
    name: NAME,
    enforce: "pre",
    // (Vite appends to the plugins that the user gives.)
    config: () => ({ worker: { plugins: () => [rolldownPlugin()] } }),
    outputOptions(options) {
      // (Rollup does not rename functions, and does not know the option.)
      return this.meta.rolldownVersion === undefined ? options : { ...options, keepNames: options.keepNames ?? true };
    },
    async resolveId(source, importer, options) {
      const target = targetOf(source);
      if (target === undefined) return null;
      const resolved = await this.resolve(target, importer, { ...options, skipSelf: true });
      if (resolved === null || resolved === undefined) throw new Error(notFound(source, target, importer));
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
      // Types of workflows are names of functions: a minifier must not change them.
      build.initialOptions.keepNames ??= true;
      build.onResolve({ filter: /^@temporalio\// }, async ({ path, importer, namespace, resolveDir, kind }) => {
        try {
          const target = targetOf(path);
          if (target === undefined) return undefined;
          const resolved = await build.resolve(target, { importer, namespace, resolveDir, kind });
          return resolved.errors.length === 0 ? resolved : { errors: [{ text: notFound(path, target, importer) }] };
        } catch (error) {
          return { errors: [{ text: (error as Error).message }] };
        }
      });
    },
  };
}
