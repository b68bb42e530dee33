// Evaluates a module graph inside a realm with the semantics of ES modules: each module once, after
// its imports; live namespaces; functions of cyclic imports exist before their module's body runs.
// Does not access the host. Modules of native workflows are evaluated once, those of
// `@temporalio/workflow` programs for each run: compiled once, called per evaluation.
import { errorText, isA, messageOf } from "../../converter/thrown.ts";
import { displayName, type Problem, WorkflowLoadError } from "./errors.ts";
import { describeImportRefusal, placeInModule } from "./evaluation_errors.ts";
import type { Dependency, LoadedModule, ModuleGraph } from "./module_graph.ts";
import {
  type ProbedSource,
  type ProbeFunctions,
  takingProbes,
} from "../../executor/program/line_probe.ts";
import type { Form } from "./module_code.ts";
import {
  define,
  IMPORTS,
  type Namespace,
  type NewView,
  READ,
  type View,
  viewClass,
} from "./module_view.ts";
import { type CjsFunction, type EsmFunction, ModuleScope } from "./module_scope.ts";
import type { HostModule, Provided } from "./resolve.ts";

export type { Namespace } from "./module_view.ts";

/** Notified of which module's code runs. */
export interface EvaluationListener {
  /** Called before code of the module runs or continues; undefined: evaluation has ended. */
  turnTo(module: LoadedModule | undefined): void;
  /** Called when it has run or thrown, or before a module that it requires runs. */
  left(module: LoadedModule): void;
}

/** A module that the realm provides: its exports for `import` and for `require`. */
export interface ProvidedModule {
  readonly namespace: Namespace;
  readonly required?: unknown;
}

export interface EvaluateOptions {
  /** The instances that the realm provides. */
  readonly provided: { readonly [module in Provided]?: ProvidedModule };
  /**
   * Returns the stand-in for a module of Node that a package imports, with the realm's part of it.
   */
  readonly hostModule?: (name: string, advice: string, part: object | undefined) => unknown;
  /**
   * Called around a module's evaluation for a run: blocked calls that it catches do not fail the
   * run.
   */
  readonly whileLoading?: <T>(work: () => T) => T;
  /** Returns the probe functions for a module with probes. */
  readonly probes?: (source: ProbedSource) => ProbeFunctions;
  /** Evaluates text: an indirect eval that was saved before the guard removed it. */
  readonly evaluate: (code: string) => unknown;
}

/** Passed to modules that are evaluated for a run. */
export interface RunScope {
  /** The run's global object, and a variant that throws for missing names. Created on first use. */
  readonly globals: { readonly global: object; readonly lookup: object };
  /** The object that rewritten code calls. */
  readonly helper: object;
}

/** Namespaces of modules that are evaluated for a run; each function evaluates them when called. */
interface RunNamespaces {
  converter(): Namespace | undefined;
  interceptors(): Namespace[];
  workflows(): Namespace[];
}

const UNPROBED: ProbeFunctions = [
  () => {},
  (_point, value) => value,
  () => {},
  (_point, value) => value,
  (_point, _index, value) => value,
  () => {},
];

const UNHEARD: EvaluationListener = { turnTo: () => {}, left: () => {} };

/** Marks exports of a CommonJS module that have a value for every name. */
const ANY_NAME = Symbol.for("temporalex.exports-any-name");

/** A graph whose modules are compiled on first evaluation. */
export class EvaluableGraph {
  readonly graph: ModuleGraph;
  readonly options: EvaluateOptions;
  readonly #functions: { readonly [form in Form]: unknown[] } = { shared: [], run: [] };
  readonly #views: NewView[] = [];
  readonly #probes: ProbeFunctions[] = [];

  constructor(graph: ModuleGraph, options: EvaluateOptions) {
    this.graph = graph;
    this.options = options;
  }

  readonly #hostModules = new Map<string, unknown>();

  /** Returns the stand-in for a module of Node: one per realm and part of the module. */
  hostModule({ name, advice }: HostModule, part: object | undefined): unknown {
    const key = `${name} ${part === undefined}`;
    if (!this.#hostModules.has(key)) {
      const make = this.options.hostModule ??
        ((_name: string, _advice: string, known: object | undefined) => known ?? {});
      this.#hostModules.set(key, make(name, advice, part));
    }
    return this.#hostModules.get(key);
  }

