// Evaluates a module graph inside a realm, with the meaning that the language gives to ES modules: a module runs after those that it
// imports, once; namespaces are live; functions of a cyclic partner are there before its body has run. Nothing here touches the host.
//
// Modules of native workflows are evaluated once. Those of `@temporalio/workflow` programs are evaluated for each run: their text is compiled
// once, and an evaluation costs a call per module.
import { errorText, isA, messageOf } from "../../converter/thrown.ts";
import { displayName, type Problem, WorkflowLoadError } from "./errors.ts";
import { describeImportRefusal, placeInModule } from "./evaluation_errors.ts";
import type { Dependency, LoadedModule, ModuleGraph } from "./graph.ts";
import { type ProbedSource, type ProbeFunctions, takingProbes } from "../../executor/program/line_probe.ts";
import type { Form } from "./module_code.ts";
import { define, IMPORTS, type Namespace, type NewView, READ, type ReadExport, type View, viewClass } from "./module_view.ts";
import type { HostModule, Provided } from "./resolve.ts";

export type { Namespace } from "./module_view.ts";

/** Is told whose code runs. */
export interface EvaluationListener {
  /** Code of the module is about to run, or to go on; undefined: no more will. */
  turnTo(module: LoadedModule | undefined): void;
  /** It has run, or thrown, or another module is about to run that it requires. */
  left(module: LoadedModule): void;
}

/** A module of the realm's own: what `import` and what `require` gives. */
export interface ProvidedModule {
  readonly namespace: Namespace;
  readonly required?: unknown;
}

export interface EvaluateOptions {
  /** The realm's own instances. */
  readonly provided: { readonly [module in Provided]?: ProvidedModule };
  /** The stand-in for a module of Node that a package imports; with what the realm has of it. */
  readonly hostModule?: (name: string, advice: string, part: object | undefined) => unknown;
  /** Around the evaluation of modules for a run: what they are refused and catch is no failure of the run. */
  readonly whileLoading?: <T>(work: () => T) => T;
  /** What a module with probes is given. */
  readonly probes?: (source: ProbedSource) => ProbeFunctions;
  /** Turns text into a value: an indirect eval that was taken before a guard removed it. */
  readonly evaluate: (code: string) => unknown;
}

/** What modules get that are evaluated for a run. */
export interface RunScope {
  /** The run's global object, and the same, but that it throws for names which it lacks. They are made when they are asked for. */
  readonly globals: { readonly global: object; readonly lookup: object };
  /** What rewritten code calls. */
  readonly helper: object;
}

/** What the module's function gets as its first argument. */
class ModuleScope {
  readonly exports: (read: ReadExport) => void;
  /** `import()`. */
  readonly dynamicImport: (specifier: unknown) => Promise<unknown>;
  readonly #require: () => (specifier: string) => unknown;
  #meta: object | undefined;

  constructor(
    exports: (read: ReadExport) => void,
    require: () => (specifier: string) => unknown,
    dynamicImport: (specifier: unknown) => Promise<unknown>,
  ) {
    this.exports = exports;
    this.dynamicImport = dynamicImport;
    this.#require = require;
  }

  require(specifier: string): unknown {
    return this.#require()(specifier);
  }

  get meta(): object {
    return this.#meta ??= Object.freeze(Object.create(null)) as object;
  }
}

type EsmFunction = (scope: ModuleScope, ...imports: unknown[]) => Generator<void, void, void>;
type CjsFunction = (
  exports: object,
  require: (specifier: string) => unknown,
  module: { exports: unknown },
  ...more: unknown[]
) => void;

/** What is evaluated for a run, each part when it is called. */
interface RunNamespaces {
  converter(): Namespace | undefined;
  interceptors(): Namespace[];
  workflows(): Namespace[];
}

const UNPROBED: ProbeFunctions = [() => {}, (_point, value) => value, () => {}];

const UNHEARD: EvaluationListener = { turnTo: () => {}, left: () => {} };

/** Of a CommonJS module's exports: there is something under every name. */
const ANY_NAME = Symbol.for("temporalex.exports-any-name");

