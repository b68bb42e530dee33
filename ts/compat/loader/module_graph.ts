// Loads the modules of one program of the official API and makes fresh instances of them: such modules are evaluated once per run, as
// the official SDK does, so their top-level variables belong to the run. Each module becomes a factory function that is compiled once;
// an instance costs one call per module. Specifiers are resolved here and nowhere else: the official package names map to this
// folder's modules, relative ones to the program's own files, and everything else is refused with the importing file.
import { init as initLexer, parse as lex } from "es-module-lexer/js";
import { transform } from "sucrase";
import type { SlotContext } from "../context.ts";
import { type RewriteHelper, rewriteHelper } from "./helper.ts";
import { rewriteModule } from "./rewrite.ts";

/** Where the program's files come from. */
export interface ModuleSource {
  /** The text of a file of the program. Throws when there is none. */
  read(file: string): string | Promise<string>;
  /** The file that a relative specifier means; undefined when there is none. */
  resolve(specifier: string, importer: string): string | undefined;
}

/** Compiles a function of the named parameters. Hosts without eval give one that imports a module made of the text. */
export type CompileFunction = (
  parameters: readonly string[],
  body: string,
  file: string,
) => ModuleFactory | Promise<ModuleFactory>;
// deno-lint-ignore no-explicit-any
export type ModuleFactory = (...args: any[]) => void;

export interface ModuleGraphOptions {
  /** What the bare specifiers mean, for example "@temporalio/workflow". */
  packages: { readonly [specifier: string]: object };
  /** Names that modules see instead of the host's globals. */
  globals: { readonly [name: string]: unknown };
  /** Given: the context is this slot, and every module is rewritten to keep it right. */
  slot?: SlotContext;
  compile?: CompileFunction;
}

/** A module of the program cannot be loaded; the message names it and its importer. */
export class ModuleLoadError extends Error {
  override name = "ModuleLoadError";
}

type Exports = { [name: string]: unknown };

interface Compiled {
  factory: ModuleFactory;
  /** Files by the relative specifiers that the module uses. */
  imports: Map<string, string>;
}

/** Compiles with the host's eval, so that lines in stack traces are those of the file. */
export const compileWithEval: CompileFunction = (parameters, body, file) =>
  (0, eval)(`(function(${parameters.join(",")}){${body}\n})\n//# sourceURL=${file}`) as ModuleFactory;

const GIVEN = ["exports", "require", "module", "$tx"] as const;

export class ModuleGraph {
  readonly #options: ModuleGraphOptions;
  readonly #helper: RewriteHelper;
  readonly #names: string[];
  readonly #values: unknown[];
  readonly #packages = new Map<string, Exports>();
  readonly #compiled = new Map<string, Compiled>();
  #entry = "";

  private constructor(options: ModuleGraphOptions) {
    this.#options = options;
    this.#helper = rewriteHelper(options.slot);
    this.#names = [...GIVEN, ...Object.keys(options.globals)];
    this.#values = Object.values(options.globals);
    for (const [name, module] of Object.entries(options.packages)) {
      this.#packages.set(name, Object.freeze(Object.assign(Object.create(null), module, { __esModule: true })));
    }
  }

  /** Reads and compiles the entry and everything that it imports. Evaluates nothing. */
  static async load(entry: string, source: ModuleSource, options: ModuleGraphOptions): Promise<ModuleGraph> {
    const graph = new ModuleGraph(options);
    graph.#entry = entry;
    const waiting = [entry];
    while (waiting.length > 0) {
      const file = waiting.shift()!;
      if (graph.#compiled.has(file)) continue;
      const compiled = await graph.#compile(file, await source.read(file), source);
      graph.#compiled.set(file, compiled);
      waiting.push(...compiled.imports.values());
    }
    return graph;
  }

  async #compile(file: string, text: string, source: ModuleSource): Promise<Compiled> {
    const common = { disableESTransforms: true, filePath: file, preserveDynamicImport: true } as const;
    const esm = transform(text, { ...common, transforms: ["typescript"] }).code;
    await initLexer();
    const imports = new Map<string, string>();
    for (const found of lex(esm, file)[0]) {
      if (found.type === "import-meta") throw new ModuleLoadError(`${file} uses import.meta, which workflow code does not have`);
      if (found.type !== "static" && found.type !== "reexport-star") {
        throw new ModuleLoadError(`${file} uses import(): workflow modules are loaded before the workflow starts`);
      }
      const { specifier } = found;
      this.#checkNames(specifier, esm.slice(found.importStart, found.importEnd), file);
      if (this.#packages.has(specifier) || imports.has(specifier)) continue;
      const target = /^\.{0,2}\//.test(specifier) ? source.resolve(specifier, file) : undefined;
      if (target === undefined) throw new ModuleLoadError(refusal(specifier, file));
      imports.set(specifier, target);
    }
    let script = transform(esm, { ...common, transforms: ["imports"] }).code;
    // The official bundler compiles TypeScript, and takes JavaScript and packages as they are.
    const compileGenerators = file.endsWith(".ts") && !file.includes("/node_modules/");
    script = rewriteModule(script, file, { compileGenerators, restoreFrames: this.#options.slot !== undefined });
    const factory = await (this.#options.compile ?? compileWithEval)(this.#names, script, file);
    return { factory, imports };
  }

  /** A name that a package has not got is found when the module is loaded, not when the workflow comes to it. */
  #checkNames(specifier: string, statement: string, file: string): void {
    const names = /^import\b[^{"']*\{([^}]*)\}/.exec(statement)?.[1];
    const has = this.#packages.get(specifier);
    if (names === undefined || has === undefined) return;
    const missing = names.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "").split(",")
      .map((each) => each.trim().split(/\s/)[0]!)
      .filter((name) => name !== "" && !(name in has));
    if (missing.length === 0) return;
    throw new ModuleLoadError(
      `${file} imports ${missing.join(", ")} from ${specifier}, which ${
        missing.length === 1 ? "is" : "are"
      } not available here yet`,
    );
  }

  /** Evaluates the modules afresh; answers the exports of the entry. Call it inside the run that they are for. */
  instantiate(): Exports {
    const modules = new Map<string, { exports: Exports }>();
    const load = (file: string): Exports => {
      const seen = modules.get(file);
      if (seen !== undefined) return seen.exports;
      const compiled = this.#compiled.get(file)!;
      const module = { exports: {} as Exports };
      modules.set(file, module);
      const require = (specifier: string): Exports => {
        const target = compiled.imports.get(specifier);
        const found = target === undefined ? this.#packages.get(specifier) : load(target);
        if (found === undefined) throw new ModuleLoadError(refusal(specifier, file));
        return found;
      };
      compiled.factory.call(undefined, module.exports, require, module, this.#helper, ...this.#values);
      return module.exports;
    };
    return load(this.#entry);
  }
}

function refusal(specifier: string, importer: string): string {
  if (/^(node|deno|bun):/.test(specifier)) {
    return `${importer} imports ${specifier}: workflow code must be deterministic, so it cannot use the platform; do that in an activity`;
  }
  return `${importer} imports ${specifier}, which cannot be found or is not available to workflow code`;
}
