// The module graph of a set of workflow modules: every module that they need, compiled, resolved and checked, as plain data that can
// be posted to a realm. Everything that is refused in the whole graph is reported at once.
import { type CompiledModule, compileModule, type ModuleKind } from "./module_code.ts";
import { displayName, type Problem, WorkflowLoadError } from "./errors.ts";
import { type Provided, Resolver } from "./resolve.ts";
import type { SourceHost } from "./source_host.ts";
import { isMutator, sharedObject } from "./state.ts";

/** What one module needs: index of another in the graph, a module that the realm has, or (CommonJS) why it cannot be had. */
export type Dependency =
  | { readonly module: number }
  | { readonly provided: Provided }
  | { readonly refused: string };

/** One module, ready to be evaluated. */
export interface LoadedModule {
  readonly url: string;
  readonly kind: ModuleKind;
  /** Expression that gives the module's function; JSON text for JSON. */
  readonly code: string;
  readonly specifiers: readonly string[];
  readonly dependencies: readonly Dependency[];
  /** Exports that come from elsewhere: name here, index of the dependency, name there ("*": its namespace). */
  readonly reexports: readonly (readonly [string, number, string])[];
  /** Dependencies (CommonJS) whose names are known only when they have run: all of them are exported here. */
  readonly open: readonly number[];
  /** Names that are imported from CommonJS modules, which are checked when those have run. */
  readonly checks: readonly (readonly [number, string, number])[];
}

export interface ModuleGraph {
  /** In no particular order; evaluation goes depth first from the entries. */
  readonly modules: readonly LoadedModule[];
  readonly entries: readonly number[];
  readonly warnings: readonly Problem[];
}

export interface LoadOptions {
  /** Names that the realm's own modules export. */
  readonly provided: { readonly [module in Provided]: readonly string[] };
  readonly host: SourceHost;
}

interface Node {
  readonly url: string;
  readonly foreign: boolean;
  /** Who imported it first: file and line. */
  readonly importer: { readonly index: number; readonly line: number } | undefined;
  readonly compiled: CompiledModule;
  readonly dependencies: Dependency[];
}

/** Loads the modules at `entries` (URLs) and all that they import. Throws a WorkflowLoadError that lists everything refused. */
export function loadGraph(entries: readonly string[], options: LoadOptions): ModuleGraph {
  return new Loader(options).load(entries);
}

class Loader {
  readonly #host: SourceHost;
  readonly #provided: LoadOptions["provided"];
  readonly #resolver: Resolver;
  readonly #nodes: Node[] = [];
  readonly #byUrl = new Map<string, number>();
  readonly #problems: Problem[] = [];
  readonly #warnings: Problem[] = [];

  constructor(options: LoadOptions) {
    this.#host = options.host;
    this.#provided = options.provided;
    this.#resolver = new Resolver(options.host);
  }