  /** Returns a view of an ES module's exports, for one evaluation. */
  view(index: number): View {
    const View = this.#views[index] ??= viewClass(this.graph.modules[index]!);
    return new View();
  }

  /** Returns the function of a module. */
  compiled(index: number, form: Form): unknown {
    const known = this.#functions[form][index];
    if (known !== undefined) return known;
    const { url, code, runCode, probes } = this.graph.modules[index]!;
    const own = form === "shared" ? code : runCode;
    const value = this.options.evaluate(
      `${probes === undefined ? own : takingProbes(own)}\n//# sourceURL=${url}`,
    );
    if (probes === undefined) return this.#functions[form][index] = value;
    // Both forms of a module share one set of points.
    const given = this.#probes[index] ??= this.options.probes?.(probes) ?? UNPROBED;
    return this.#functions[form][index] = (value as (...given: ProbeFunctions) => unknown)(
      ...given,
    );
  }

  /**
   * Returns the shared namespaces. Throws a WorkflowLoadError with its line if a module's code
   * throws.
   */
  evaluateShared(listener: EvaluationListener): Namespace[] {
    const evaluation = new Evaluation(this, listener, true, undefined);
    const namespaces = this.graph.entries.map((entry) => evaluation.run(entry, true));
    evaluation.evaluateImported();
    listener.turnTo(undefined);
    return namespaces;
  }

  /**
   * Returns the namespaces of the modules that are evaluated for each run, which share their
   * imports. With a listener, errors are reported as by `evaluateShared`.
   */
  evaluateForRun(scope: RunScope, listener?: EvaluationListener): RunNamespaces {
    const evaluation = new Evaluation(this, listener ?? UNHEARD, listener !== undefined, scope);
    // A listener needs the names.
    const imported = (entry: number) => evaluation.run(entry, listener !== undefined);
    const all = (entries: readonly number[], run = imported) => {
      const { whileLoading = (work: () => Namespace[]) => work() } = this.options;
      const namespaces = whileLoading(() => entries.map(run));
      listener?.turnTo(undefined);
      return namespaces;
    };
    const { runConverter, interceptorEntries, runEntries } = this.graph;
    return {
      converter: () => runConverter === undefined ? undefined : all([runConverter])[0],
      interceptors: () => all(interceptorEntries),
      // The official bundle requires workflow modules: the default of CommonJS is
      // `exports.default`.
      workflows: () => all(runEntries, (entry) => evaluation.required(entry) ?? imported(entry)),
    };
  }
}

class Evaluation {
  readonly #source: EvaluableGraph;
  readonly #graph: ModuleGraph;
  readonly #listener: EvaluationListener;
  readonly #places: boolean;
  readonly #scope: RunScope | undefined;
  readonly #namespaces: { [name: string]: unknown }[] = [];
  /** By index of the ES module. */
  readonly #views: View[] = [];
  /** By index of the CommonJS module, for importers that take its `exports.default`. */
  readonly #interop: ({ [name: string]: unknown } | undefined)[] = [];
  readonly #state: (undefined | "linked" | "running" | "done")[] = [];
  readonly #bodies: (Generator<void, void, void> | undefined)[] = [];
  /** `module.exports` by index of the CommonJS module. */
  readonly #cjs: ({ exports: unknown } | undefined)[] = [];
  /** Errors of modules that were evaluated late. */
  readonly #thrown = new Map<number, { readonly error: unknown }>();

  constructor(
    source: EvaluableGraph,
    listener: EvaluationListener,
    places: boolean,
    scope: RunScope | undefined,
  ) {
    this.#source = source;
    this.#graph = source.graph;
    this.#listener = listener;
    this.#places = places;
    this.#scope = scope;
  }

  /**
   * Returns the exports of an entry: its namespace, or, unless `whole`, an object without names.
   */
  run(entry: number, whole: boolean): Namespace {
    this.#instantiate(entry);
    this.#evaluate(entry);
    return whole ? this.#namespaceOf(entry) : this.#namesOf(entry);
  }

