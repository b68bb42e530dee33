// Loads a module graph: every module compiled, resolved and checked. All problems are reported at
// once. An entry that reaches "temporalex/workflow" is evaluated once per
// realm; one that reaches `@temporalio/*`, or neither, is evaluated for each run; one that reaches
// both, in both ways, and so are its imports.
import {
  type CompiledModule,
  EMPTY_UNIT,
  type Form,
  howOf,
  type ModuleKind,
  type ModuleUnit,
  readKey,
} from "./module_code.ts";
import { linkPackageImports, NOT_LOADED } from "./dynamic_imports.ts";
import type { Dependency, LoadedModule, ModuleGraph } from "./module_graph.ts";
import { foldWarnings } from "./warnings.ts";
import { type ParsedModules, parsedUnit } from "./parsed_modules.ts";
import { originsOf } from "./source_origins.ts";
import { displayName, type Problem, WorkflowLoadError } from "./errors.ts";
import { EMPTY_MODULE, type ModuleResolver, type Provided, Resolver } from "./resolve.ts";
import type { SourceHost } from "./source_host.ts";
import { IS_TS } from "./strip.ts";
import { importedChange, madeState } from "./state.ts";

export interface LoadOptions {
  /** Returns the names that a module of the realm exports. */
  readonly provided: (module: Provided) => readonly string[];
  readonly host: SourceHost;
  /** Default: the rules of Node over the host's files. */
  readonly resolver?: ModuleResolver;
  /** Returns the text of a module of a bundle, without types; undefined for others. */
  readonly bundled?: (url: string) => string | undefined;
  /** Indices of entries that are evaluated once whatever they import: the converter's module. */
  readonly once?: readonly number[];
  /** Indices of entries that export interceptors of `@temporalio/workflow` programs. */
  readonly interceptors?: readonly number[];
  /** The realm has no AsyncLocalStorage. */
  readonly restoreFrames?: boolean;
  /**
   * Set in debug sessions: modules get probes. Returns the lines at which variables are read as
   * well.
   */
  readonly probes?: (url: string) => ReadonlySet<number>;
  /**
   * Modules parsed for an earlier graph, by address; reused for the same text. New ones are added.
   */
  readonly parsed?: ParsedModules;
}

interface Node {
  readonly url: string;
  readonly foreign: boolean;
  /** The first import of it: file and line. */
  readonly importer: { readonly index: number; readonly line: number } | undefined;
  readonly unit: ModuleUnit;
  readonly dependencies: Dependency[];
  /** Problems of resolving. */
  readonly problems: Problem[];
  readonly compiled: { [form in Form]?: CompiledModule };
}

/**
 * Loads the modules at `entries` (URLs) and their imports. Throws a WorkflowLoadError with all
 * problems.
 */
export function loadGraph(entries: readonly string[], options: LoadOptions): ModuleGraph {
  return new Loader(options).load(entries);
}

/** A module of a valid graph, as a bundle needs it. */
export interface ModuleText {
  readonly url: string;
  readonly kind: ModuleKind;
  /** Text without types. */
  readonly text: string;
  readonly requests: ModuleUnit["requests"];
  readonly takesDefault: boolean;
  /** The dependency of each request, in the same order. */
  readonly dependencies: readonly Dependency[];
}

/**
 * Returns the modules of the graph before compilation, in discovery order. Throws like `loadGraph`.
 */
export function loadTexts(
  entries: readonly string[],
  options: LoadOptions,
): {
  readonly modules: readonly ModuleText[];
  readonly entries: readonly number[];
  readonly warnings: readonly Problem[];
} {
  const loader = new Loader(options);
  const { warnings } = loader.load(entries);
  return { modules: loader.texts(), entries: loader.named, warnings };
}

class Loader {
  readonly #options: LoadOptions;
  readonly #host: SourceHost;
  readonly #resolver: ModuleResolver;
  readonly #nodes: Node[] = [];
  readonly #byUrl = new Map<string, number>();
  readonly #problems: Problem[] = [];
  readonly #warnings: Problem[] = [];
  /** Modules whose state is shared by all runs. */
  #sharedByRuns: ReadonlySet<number> = new Set();
  /** Indices of the modules that were named. */
  named: readonly number[] = [];

  constructor(options: LoadOptions) {
    this.#options = options;
    this.#host = options.host;
    this.#resolver = options.resolver ?? new Resolver(options.host);
  }

