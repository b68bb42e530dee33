// Evaluates a module graph inside a realm, with the meaning that the language gives to ES modules: a module runs after those that it
// imports, once; namespaces are live; functions of a cyclic partner are there before its body has run. Nothing here touches the host.
import { errorText, isA, messageOf, stackOf } from "../../converter/thrown.ts";
import { displayName, type Problem, WorkflowLoadError } from "./errors.ts";
import type { Dependency, LoadedModule, ModuleGraph } from "./graph.ts";
import type { Provided } from "./resolve.ts";

export type Namespace = { readonly [name: string]: unknown };

/** Is told whose code runs. */
export interface EvaluationWatch {
  /** Code of the module is about to run, or to go on; undefined: no more will. */
  turnTo(module: LoadedModule | undefined): void;
  /** It has run, or thrown, or another module is about to run that it requires. */
  left(module: LoadedModule): void;
}

export interface EvaluateOptions {
  /** The realm's own instances. */
  readonly provided: { readonly [module in Provided]: Namespace };
  /** Turns text into a value: an indirect eval that was taken before a guard removed it. */
  readonly evaluate: (code: string) => unknown;
  readonly watch: EvaluationWatch;
}

/** What the module's function gets as its first argument. */
interface ModuleScope {
  exports(getters: { readonly [name: string]: () => unknown }): void;
  dynamicImport(specifier: unknown): never;
  readonly meta: object;
}

type EsmFunction = (scope: ModuleScope, ...imports: unknown[]) => Generator<void, void, void>;
type CjsFunction = (exports: object, require: (specifier: string) => unknown, module: { exports: unknown }) => void;

/** The namespaces of the entries. Throws a WorkflowLoadError that names file and line where a module's own code throws. */
export function evaluateGraph(graph: ModuleGraph, options: EvaluateOptions): Namespace[] {
  const evaluation = new Evaluation(graph, options);
  const namespaces = graph.entries.map((entry) => evaluation.run(entry));
  options.watch.turnTo(undefined);
  return namespaces;
}

class Evaluation {
  readonly #graph: ModuleGraph;
  readonly #options: EvaluateOptions;
  readonly #namespaces: { [name: string]: unknown }[];
  readonly #state: ("new" | "linked" | "running" | "done")[];
  readonly #bodies: (Generator<void, void, void> | undefined)[];
  /** `module.exports` of CommonJS modules. */
  readonly #cjs: ({ exports: unknown } | undefined)[];

  constructor(graph: ModuleGraph, options: EvaluateOptions) {
    this.#graph = graph;
    this.#options = options;
    this.#namespaces = graph.modules.map(() => Object.create(null, { [Symbol.toStringTag]: { value: "Module" } }));
    this.#state = graph.modules.map(() => "new");
    this.#bodies = graph.modules.map(() => undefined);
    this.#cjs = graph.modules.map(() => undefined);
  }

  run(entry: number): Namespace {
    this.#instantiate(entry);
    this.#evaluate(entry);
    return this.#namespaces[entry]!;
  }