  /**
   * Evaluates an entry; returns the names for `require` of it, or undefined if it is not CommonJS.
   */
  required(entry: number): Namespace | undefined {
    if (this.#graph.modules[entry]!.kind !== "cjs") return undefined;
    const own = this.run(entry, true);
    const namespace = Object.create(null) as { [name: string]: unknown };
    for (const name of Object.keys(own)) {
      if (name !== "default") {
        define(namespace, name, () => own[name]);
      }
    }
    const { exports: value } = this.#cjs[entry]!;
    if (
      (typeof value === "object" || typeof value === "function") && value !== null &&
      "default" in value
    ) {
      define(namespace, "default", () => value.default);
    }
    return namespace;
  }

  #namespaceOf(index: number): { [name: string]: unknown } {
    const known = this.#namespaces[index];
    if (known !== undefined) return known;
    const namespace = Object.create(null, { [Symbol.toStringTag]: { value: "Module" } }) as {
      [name: string]: unknown;
    };
    this.#namespaces[index] = namespace;
    const { kind, exports, reexports } = this.#graph.modules[index]!;
    if (kind === "esm") {
      const view = this.#viewOf(index);
      for (const name of exports) define(namespace, name, () => view[name]);
      for (const [name] of reexports) define(namespace, name, () => view[name]);
    }
    return namespace;
  }