  load(urls: readonly string[]): ModuleGraph {
    const indices = this.named = urls.map((url) => this.#entry(url));
    linkPackageImports(this.#nodes, this.#resolver, (url) => this.#byUrl.get(url));
    const entries: number[] = [], runEntries: number[] = [], interceptorEntries: number[] = [];
    for (const [i, index] of indices.entries()) {
      if (index < 0) continue;
      if (this.#options.interceptors?.includes(i) === true) {
        interceptorEntries.push(index);
        continue;
      }
      const once = this.#options.once?.includes(i) === true;
      const { native, temporal } = this.#dialects(index);
      if (once || native) entries.push(index);
      if (!once && (temporal || !native)) runEntries.push(index);
    }
    // Native programs and their converter are evaluated once; then `once` lists all entries.
    const runConverter = runEntries.length === 0
      ? undefined
      : indices[this.#options.once?.[0] ?? -1];
    // Otherwise the converter is evaluated only for runs: its module may test whether there is one.
    if (runConverter !== undefined && entries.every((entry) => entry === runConverter)) {
      entries.length = 0;
    }
    this.#compile(entries, "shared");
    // Native workflows have no interceptors: without others, those modules are not evaluated.
    if (runEntries.length === 0) interceptorEntries.length = 0;
    const beside = runConverter === undefined || runConverter < 0 ? [] : [runConverter];
    this.#compile([...interceptorEntries, ...runEntries, ...beside], "run");
    // If the converter is evaluated for each run as well, no run shares the state of its other
    // evaluation.
    this.#sharedByRuns = this.#reach(entries.filter((entry) => !beside.includes(entry)));
    this.#collect();
    // Only in a valid graph: a missing file would be reported once per name imported from it.
    if (this.#problems.length === 0) this.#nodes.forEach((node, index) => this.#link(node, index));
    if (this.#problems.length > 0) {
      throw new WorkflowLoadError(this.#problems.map((problem) => this.#withImporter(problem)));
    }
    return {
      modules: this.#nodes.map((node) => this.#emit(node)),
      entries,
      runEntries,
      interceptorEntries,
      ...(beside.length > 0 && { runConverter: beside[0]! }),
      runExports: runEntries.map((module) => [...this.#exportNames({ module }, new Set())]),
      needsTemporal: runEntries.length > 0 ||
        entries.some((entry) => this.#dialects(entry).temporal),
      restoreFrames: this.#options.restoreFrames === true,
      followsScopes: this.#nodes.every(({ compiled }) => compiled.run?.inexactScope === undefined),
      warnings: foldWarnings(this.#warnings, this.#resolver),
    };
  }

  texts(): ModuleText[] {
    return this.#nodes.map(({ url, unit, dependencies }) => {
      const { kind, text, requests } = unit;
      return {
        url,
        kind,
        text,
        requests,
        dependencies,
        takesDefault: this.#takesDefault(url, kind),
      };
    });
  }

  #takesDefault(url: string, kind: ModuleKind): boolean {
    return kind === "esm" && this.#resolver.takesDefault(url);
  }

  /** Returns which APIs a module and its imports use. */
  #dialects(entry: number): { native: boolean; temporal: boolean } {
    let native = false, temporal = false;
    for (const index of this.#reach([entry])) {
      for (const dependency of this.#nodes[index]!.dependencies) {
        if (!("provided" in dependency)) continue;
        if (dependency.provided === "workflow") native = true;
        else if (dependency.provided.startsWith("temporal/")) temporal = true;
      }
    }
    return { native, temporal };
  }

  #reach(entries: readonly number[]): Set<number> {
    const reached = new Set(entries);
    for (const index of reached) {
      for (const dependency of this.#nodes[index]!.dependencies) {
        if ("module" in dependency) reached.add(dependency.module);
      }
    }
    return reached;
  }

  #compile(entries: readonly number[], form: Form): void {
    for (const index of this.#reach(entries)) {
      const node = this.#nodes[index]!;
      node.compiled[form] = node.unit.compile(form);
      if (form === "run" || node.unit.kind === "cjs") continue;
      node.dependencies.forEach((dependency, i) => {
        if (
          !("provided" in dependency) || dependency.onlyForRuns === undefined ||
          dependency.host !== undefined
        ) return;
        const { specifier, line } = node.unit.requests[i]!;
        node.problems.push(
          this.#problemAt(node.url, line, "builtin-import", specifier, dependency.onlyForRuns),
        );
      });
    }
  }

  /**
   * Collects all problems, and warnings of shared modules. A module in both forms may repeat a
   * problem.
   */
  #collect(): void {
    const seen = new Set<string>();
    for (const [index, { compiled, problems }] of this.#nodes.entries()) {
      const all = [compiled.shared, compiled.run].flatMap((each) => each?.problems ?? []);
      for (const problem of [...all, ...problems]) {
        const key = `${problem.file}:${problem.line}:${problem.code}:${problem.name}`;
        if (!seen.has(key)) this.#problems.push(problem);
        seen.add(key);
      }
      this.#warnings.push(
        ...(this.#sharedByRuns.has(index) ? compiled.shared : compiled.run)?.warnings ?? [],
      );
    }
  }

  #entry(url: string): number {
    const resolved = this.#resolver.resolve(url, url);
    if (resolved.kind === "file") return this.#add(resolved.url);
    const message = resolved.kind === "provided"
      ? "is part of temporalex itself, not a module of workflows"
      : resolved.code === "not-found"
      ? "no such file"
      : resolved.message;
    const code = resolved.kind === "provided" ? "not-found" : resolved.code;
    this.#problems.push({ code, file: displayName(url), line: 0, column: 0, name: url, message });
    return -1;
  }

  /** Adds to a package's problem the user's line that imports the package. */
  #withImporter(problem: Problem): Problem {
    let node = this.#nodes.find((n) => displayName(n.url) === problem.file);
    if (node === undefined || !node.foreign) return problem;
    const name = this.#resolver.packageOf(node.url);
    let line = 0;
    while (node?.foreign) {
      line = node.importer?.line ?? 0;
      node = node.importer === undefined ? undefined : this.#nodes[node.importer.index];
    }
    if (node === undefined) return problem;
    return {
      ...problem,
      message: `${problem.message} (the package "${name}" is imported at ${
        displayName(node.url)
      }:${line})`,
    };
  }