/** A graph whose modules are compiled when they are first evaluated. */
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

  /** The stand-in for a module of Node; one for the whole realm, as far as the realm has one part of it. */
  hostModule({ name, advice }: HostModule, part: object | undefined): unknown {
    const key = `${name} ${part === undefined}`;
    if (!this.#hostModules.has(key)) {
      const make = this.options.hostModule ?? ((_name: string, _advice: string, known: object | undefined) => known ?? {});
      this.#hostModules.set(key, make(name, advice, part));
    }
    return this.#hostModules.get(key);
  }

  /** A view of an ES module's exports, for one evaluation. */
  view(index: number): View {
    const View = this.#views[index] ??= viewClass(this.graph.modules[index]!);
    return new View();
  }

  /** The function of a module. */
  compiled(index: number, form: Form): unknown {
    const known = this.#functions[form][index];
    if (known !== undefined) return known;
    const { url, code, runCode, probes } = this.graph.modules[index]!;
    const own = form === "shared" ? code : runCode;
    const value = this.options.evaluate(`${probes === undefined ? own : takingProbes(own)}\n//# sourceURL=${url}`);
    if (probes === undefined) return this.#functions[form][index] = value;
    // A module in both forms has one set of points.
    const given = this.#probes[index] ??= this.options.probes?.(probes) ?? UNPROBED;
    return this.#functions[form][index] = (value as (...given: ProbeFunctions) => unknown)(...given);
  }

  /** The namespaces of the entries that all runs share. Throws a WorkflowLoadError that names file and line where a module's own code throws. */
  evaluateShared(listener: EvaluationListener): Namespace[] {
    const evaluation = new Evaluation(this, listener, true, undefined);
    const namespaces = this.graph.entries.map((entry) => evaluation.run(entry, true));
    evaluation.evaluateImported();
    listener.turnTo(undefined);
    return namespaces;
  }

  /**
   * The namespaces of what is evaluated for each run: the converter's, interceptors' and workflows', which share what they import. With a
   * listener, what modules throw is told as by `evaluateShared`.
   */
  evaluateForRun(scope: RunScope, listener?: EvaluationListener): RunNamespaces {
    const evaluation = new Evaluation(this, listener ?? UNHEARD, listener !== undefined, scope);
    // A listener asks for the names.
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
      // The official bundle requires the modules of workflows: the default of CommonJS is `exports.default`.
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
  /** Of ES modules. */
  readonly #views: View[] = [];
  /** Of CommonJS modules, for modules that take their `exports.default`. */
  readonly #interop: ({ [name: string]: unknown } | undefined)[] = [];
  readonly #state: (undefined | "linked" | "running" | "done")[] = [];
  readonly #bodies: (Generator<void, void, void> | undefined)[] = [];
  /** `module.exports` of CommonJS modules. */
  readonly #cjs: ({ exports: unknown } | undefined)[] = [];
  /** What modules threw that were evaluated late. */
  readonly #thrown = new Map<number, { readonly error: unknown }>();

  constructor(source: EvaluableGraph, listener: EvaluationListener, places: boolean, scope: RunScope | undefined) {
    this.#source = source;
    this.#graph = source.graph;
    this.#listener = listener;
    this.#places = places;
    this.#scope = scope;
  }

  /** What an entry exports: its namespace, or (not `whole`) something with its names that cannot say which they are. */
  run(entry: number, whole: boolean): Namespace {
    this.#instantiate(entry);
    this.#evaluate(entry);
    return whole ? this.#namespaceOf(entry) : this.#namesOf(entry);
  }

  /** Evaluates an entry and returns the names that `require` of it has; undefined for a module that is not CommonJS. */
  required(entry: number): Namespace | undefined {
    if (this.#graph.modules[entry]!.kind !== "cjs") return undefined;
    const own = this.run(entry, true);
    const namespace = Object.create(null) as { [name: string]: unknown };
    for (const name of Object.keys(own)) if (name !== "default") define(namespace, name, () => own[name]);
    const { exports: value } = this.#cjs[entry]!;
    if ((typeof value === "object" || typeof value === "function") && value !== null && "default" in value) {
      define(namespace, "default", () => value.default);
    }
    return namespace;
  }

  #namespaceOf(index: number): { [name: string]: unknown } {
    const known = this.#namespaces[index];
    if (known !== undefined) return known;
    const namespace = Object.create(null, { [Symbol.toStringTag]: { value: "Module" } }) as { [name: string]: unknown };
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

  /** What has a module's names. Those that an ES module takes from CommonJS are known to its namespace alone. */
  #namesOf(index: number): Namespace {
    const { kind, open } = this.#graph.modules[index]!;
    return kind === "esm" && open.length === 0 ? this.#viewOf(index) : this.#namespaceOf(index);
  }

  /** `whole`: it is used as a value. */
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
    const value = this.#cjs[index]!.exports as { readonly __esModule?: unknown; readonly default?: unknown } | null | undefined;
    const compiled = (typeof value === "object" || typeof value === "function") && value?.__esModule === true;
    define(namespace, "default", () => compiled ? value.default : own["default"]);
    for (const name of Object.keys(own)) if (name !== "default") define(namespace, name, () => own[name]);
  }

  /** What the realm has for a dependency. */
  #provided(dependency: Dependency): ProvidedModule | undefined {
    if (!("provided" in dependency) || (this.#scope === undefined && dependency.onlyForRuns !== undefined)) return undefined;
    return this.#source.options.provided[dependency.provided];
  }

  /** First phase, over the whole graph: exports are declared and functions hoisted. */
  #instantiate(index: number): void {
    if (this.#state[index] !== undefined) return;
    this.#state[index] = "linked";
    const module = this.#graph.modules[index]!;
    for (const dependency of module.dependencies) if ("module" in dependency) this.#instantiate(dependency.module);
    if (module.kind !== "esm") return;
    const view = this.#viewOf(index);
    const scope = new ModuleScope((read) => view[READ] = read, () => this.#requireOf(module), this.#importOf(module));
    const { whole } = module;
    const imports = module.dependencies.map((dependency, i) => this.#namespace(dependency, module, whole.includes(i)));
    view[IMPORTS] = imports;
    const body = (this.#compile(module, index) as EsmFunction)(scope, ...this.#given(), ...imports);
    this.#bodies[index] = body;
    this.#guarded(module, () => body.next());
  }

  /** What a module of a run gets beside its imports. */
  #given(): unknown[] {
    return this.#scope === undefined ? [] : [this.#scope.globals, this.#scope.helper];
  }

  /** Second phase, depth first: bodies run. */
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
        each === specifier && (module.kind === "cjs" ? !module.dynamic.includes(i) : module.required.includes(i))
      );
      const dependency = module.dependencies[at];
      if (dependency === undefined) {
        throw new Error(
          `require(${JSON.stringify(specifier)}) in ${displayName(module.url)}: only requires of a literal name can be loaded`,
        );
      }
      if (!("module" in dependency)) {
        const provided = this.#provided(dependency);
        if (dependency.host !== undefined) {
          return this.#source.hostModule(dependency.host, (provided?.required ?? provided?.namespace) as object | undefined);
        }
        if (provided !== undefined) return provided.required ?? provided.namespace;
        const why = "refused" in dependency ? dependency.refused : dependency.onlyForRuns;
        // Packages that do without a module look at the code.
        throw Object.assign(new Error(`${displayName(module.url)}: ${why}`), { code: "MODULE_NOT_FOUND" });
      }
      this.#listener.left(module);
      this.#evaluate(dependency.module);
      this.#listener.turnTo(module);
      const other = this.#graph.modules[dependency.module]!;
      if (other.kind === "cjs") return this.#cjs[dependency.module]!.exports;
      return other.kind === "json" ? this.#namespaceOf(dependency.module)["default"] : this.#namespaceOf(dependency.module);
    };
  }

  /**
   * `import()` of a module. The promise takes the ticks that it takes in the official bundle: two to go on behind its await. The module is
   * evaluated in the first of them.
   */
  #importOf(module: LoadedModule): (specifier: unknown) => Promise<unknown> {
    return (specifier) => {
      // Evaluated for no run: by then nobody would look after what it does.
      if (this.#places && this.#scope !== undefined) return new Promise(() => {});
      const dependency =
        module.dependencies[module.specifiers.findIndex((each, i) => each === specifier && module.dynamic.includes(i))];
      const load = () => {
        if (dependency === undefined || "refused" in dependency) throw describeImportRefusal(specifier);
        if ("module" in dependency) this.#evaluateLate(dependency.module);
        return this.#namespace(dependency, module);
      };
      // Without AsyncLocalStorage the reaction has to bring its frame itself.
      const { w: inFrame } = (this.#graph.restoreFrames ? this.#scope?.helper ?? {} : {}) as {
        w?: (reaction: typeof load) => typeof load;
      };
      return Promise.resolve().then(inFrame?.(load) ?? load);
    };
  }

  /** One that throws does so again at its next import. */
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

  /** What is imported by `import()`, of modules that runs share: no run's time, random numbers or state may come into them. */
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
    // A module's name instead of a path, as bundlers give it: it stands for the module to the host's options, which workflow code does not call.
    const resolve = (specifier: string): string => specifier;
    const require = Object.assign(this.#requireOf(module), { import: this.#importOf(module), resolve });
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
      const names = (value as { [ANY_NAME]?: unknown })[ANY_NAME] === true ? this.#wantedOf(index) : Object.keys(value);
      for (const name of names) {
        if (name !== "default" && !(name in namespace)) define(namespace, name, () => (value as Namespace)[name]);
      }
    }
    const interop = this.#interop[index];
    if (interop !== undefined) this.#fillInterop(index, interop);
  }

  /** What others import from a module by name. */
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
      const message = `imports "${name}" from "${module.specifiers[request]}", a CommonJS module that does not export it`;
      problems.push({ code: "missing-export", file: displayName(module.url), line, column: 0, name, message });
    }
    if (problems.length > 0) throw new WorkflowLoadError(problems);
  }

  #compile(module: LoadedModule, index: number): unknown {
    // The realm's engine may be older than what the parser accepts.
    return this.#guarded(module, () => this.#source.compiled(index, this.#scope === undefined ? "shared" : "run"));
  }

  /** What a module's own code throws while it is loaded, with the place. */
  #guarded<T>(module: LoadedModule, run: () => T): T {
    try {
      return run();
    } catch (e) {
      // In a run it is the run's own error.
      if (e instanceof WorkflowLoadError || !this.#places) throw e;
      // It may have failed on what it did, and then that is what to say.
      this.#listener.left(module);
      const { line, column } = placeInModule(e, module.url);
      const what = isA(e, Error) ? errorText(e) : `threw ${messageOf(e)}`;
      const message = `fails while it is loaded: ${what}`;
      throw new WorkflowLoadError([{ code: "evaluation", file: displayName(module.url), line, column, name: "", message }], {
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