  #viewOf(index: number): View {
    return this.#views[index] ??= this.#source.view(index);
  }

  /**
   * Returns a module's exports. Only its namespace has names that ES modules take from CommonJS.
   */
  #namesOf(index: number): Namespace {
    const { kind, open } = this.#graph.modules[index]!;
    return kind === "esm" && open.length === 0 ? this.#viewOf(index) : this.#namespaceOf(index);
  }

  /** `whole`: the namespace is used as a value. */
  #namespace(dependency: Dependency, importer?: LoadedModule, whole = true): unknown {
    if ("module" in dependency) {
      const { kind } = this.#graph.modules[dependency.module]!;
      if (kind === "cjs" && importer?.takesDefault === true && this.#scope !== undefined) {
        return this.#interopOf(dependency.module);
      }
      return whole ? this.#namespaceOf(dependency.module) : this.#namesOf(dependency.module);
    }
    const { host } = dependency;
    const namespace = this.#provided(dependency)?.namespace;
    return host === undefined ? namespace : this.#source.hostModule(host, namespace);
  }

  #interopOf(index: number): { [name: string]: unknown } {
    let namespace = this.#interop[index];
    if (namespace === undefined) {
      namespace = this.#interop[index] = Object.create(null, {
        [Symbol.toStringTag]: { value: "Module" },
      }) as { [name: string]: unknown };
      if (this.#state[index] === "done") this.#fillInterop(index, namespace);
    }
    return namespace;
  }

  #fillInterop(index: number, namespace: { [name: string]: unknown }): void {
    const own = this.#namespaceOf(index);
    const value = this.#cjs[index]!.exports as
      | { readonly __esModule?: unknown; readonly default?: unknown }
      | null
      | undefined;
    const compiled = (typeof value === "object" || typeof value === "function") &&
      value?.__esModule === true;
    define(namespace, "default", () => compiled ? value.default : own["default"]);
    for (const name of Object.keys(own)) {
      if (name !== "default") {
        define(namespace, name, () => own[name]);
      }
    }
  }

  /** Returns what the realm provides for a dependency. */
  #provided(dependency: Dependency): ProvidedModule | undefined {
    if (
      !("provided" in dependency) ||
      (this.#scope === undefined && dependency.onlyForRuns !== undefined)
    ) return undefined;
    return this.#source.options.provided[dependency.provided];
  }

  /** First phase, over the whole graph: declares exports and hoists functions. */
  #instantiate(index: number): void {
    if (this.#state[index] !== undefined) return;
    this.#state[index] = "linked";
    const module = this.#graph.modules[index]!;
    for (const dependency of module.dependencies) {
      if ("module" in dependency) this.#instantiate(dependency.module);
    }
    if (module.kind !== "esm") return;
    const view = this.#viewOf(index);
    const scope = new ModuleScope(
      (read) => view[READ] = read,
      () => this.#requireOf(module),
      this.#importOf(module),
    );
    const { whole } = module;
    const imports = module.dependencies.map((dependency, i) =>
      this.#namespace(dependency, module, whole.includes(i))
    );
    view[IMPORTS] = imports;
    const body = (this.#compile(module, index) as EsmFunction)(scope, ...this.#given(), ...imports);
    this.#bodies[index] = body;
    this.#guarded(module, () => body.next());
  }

  /** Returns the arguments of a module of a run in addition to its imports. */
  #given(): unknown[] {
    return this.#scope === undefined ? [] : [this.#scope.globals, this.#scope.helper];
  }

  /** Second phase, depth first: runs the bodies. */
  #evaluate(index: number): void {
    if (this.#state[index] !== "linked") return;
    this.#state[index] = "running";
    const module = this.#graph.modules[index]!;
    if (module.kind === "json") {
      const parsed: unknown = JSON.parse(module.code);
      const value = this.#scope === undefined ? deepFreeze(parsed) : parsed;
      define(this.#namespaceOf(index), "default", () => value);
    } else if (module.kind === "cjs") this.#evaluateCjs(index, module);
    else {
      module.dependencies.forEach((dependency, i) => {
        if ("module" in dependency && !module.required.includes(i) && !module.dynamic.includes(i)) {
          this.#evaluate(dependency.module);
        }
      });
      this.#checkNames(module);
      for (const request of module.open) this.#openExports(index, module.dependencies[request]!);
      this.#listener.turnTo(module);
      this.#guarded(module, () => this.#bodies[index]!.next());
      this.#listener.left(module);
    }
    this.#state[index] = "done";
  }

  #requireOf(module: LoadedModule): (specifier: string) => unknown {
    return (specifier) => {
      const at = module.specifiers.findIndex((each, i) =>
        each === specifier &&
        (module.kind === "cjs" ? !module.dynamic.includes(i) : module.required.includes(i))
      );
      const dependency = module.dependencies[at];
      if (dependency === undefined) {
        throw new Error(
          `require(${JSON.stringify(specifier)}) in ${
            displayName(module.url)
          }: only requires of a literal name can be loaded`,
        );
      }
      if (!("module" in dependency)) {
        const provided = this.#provided(dependency);
        if (dependency.host !== undefined) {
          return this.#source.hostModule(
            dependency.host,
            (provided?.required ?? provided?.namespace) as object | undefined,
          );
        }
        if (provided !== undefined) return provided.required ?? provided.namespace;
        const why = "refused" in dependency ? dependency.refused : dependency.onlyForRuns;
        // Packages with optional dependencies test the code.
        throw Object.assign(new Error(`${displayName(module.url)}: ${why}`), {
          code: "MODULE_NOT_FOUND",
        });
      }
      this.#listener.left(module);
      this.#evaluate(dependency.module);
      this.#listener.turnTo(module);
      const other = this.#graph.modules[dependency.module]!;
      if (other.kind === "cjs") return this.#cjs[dependency.module]!.exports;
      return other.kind === "json"
        ? this.#namespaceOf(dependency.module)["default"]
        : this.#namespaceOf(dependency.module);
    };
  }

  /** `import()`: takes as many ticks as in the official bundle, two; the module is evaluated in the first. */
  #importOf(module: LoadedModule): (specifier: unknown) => Promise<unknown> {
    return (specifier) => {
      // Without a run, nothing could handle the effects of the module.
      if (this.#places && this.#scope !== undefined) return new Promise(() => {});
      const dependency = module
        .dependencies[
          module.specifiers.findIndex((each, i) => each === specifier && module.dynamic.includes(i))
        ];
      const load = () => {
        if (dependency === undefined || "refused" in dependency) {
          throw describeImportRefusal(specifier);
        }
        if ("module" in dependency) this.#evaluateLate(dependency.module);
        return this.#namespace(dependency, module);
      };
      // Without AsyncLocalStorage the reaction restores its frame itself.
      const { w: inFrame } = (this.#graph.restoreFrames ? this.#scope?.helper ?? {} : {}) as {
        w?: (reaction: typeof load) => typeof load;
      };
      return Promise.resolve().then(inFrame?.(load) ?? load);
    };
  }

  /** A module that throws does so again at its next import. */
  #evaluateLate(index: number): void {
    const thrown = this.#thrown.get(index);
    if (thrown !== undefined) throw thrown.error;
    try {
      this.#evaluate(index);
    } catch (error) {
      this.#thrown.set(index, { error });
      throw error;
    }
  }

  /** Evaluates `import()` of shared modules, so that no run's time, random numbers or state enter. */
  evaluateImported(): void {
    for (const [index, { dependencies, dynamic }] of this.#graph.modules.entries()) {
      if (this.#state[index] === undefined) continue;
      for (const request of dynamic) {
        const dependency = dependencies[request]!;
        if ("module" in dependency) this.#evaluate(dependency.module);
      }
    }
  }

  #evaluateCjs(index: number, module: LoadedModule): void {
    const holder = { exports: {} as unknown };
    this.#cjs[index] = holder;
    // Bundlers return a module name too, for options of the host, which workflow code does not
    // call.
    const resolve = (specifier: string): string => specifier;
    const require = Object.assign(this.#requireOf(module), {
      import: this.#importOf(module),
      resolve,
    });
    this.#listener.turnTo(module);
    this.#guarded(module, () => {
      (this.#compile(module, index) as CjsFunction).call(
        holder.exports,
        holder.exports as object,
        require,
        holder,
        ...this.#given(),
      );
    });
    this.#listener.left(module);
    const namespace = this.#namespaceOf(index);
    define(namespace, "default", () => holder.exports);
    const value = holder.exports;
    if ((typeof value === "object" || typeof value === "function") && value !== null) {
      const names = (value as { [ANY_NAME]?: unknown })[ANY_NAME] === true
        ? this.#wantedOf(index)
        : Object.keys(value);
      for (const name of names) {
        if (name !== "default" && !(name in namespace)) {
          define(namespace, name, () => (value as Namespace)[name]);
        }
      }
    }
    const interop = this.#interop[index];
    if (interop !== undefined) this.#fillInterop(index, interop);
  }

  /** Returns the names that other modules import from a module. */
  #wantedOf(index: number): string[] {
    return this.#graph.modules.flatMap(({ checks, dependencies }) =>
      checks.flatMap(([request, name]) => {
        const dependency = dependencies[request]!;
        return "module" in dependency && dependency.module === index ? [name] : [];
      })
    );
  }

  #openExports(index: number, dependency: Dependency): void {
    const from = this.#namespace(dependency) as Namespace;
    const namespace = this.#namespaceOf(index);
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
      const message = `imports "${name}" from "${
        module.specifiers[request]
      }", a CommonJS module that does not export it`;
      problems.push({
        code: "missing-export",
        file: displayName(module.url),
        line,
        column: 0,
        name,
        message,
      });
    }
    if (problems.length > 0) throw new WorkflowLoadError(problems);
  }

  #compile(module: LoadedModule, index: number): unknown {
    // The engine of the realm may be older than the syntax that the parser accepts.
    return this.#guarded(
      module,
      () => this.#source.compiled(index, this.#scope === undefined ? "shared" : "run"),
    );
  }

  /** Adds the place to errors of a module's own code during evaluation. */
  #guarded<T>(module: LoadedModule, run: () => T): T {
    try {
      return run();
    } catch (e) {
      // In a run, the error belongs to the run.
      if (e instanceof WorkflowLoadError || !this.#places) throw e;
      // The error may result from a blocked call, which is then reported instead.
      this.#listener.left(module);
      const { line, column } = placeInModule(e, module.url);
      const what = isA(e, Error) ? errorText(e) : `threw ${messageOf(e)}`;
      const message = `fails while it is loaded: ${what}`;
      throw new WorkflowLoadError([{
        code: "evaluation",
        file: displayName(module.url),
        line,
        column,
        name: "",
        message,
      }], {
        cause: e,
      });
    }
  }
}

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null) {
    for (const inner of Object.values(value)) deepFreeze(inner);
    Object.freeze(value);
  }
  return value;
}