  #add(url: string, importer?: Node["importer"]): number {
    const known = this.#byUrl.get(url);
    if (known !== undefined) return known;
    const index = this.#nodes.length;
    this.#byUrl.set(url, index);
    const foreign = this.#resolver.packageOf(url) !== undefined;
    const problems: Problem[] = [];
    const unit = this.#parse(url, foreign, problems);
    const node: Node = { url, foreign, importer, unit, dependencies: [], problems, compiled: {} };
    this.#nodes.push(node);
    for (const request of unit.requests) {
      if (request.dynamic === true && foreign) {
        node.dependencies.push(NOT_LOADED);
        continue;
      }
      const how = howOf(unit.kind, request);
      const resolved = this.#resolver.resolve(request.specifier, url, how);
      if (resolved.kind === "file") {
        node.dependencies.push({ module: this.#add(resolved.url, { index, line: request.line }) });
      } else if (resolved.kind === "provided") {
        const { module: provided, onlyForRuns, host } = resolved;
        node.dependencies.push({
          provided,
          ...(onlyForRuns === undefined ? {} : { onlyForRuns }),
          ...(host === undefined || !foreign || request.optional === true ? {} : { host }),
        });
      } else {
        const host = foreign && request.optional !== true ? resolved.host : undefined;
        node.dependencies.push({
          refused: resolved.message,
          ...(host === undefined ? {} : { host }),
        });
        // CommonJS requires during execution, often after a test or in a try: reported when
        // reached.
        if (how === "require" || host !== undefined) continue;
        const { code, message } = resolved;
        problems.push({
          code,
          file: displayName(url),
          line: request.line,
          column: 0,
          name: request.specifier,
          message,
        });
      }
    }
    return index;
  }

  #parse(url: string, foreign: boolean, problems: Problem[]): ModuleUnit {
    const bundled = this.#options.bundled?.(url);
    const text = bundled ?? (url === EMPTY_MODULE ? "" : this.#host.read(url));
    try {
      if (text === undefined) {
        throw new WorkflowLoadError([this.#problemAt(url, 0, "not-found", "", "cannot be read")]);
      }
      const restoreFrames = this.#options.restoreFrames === true;
      const stripped = bundled !== undefined;
      const probes = this.#options.probes?.(url);
      const debugged = probes === undefined ? {} : { probes };
      const kind = this.#resolver.kindOf(url);
      return parsedUnit(
        { url, text, stripped, kind, foreign, restoreFrames, ...debugged },
        this.#options.parsed,
      );
    } catch (e) {
      if (!(e instanceof WorkflowLoadError)) throw e;
      problems.push(...e.problems);
      return EMPTY_UNIT;
    }
  }

  #problemAt(
    url: string,
    line: number,
    code: Problem["code"],
    name: string,
    message: string,
  ): Problem {
    return { code, file: displayName(url), line, column: 0, name, message };
  }

  /** Reports imported names that do not exist, as the language does, and writes to imports. */
  #link(node: Node, index: number): void {
    node.unit.requests.forEach((request, i) => {
      const dependency = node.dependencies[i]!;
      for (const { name, line } of request.names) {
        const noDefault = name === "default" && "provided" in dependency &&
          dependency.provided.startsWith("temporal/") &&
          this.#takesDefault(node.url, node.unit.kind);
        if (!noDefault && (name === "*" || this.#find(dependency, name, new Set()) !== undefined)) {
          continue;
        }
        if (
          this.#mayBeType(node, i, name) ||
          ("provided" in dependency && dependency.host !== undefined)
        ) continue;
        const builtin = "provided" in dependency ? dependency.onlyForRuns : undefined;
        if (builtin !== undefined) {
          this.#problems.push(
            this.#problemAt(
              node.url,
              line,
              "builtin-import",
              name,
              `${builtin} (it takes "${name}" of it)`,
            ),
          );
          continue;
        }
        const from = `"${request.specifier}"`;
        const hint = "provided" in dependency
          ? " for workflow code" + (noDefault ? `: write \`import * as name from ${from}\`` : "")
          : /^[A-Z]/.test(name)
          ? " (if it is a type, import and export it with `type`)"
          : "";
        const text = `imports "${name}" from ${from}, which does not export it${hint}`;
        this.#problems.push(this.#problemAt(node.url, line, "missing-export", name, text));
      }
    });
    if (this.#sharedByRuns.has(index)) this.#warnOfImported(node);
  }

  /** Reports state of other modules that a module changes, or creates while it is evaluated. */
  #warnOfImported({ url, dependencies, compiled }: Node): void {
    const seen = new Set<string>();
    const moduleOf = (request: number, name: string) => {
      const target = this.#find(dependencies[request]!, name, new Set());
      if (target === undefined || target === "open" || typeof target.module !== "number") {
        return undefined;
      }
      return { name: target.name, shared: this.#nodes[target.module]!.compiled.shared };
    };
    const warn = (line: number, name: string, text: string | undefined) => {
      if (text === undefined || seen.has(name)) return;
      seen.add(name);
      this.#warnings.push(this.#problemAt(url, line, "module-state", name, text));
    };
    for (const change of compiled.shared?.importedMutations ?? []) {
      const target = moduleOf(change.request, change.name);
      if (target === undefined) continue;
      const { name, shared } = target;
      warn(change.line, name, importedChange(shared, { ...change, name }));
    }
    for (const { request, name, line } of compiled.shared?.importedCalls ?? []) {
      const target = moduleOf(request, name);
      if (target?.shared?.stateful?.get(target.name)?.makesState === true) {
        warn(line, name, madeState(name));
      }
    }
  }

  /**
   * A TypeScript name that is only re-exported may be a removed type, which the official bundler
   * omits. Imports of it as a value are reported.
   */
  #mayBeType({ url, dependencies, compiled }: Node, request: number, name: string): boolean {
    const dependency = dependencies[request]!;
    if (compiled.shared !== undefined || compiled.run?.reads.has(readKey(request, name)) === true) {
      return false;
    }
    return IS_TS.test(url) && "module" in dependency &&
      IS_TS.test(this.#nodes[dependency.module]!.url);
  }

  /** Returns the origin of an export; "open" if it may come from a CommonJS module. */
  #find(
    from: Dependency,
    name: string,
    visited: Set<string>,
  ): { module: number | Provided; name: string } | "open" | undefined {
    if ("refused" in from) return from.host === undefined ? undefined : "open";
    if ("provided" in from) {
      if (this.#options.provided(from.provided).includes(name)) {
        return { module: from.provided, name };
      }
      return from.host === undefined ? undefined : "open";
    }
    const { unit: compiled, dependencies } = this.#nodes[from.module]!;
    if (compiled.kind === "cjs") return "open";
    if (compiled.exports.includes(name)) return { module: from.module, name };
    const key = `${from.module} ${name}`;
    if (visited.has(key)) return undefined;
    visited.add(key);
    const indirect = compiled.indirect.find((e) => e.exported === name);
    if (indirect !== undefined) {
      if (indirect.name === "*") return { module: from.module, name };
      return this.#find(dependencies[indirect.request]!, indirect.name, visited);
    }
    if (name === "default") return undefined;
    let found: { module: number | Provided; name: string } | "open" | undefined;
    for (const star of compiled.stars) {
      const candidate = this.#find(dependencies[star]!, name, visited);
      if (candidate === undefined) continue;
      if (candidate === "open") found ??= candidate;
      else if (found === undefined || found === "open") found = candidate;
      // Ambiguous re-export: excluded, as in ECMAScript.
      else if (found.module !== candidate.module || found.name !== candidate.name) return undefined;
    }
    return found;
  }