  load(entries: readonly string[]): ModuleGraph {
    const indices = entries.map((url) => this.#entry(url));
    // Links are checked on a sound graph only: one missing file would be reported once per name imported from it.
    if (this.#problems.length === 0) this.#nodes.forEach((node) => this.#link(node));
    if (this.#problems.length > 0) throw new WorkflowLoadError(this.#problems.map((problem) => this.#withImporter(problem)));
    return { modules: this.#nodes.map((node) => this.#emit(node)), entries: indices, warnings: this.#foldWarnings() };
  }

  #entry(url: string): number {
    const resolved = this.#resolver.resolve(url, url);
    if (resolved.kind === "file") return this.#add(resolved.url);
    const message = resolved.kind === "provided"
      ? "is part of temporalex itself, not a module of workflows"
      : resolved.code === "not-found"
      ? "there is no such file"
      : resolved.message;
    const code = resolved.kind === "provided" ? "not-found" : resolved.code;
    this.#problems.push({ code, file: displayName(url), line: 0, column: 0, name: url, message });
    return -1;
  }

  /** A package's problem is its user's: which of their lines brings it in? */
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
    return { ...problem, message: `${problem.message} (the package "${name}" comes in by ${displayName(node.url)}:${line})` };
  }

  #add(url: string, importer?: Node["importer"]): number {
    const known = this.#byUrl.get(url);
    if (known !== undefined) return known;
    const index = this.#nodes.length;
    this.#byUrl.set(url, index);
    const foreign = this.#resolver.packageOf(url) !== undefined;
    const node: Node = { url, foreign, importer, compiled: this.#compile(url, foreign), dependencies: [] };
    this.#nodes.push(node);
    this.#problems.push(...node.compiled.problems);
    this.#warnings.push(...node.compiled.warnings);
    for (const request of node.compiled.requests) {
      const how = node.compiled.kind === "cjs" ? "require" : "import";
      const resolved = this.#resolver.resolve(request.specifier, url, how);
      if (resolved.kind === "file") node.dependencies.push({ module: this.#add(resolved.url, { index, line: request.line }) });
      else if (resolved.kind === "provided") node.dependencies.push({ provided: resolved.module });
      else {
        node.dependencies.push({ refused: resolved.message });
        // CommonJS requires as it goes, often behind a test or in a try: it is refused when it is reached.
        if (how === "require") continue;
        const { code, message } = resolved;
        this.#problems.push({ code, file: displayName(url), line: request.line, column: 0, name: request.specifier, message });
      }
    }
    return index;
  }

  #compile(url: string, foreign: boolean): CompiledModule {
    const text = this.#host.read(url);
    try {
      if (text === undefined) throw new WorkflowLoadError([this.#problemAt(url, 0, "not-found", "", "cannot be read")]);
      return compileModule({ url, text, kind: this.#resolver.kindOf(url), foreign });
    } catch (e) {
      if (!(e instanceof WorkflowLoadError)) throw e;
      this.#problems.push(...e.problems);
      return {
        kind: "cjs",
        code: "",
        requests: [],
        exports: [],
        indirect: [],
        stars: [],
        collections: [],
        importedMutations: [],
        problems: [],
        warnings: [],
      };
    }
  }

  #problemAt(url: string, line: number, code: Problem["code"], name: string, message: string): Problem {
    return { code, file: displayName(url), line, column: 0, name, message };
  }

  /** Every imported name must be there, as in the language; writes to what was imported are judged. */
  #link(node: Node): void {
    node.compiled.requests.forEach((request, i) => {
      const dependency = node.dependencies[i]!;
      for (const { name, line } of request.names) {
        if (name === "*" || this.#find(dependency, name, new Set()) !== undefined) continue;
        const from = `"${request.specifier}"`;
        const hint = "provided" in dependency
          ? " for workflow code"
          : /^[A-Z]/.test(name)
          ? " (if it is a type, import and export it with `type`)"
          : "";
        this.#problems.push(
          this.#problemAt(
            node.url,
            line,
            "missing-export",
            name,
            `imports "${name}" from ${from}, which does not export it${hint}`,
          ),
        );
      }
    });
    const seen = new Set<string>();
    for (const { request, name, line, method } of node.compiled.importedMutations) {
      const target = this.#find(node.dependencies[request]!, name, new Set());
      if (target === undefined || target === "open" || typeof target.module !== "number" || seen.has(name)) continue;
      const other = this.#nodes[target.module]!;
      const shared = other.compiled.collections.includes(target.name)
        ? method === undefined || isMutator(method)
        : method === undefined && name !== "*";
      if (!shared) continue;
      seen.add(name);
      this.#warnings.push(this.#problemAt(node.url, line, "module-state", target.name, sharedObject(target.name)));
    }
  }

  /** Where an export really comes from; "open": it may come from a CommonJS module. */
  #find(from: Dependency, name: string, visited: Set<string>): { module: number | Provided; name: string } | "open" | undefined {
    if ("refused" in from) return undefined;
    if ("provided" in from) {
      return this.#provided[from.provided].includes(name) ? { module: from.provided, name } : undefined;
    }
    const { compiled, dependencies } = this.#nodes[from.module]!;
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
      // The same name from two places is nobody's.
      else if (found.module !== candidate.module || found.name !== candidate.name) return undefined;
    }
    return found;
  }

  #exportNames(from: Dependency, visited: Set<number>): Set<string> {
    const names = new Set<string>();
    if ("provided" in from) return new Set(this.#provided[from.provided]);
    if ("refused" in from || visited.has(from.module)) return names;
    visited.add(from.module);
    const { compiled, dependencies } = this.#nodes[from.module]!;
    for (const name of compiled.exports) names.add(name);
    for (const { exported } of compiled.indirect) names.add(exported);
    for (const star of compiled.stars) {
      for (const name of this.#exportNames(dependencies[star]!, visited)) if (name !== "default") names.add(name);
    }
    return names;
  }

  #emit({ url, compiled, dependencies }: Node): LoadedModule {
    const reexports: [string, number, string][] = compiled.indirect.map((e) => [e.exported, e.request, e.name]);
    const own = new Set([...compiled.exports, ...reexports.map(([exported]) => exported)]);
    const open: number[] = [];
    for (const star of compiled.stars) {
      const dependency = dependencies[star]!;
      if ("module" in dependency && this.#nodes[dependency.module]!.compiled.kind === "cjs") open.push(star);
      for (const name of this.#exportNames(dependency, new Set())) {
        if (name === "default" || own.has(name)) continue;
        if (this.#find({ module: this.#byUrl.get(url)! }, name, new Set()) === undefined) continue;
        own.add(name);
        reexports.push([name, star, name]);
      }
    }
    const checks: [number, string, number][] = [];
    compiled.requests.forEach((request, i) => {
      for (const { name, line } of request.names) {
        if (name !== "*" && name !== "default" && this.#find(dependencies[i]!, name, new Set()) === "open") {
          checks.push([i, name, line]);
        }
      }
    });
    return {
      url,
      kind: compiled.kind,
      code: compiled.code,
      specifiers: compiled.requests.map((r) => r.specifier),
      dependencies,
      reexports,
      open,
      checks,
    };
  }

  /** Of a package, which its user cannot mend, one warning is enough. */
  #foldWarnings(): Problem[] {
    const folded = new Map<string, Problem>();
    const out: Problem[] = [];
    for (const warning of this.#warnings) {
      const name = this.#resolver.packageOf(warning.file);
      if (name === undefined) out.push(warning);
      else if (!folded.has(name)) {
        folded.set(name, {
          ...warning,
          message:
            `the package "${name}" keeps state at the top level of its modules ("${warning.name}" among others), which all workflow runs in a process share; use only its parts that compute`,
        });
      }
    }
    return [...out, ...folded.values()];
  }
}