  #namespace(dependency: Dependency): unknown {
    if ("module" in dependency) return this.#namespaces[dependency.module];
    return "provided" in dependency ? this.#options.provided[dependency.provided] : undefined;
  }

  /** First phase, over the whole graph: exports are declared and functions hoisted. */
  #instantiate(index: number): void {
    if (this.#state[index] !== "new") return;
    this.#state[index] = "linked";
    const module = this.#graph.modules[index]!;
    for (const dependency of module.dependencies) if ("module" in dependency) this.#instantiate(dependency.module);
    if (module.kind !== "esm") return;
    const namespace = this.#namespaces[index]!;
    const scope: ModuleScope = {
      exports: (getters) => {
        for (const [name, get] of Object.entries(getters)) define(namespace, name, get);
      },
      dynamicImport: (specifier) => {
        throw new Error(
          `import(${
            JSON.stringify(specifier)
          }) is not available in workflow code: use an import declaration, or load it in an activity`,
        );
      },
      meta: Object.freeze(Object.create(null)),
    };
    const imports = module.dependencies.map((dependency) => this.#namespace(dependency));
    const body = (this.#compile(module) as EsmFunction)(scope, ...imports);
    this.#bodies[index] = body;
    this.#guarded(module, () => body.next());
    for (const [exported, request, name] of module.reexports) {
      const from = imports[request] as Namespace;
      define(namespace, exported, name === "*" ? () => from : () => from[name]);
    }
  }

  /** Second phase, depth first: bodies run. */
  #evaluate(index: number): void {
    if (this.#state[index] !== "linked") return;
    this.#state[index] = "running";
    const module = this.#graph.modules[index]!;
    if (module.kind === "json") {
      const value: unknown = deepFreeze(JSON.parse(module.code));
      define(this.#namespaces[index]!, "default", () => value);
    } else if (module.kind === "cjs") this.#evaluateCjs(index, module);
    else {
      for (const dependency of module.dependencies) if ("module" in dependency) this.#evaluate(dependency.module);
      this.#checkNames(module);
      for (const request of module.open) this.#openExports(index, module.dependencies[request]!);
      this.#options.watch.turnTo(module);
      this.#guarded(module, () => this.#bodies[index]!.next());
      this.#options.watch.left(module);
    }
    this.#state[index] = "done";
  }

  #evaluateCjs(index: number, module: LoadedModule): void {
    const holder = { exports: {} as unknown };
    this.#cjs[index] = holder;
    const require = (specifier: string): unknown => {
      const at = module.specifiers.indexOf(specifier);
      const dependency = module.dependencies[at];
      if (dependency === undefined) {
        throw new Error(
          `require(${JSON.stringify(specifier)}) in ${displayName(module.url)}: only requires of a literal name can be loaded`,
        );
      }
      if ("refused" in dependency) throw new Error(`${displayName(module.url)}: ${dependency.refused}`);
      if ("provided" in dependency) return this.#options.provided[dependency.provided];
      this.#options.watch.left(module);
      this.#evaluate(dependency.module);
      this.#options.watch.turnTo(module);
      const other = this.#graph.modules[dependency.module]!;
      if (other.kind === "cjs") return this.#cjs[dependency.module]!.exports;
      return other.kind === "json" ? this.#namespaces[dependency.module]!["default"] : this.#namespaces[dependency.module];
    };
    this.#options.watch.turnTo(module);
    this.#guarded(
      module,
      () => (this.#compile(module) as CjsFunction).call(holder.exports, holder.exports as object, require, holder),
    );
    this.#options.watch.left(module);
    const namespace = this.#namespaces[index]!;
    define(namespace, "default", () => holder.exports);
    const value = holder.exports;
    if ((typeof value !== "object" && typeof value !== "function") || value === null) return;
    for (const name of Object.keys(value)) {
      if (name !== "default") define(namespace, name, () => (value as Namespace)[name]);
    }
  }

  #openExports(index: number, dependency: Dependency): void {
    const from = this.#namespace(dependency) as Namespace;
    const namespace = this.#namespaces[index]!;
    for (const name of Object.keys(from)) {
      if (name !== "default" && !(name in namespace)) {
        define(namespace, name, () => from[name]);
      }
    }
  }

  #checkNames(module: LoadedModule): void {
    const problems: Problem[] = [];
    for (const [request, name, line] of module.checks) {
      if (name in (this.#namespace(module.dependencies[request]!) as object)) continue;
      const message = `imports "${name}" from "${module.specifiers[request]}", a CommonJS module that does not export it`;
      problems.push({ code: "missing-export", file: displayName(module.url), line, column: 0, name, message });
    }
    if (problems.length > 0) throw new WorkflowLoadError(problems);
  }

  #compile(module: LoadedModule): unknown {
    // The realm's engine may be older than what the parser accepts.
    return this.#guarded(module, () => this.#options.evaluate(`${module.code}\n//# sourceURL=${module.url}`));
  }

  /** What a module's own code throws while it is loaded, with the place. */
  #guarded<T>(module: LoadedModule, run: () => T): T {
    try {
      return run();
    } catch (e) {
      if (e instanceof WorkflowLoadError) throw e;
      // It may have failed on what it did, and then that is what to say.
      this.#options.watch.left(module);
      const { line, column } = position(e, module.url);
      const what = isA(e, Error) ? errorText(e) : `threw ${messageOf(e)}`;
      const message = `fails while it is loaded: ${what}`;
      throw new WorkflowLoadError([{ code: "evaluation", file: displayName(module.url), line, column, name: "", message }], {
        cause: e,
      });
    }
  }
}

function define(namespace: object, name: string, get: () => unknown): void {
  Object.defineProperty(namespace, name, { get, enumerable: true, configurable: true });
}

/** Where in the module the error's stack passes. Deno writes evaluated code as "(<url>, <anonymous>:1:2)". */
function position(error: unknown, url: string): { line: number; column: number } {
  const stack = stackOf(error);
  const at = stack.indexOf(url);
  const match = at < 0 ? null : /^(?:, <anonymous>)?:(\d+):(\d+)/.exec(stack.slice(at + url.length));
  return match === null ? { line: 0, column: 0 } : { line: Number(match[1]), column: Number(match[2]) };
}

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null) {
    for (const inner of Object.values(value)) deepFreeze(inner);
    Object.freeze(value);
  }
  return value;
}