  #exportNames(from: Dependency, visited: Set<number>): Set<string> {
    const names = new Set<string>();
    if ("provided" in from) return new Set(this.#options.provided(from.provided));
    if ("refused" in from || visited.has(from.module)) return names;
    visited.add(from.module);
    const { unit: compiled, dependencies } = this.#nodes[from.module]!;
    for (const name of compiled.exports) names.add(name);
    for (const { exported } of compiled.indirect) names.add(exported);
    for (const star of compiled.stars) {
      for (const name of this.#exportNames(dependencies[star]!, visited)) {
        if (name !== "default") names.add(name);
      }
    }
    return names;
  }

  #emit({ url, unit, compiled, dependencies }: Node): LoadedModule {
    const found = (request: number, name: string) =>
      name === "*" || this.#find(dependencies[request]!, name, new Set()) !== undefined;
    const reexports = unit.indirect.filter((e) => found(e.request, e.name))
      .map((e): [string, number, string] => [e.exported, e.request, e.name]);
    const own = new Set([...unit.exports, ...reexports.map(([exported]) => exported)]);
    const open: number[] = [];
    for (const star of unit.stars) {
      const dependency = dependencies[star]!;
      if ("module" in dependency && this.#nodes[dependency.module]!.unit.kind === "cjs") {
        open.push(star);
      }
      for (const name of this.#exportNames(dependency, new Set())) {
        if (name === "default" || own.has(name)) continue;
        if (this.#find({ module: this.#byUrl.get(url)! }, name, new Set()) === undefined) continue;
        own.add(name);
        reexports.push([name, star, name]);
      }
    }
    const checks: [number, string, number][] = [];
    unit.requests.forEach((request, i) => {
      for (const { name, line } of request.names) {
        const dependency = dependencies[i]!;
        // A stand-in has every name, and an empty module replaces one that would have it.
        if (!("module" in dependency) || this.#nodes[dependency.module]!.url === EMPTY_MODULE) {
          continue;
        }
        if (
          name !== "*" && name !== "default" && this.#find(dependency, name, new Set()) === "open"
        ) {
          checks.push([i, name, line]);
        }
      }
    });
    return {
      url,
      kind: unit.kind,
      takesDefault: this.#takesDefault(url, unit.kind),
      code: compiled.shared?.code ?? (unit.kind === "json" ? compiled.run?.code : undefined) ?? "",
      runCode: unit.kind === "json" ? "" : compiled.run?.code ?? "",
      exports: unit.exports,
      whole: [
        ...unit.requests.flatMap(({ names }, i) =>
          names.some(({ name }) => name === "*") ? [i] : []
        ),
        ...unit.indirect.flatMap(({ request, name }) => name === "*" ? [request] : []),
      ],
      specifiers: unit.requests.map((r) => r.specifier),
      dependencies,
      required: unit.kind === "cjs"
        ? []
        : unit.requests.flatMap((r, i) => r.required === true ? [i] : []),
      dynamic: unit.requests.flatMap((r, i) => r.dynamic === true ? [i] : []),
      reexports,
      open,
      checks,
      ...(unit.points === undefined
        ? {}
        : { probes: { url, points: unit.points, ...originsOf(url, unit.text, this.#host) } }),
    };
  }
}
