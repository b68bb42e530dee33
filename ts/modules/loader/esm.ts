// Rewrites one ES module (parse_module.ts describes the result): declarations keep their place,
// `import` and `export` are removed, reads of imported names become reads of the other module's
// namespace, and constructs that a realm cannot run are reported with their line.
import type { AnyNode, ImportDeclaration, Program } from "acorn";
import type { Problem, ProblemCode } from "./errors.ts";
import { importedName, mayImport, requestImported } from "./dynamic_imports.ts";
import { Edits } from "./edits.ts";
import {
  type CompiledModule,
  type Form,
  freePrefix,
  type ImportedMutation,
  type IndirectExport,
  Lines,
  type ModuleOutline,
  type ModuleRequest,
  type ModuleSource,
  problem,
  readKey,
  runNames,
  textGap,
} from "./module_code.ts";
import { evaluatedCalls, HiddenStateFinder } from "./hidden_state.ts";
import { recentGlobal, recentMethods, type RecentName } from "./recent_names.ts";
import { editGlobal } from "./run_globals.ts";
import { type Binding, patternNames, walkModule } from "./scope.ts";
import { isCollection, isPlainObject, StateFindings } from "./state.ts";

const EXPORT_DEFAULT = new RegExp(`^export${textGap}default`);
const FUNCTION_HEAD = new RegExp(`^(?:async${textGap})?function${textGap}\\*?`);

const NODE_GLOBALS: { readonly [name: string]: string | undefined } = Object.assign(
  Object.create(null) as object,
  {
    Buffer: "use Uint8Array with TextEncoder and TextDecoder, atob and btoa",
    __dirname: "pass the path as an argument, or use it in an activity",
    __filename: "pass the path as an argument, or use it in an activity",
    global: "use globalThis",
  },
);

export class EsmCompiler {
  readonly #source: ModuleSource;
  readonly #text: string;
  readonly #program: Program;
  readonly #lines: Lines;
  readonly #edits: Edits;
  readonly #requests: ModuleRequest[] = [];
  readonly #imports = new Map<string, { request: number; name: string }>();
  readonly #exports = new Map<string, string>();
  readonly #indirect: IndirectExport[] = [];
  readonly #stars: number[] = [];
  readonly #problems: Problem[] = [];
  readonly #warnings: Problem[] = [];
  readonly #importedMutations: ImportedMutation[] = [];
  readonly #reads = new Set<string>();
  readonly #prefix: string;
  readonly #form: Form;

  constructor(source: ModuleSource, text: string, program: Program, form: Form) {
    this.#form = form;
    this.#source = source;
    this.#text = text;
    this.#program = program;
    this.#lines = new Lines(text);
    this.#edits = new Edits(text);
    this.#prefix = freePrefix(text, ["i0", "x", "g", "k"]);
    for (const statement of program.body) this.#statement(statement as AnyNode);
    if (text.includes("require") || mayImport(text)) this.#calls();
  }

  outline(): ModuleOutline {
    const { locals, indirect } = this.#exported();
    return {
      kind: "esm",
      requests: this.#requests,
      exports: locals.map(([exported]) => exported),
      indirect,
      stars: this.#stars,
    };
  }

  #exported(): { locals: [string, string][]; indirect: IndirectExport[] } {
    const indirect = [...this.#indirect];
    const locals: [string, string][] = [];
    for (const [exported, local] of this.#exports) {
      // `import { a } from "x"; export { a }` is an indirect export.
      const imported = this.#imports.get(local);
      if (imported === undefined) locals.push([exported, local]);
      else {indirect.push({
          exported,
          ...imported,
          line: imported.name === "*" ? 0 : this.#requests[imported.request]!.line,
        });}
    }
    return { locals, indirect };
  }

  compile(): CompiledModule {
    const state = new StateFindings(this.#source, this.#lines);
    const hidden = this.#form === "shared" && !this.#source.foreign
      ? new HiddenStateFinder()
      : undefined;
    const top = this.#walk(state, hidden);
    const body = this.#program.body as AnyNode[];
    for (const found of hidden?.found(body, top) ?? []) state.hidden(found);
    if (!this.#source.foreign) {
      for (const found of recentMethods(this.#program, this.#text, top)) this.#recent(found);
    }
    const { locals } = this.#exported();
    const names = runNames(this.#prefix);
    const given = this.#form === "run" ? `, ${names.parameter}, $tx` : "";
    const parameters = given + this.#requests.map((_, i) => `, ${this.#prefix}i${i}`).join("");
    const x = `${this.#prefix}x`;
    const k = `${this.#prefix}k`;
    const cases = locals.map(([, local], i) => `case ${i}: return ${local};`).join(" ");
    // One function for all exports, by number, because it is created at each evaluation.
    const exports = locals.length === 0
      ? ""
      : `${x}.exports((${k}) => { switch (${k}) { ${cases} } }); `;
    const exportsWhere = (matches: (init: AnyNode | undefined) => boolean) =>
      locals.filter(([, local]) => matches(top.get(local)?.init)).map(([exported]) => exported);
    return {
      code:
        `(function* (${x}${parameters}) { "use strict"; ${exports}yield; ${this.#edits.apply()}\n})`,
      collections: exportsWhere(isCollection),
      plainObjects: exportsWhere(isPlainObject),
      importedMutations: this.#importedMutations,
      ...(hidden !== undefined && this.#hiddenState(hidden, body, locals)),
      reads: this.#reads,
      problems: [...this.#problems, ...state.problems],
      warnings: [...state.warnings, ...this.#warnings],
    };
  }

  #request(specifier: string, at: AnyNode): number {
    const known = this.#requests.findIndex((r) =>
      r.specifier === specifier && r.required !== true && r.dynamic !== true
    );
    if (known >= 0) return known;
    return this.#requests.push({ specifier, line: this.#lines.line(at.start), names: [] }) - 1;
  }

  #use(request: number, name: string, at: AnyNode): void {
    this.#requests[request]!.names.push({ name, line: this.#lines.line(at.start) });
  }

  /**
   * Handles `import("...")` and `require("...")`. TypeScript writes require for `import x =
   * require("x")`, and the official bundler accepts both in one module.
   */
  #calls(): void {
    walkModule(this.#program, {
      dynamicImport: (at) => requestImported(this.#requests, at, this.#lines),
      globalCall: (name, at) => {
        const argument = at.arguments[0];
        if (
          name !== "require" || argument?.type !== "Literal" || typeof argument.value !== "string"
        ) return;
        const specifier = argument.value;
        if (this.#requests.some((r) => r.specifier === specifier && r.required === true)) return;
        this.#requests.push({
          specifier,
          line: this.#lines.line(at.start),
          required: true,
          names: [],
        });
      },
    });
  }

  #statement(node: AnyNode): void {
    switch (node.type) {
      case "ImportDeclaration":
        this.#import(node);
        return this.#edits.remove(node.start, node.end);
      case "ExportAllDeclaration": {
        const request = this.#request(String(node.source.value), node);
        if (node.exported === null || node.exported === undefined) this.#stars.push(request);
        else {this.#indirect.push({
            exported: exportName(node.exported),
            request,
            name: "*",
            line: this.#lines.line(node.start),
          });}
        return this.#edits.remove(node.start, node.end);
      }
      case "ExportNamedDeclaration": {
        if (node.declaration) {
          this.#edits.remove(node.start, node.declaration.start);
          const declaration = node.declaration;
          const ids = declaration.type === "VariableDeclaration"
            ? declaration.declarations.flatMap((d) => [...patternNames(d.id)])
            : [declaration.id];
          for (const id of ids) this.#exports.set(id.name, id.name);
          return;
        }
        const request = node.source ? this.#request(String(node.source.value), node) : -1;
        for (const s of node.specifiers) {
          const exported = exportName(s.exported);
          const local = exportName(s.local);
          if (request < 0) this.#exports.set(exported, local);
          else {
            this.#indirect.push({
              exported,
              request,
              name: local,
              line: this.#lines.line(s.start),
            });
            this.#use(request, local, s);
          }
        }
        return this.#edits.remove(node.start, node.end);
      }
      case "ExportDefaultDeclaration":
        return this.#exportDefault(node);
    }
  }

  #import(node: ImportDeclaration): void {
    const request = this.#request(String(node.source.value), node);
    for (const s of node.specifiers) {
      const name = s.type === "ImportSpecifier"
        ? exportName(s.imported)
        : s.type === "ImportDefaultSpecifier"
        ? "default"
        : "*";
      this.#imports.set(s.local.name, { request, name });
      this.#use(request, name, s);
    }
  }

  #exportDefault(node: Extract<AnyNode, { type: "ExportDefaultDeclaration" }>): void {
    const keyword = EXPORT_DEFAULT.exec(this.#text.slice(node.start, node.end))![0].length;
    const declaration = node.declaration as AnyNode;
    const local = `${this.#prefix}default`;
    this.#exports.set("default", local);
    if (
      declaration.type === "FunctionDeclaration" ||
      (declaration.type === "ClassDeclaration" && declaration.id)
    ) {
      this.#edits.remove(node.start, node.start + keyword);
      if (declaration.id) this.#exports.set("default", declaration.id.name);
      else {this.#edits.insert(
          declaration.start + FUNCTION_HEAD.exec(this.#text.slice(declaration.start))![0].length,
          ` ${local}`,
        );}
      return;
    }
    // As a property, an anonymous function or class gets the name that the language defines.
    this.#edits.replace(node.start, node.start + keyword, `const ${local} = {default:`);
    const end = this.#text[node.end - 1] === ";" ? node.end - 1 : node.end;
    this.#edits.insert(end, "}.default;");
  }

  /** Returns hidden state that only the graph can judge. */
  #hiddenState(
    hidden: HiddenStateFinder,
    body: readonly AnyNode[],
    locals: readonly [string, string][],
  ): Pick<CompiledModule, "stateful" | "importedCalls"> {
    const stateful = new Map(locals.flatMap(([exported, local]) => {
      const found = hidden.statefulExport(local, body);
      return found === undefined ? [] : [[exported, found] as const];
    }));
    const importedCalls = evaluatedCalls(body).flatMap(({ name, at }) => {
      const imported = this.#imports.get(name);
      return imported === undefined ? [] : [{ ...imported, line: this.#lines.line(at.start) }];
    });
    return { stateful, importedCalls };
  }

  #walk(state: StateFindings, hidden: HiddenStateFinder | undefined): ReadonlyMap<string, Binding> {
    const { foreign } = this.#source;
    return walkModule(this.#program, {
      reference: (node, binding, write, deferred, parents) => {
        if (binding === undefined) {
          const recent = foreign ? undefined : recentGlobal(node, parents, this.#text);
          if (recent !== undefined) this.#recent(recent);
          if (this.#form === "shared") return this.#globalName(node, parents);
          if (isRequireCall(node, parents.at(-1))) {
            return this.#edits.replace(node.start, node.end, `${this.#prefix}x.require`);
          }
          return editGlobal(node, write, parents, this.#edits, runNames(this.#prefix), false);
        }
        hidden?.reference(node, binding, write, deferred, parents);
        if (!binding.top) return;
        const imported = binding.kind === "import" ? this.#imports.get(binding.name) : undefined;
        if (imported === undefined) {
          return this.#form === "shared" && state.reference(binding, node, write, deferred);
        }
        if (write) {
          const text = `assigns "${node.name}", which is imported: imports are read-only`;
          return this.#problem("read-only-import", node, node.name, text);
        }
        this.#importedRead(node, imported, parents);
      },
      mutation: (binding, at, deferred, parents) => {
        hidden?.changed(binding, undefined, at, parents);
        if (!binding.top || !deferred || this.#form === "run") return;
        const imported = binding.kind === "import" ? this.#imports.get(binding.name) : undefined;
        if (imported === undefined) state.mutation(binding, at);
        else this.#importedMutations.push({ ...imported, line: this.#lines.line(at.start) });
      },
      methodCall: (binding, method, direct, at, deferred, parents) => {
        hidden?.changed(binding, method, at, parents);
        if (!binding.top || !deferred || this.#form === "run") return;
        const imported = binding.kind === "import" ? this.#imports.get(binding.name) : undefined;
        if (imported === undefined) state.methodCall(binding, method, direct, at);
        else {
          const line = this.#lines.line(at.start);
          this.#importedMutations.push({ ...imported, line, method, direct });
        }
      },
      topLevelAwait: (at) =>
        this.#problem(
          "top-level-await",
          at as AnyNode,
          "await",
          "awaits at the top level: workflow modules are evaluated without waiting. Await inside the workflow's function, or compute the value in an activity",
        ),
      dynamicImport: (at) => {
        if (foreign || importedName(at) !== undefined) {
          this.#edits.replace(
            at.start,
            at.start + "import".length,
            `${this.#prefix}x.dynamicImport`,
          );
        } else {
          this.#problem(
            "dynamic-import",
            at as AnyNode,
            "import()",
            "uses import() of a name that is computed: which modules there are must be known before the workflow runs. Give the name as a literal, or load it in an activity",
          );
        }
      },
      importMeta: (at) => {
        if (foreign) this.#edits.replace(at.start, at.end, `${this.#prefix}x.meta`);
        else {
          this.#problem(
            "import-meta",
            at as AnyNode,
            "import.meta",
            "uses import.meta: where a file lies differs between machines. Pass the value as an argument, or read it in an activity",
          );
        }
      },
      globalCall: (name, at) => {
        if (name !== "require") return;
        const argument = at.arguments[0];
        if (this.#form === "run" && argument?.type === "Literal") return;
        const what = argument?.type === "Literal"
          ? `require(${JSON.stringify(argument.value)})`
          : "require()";
        const advice =
          "use an import declaration; what reaches outside the workflow belongs in an activity";
        this.#problem("require", at as AnyNode, "require", `calls ${what}: ${advice}`);
      },
    });
  }

  /** Reports names of Node that a realm does not have, with an alternative. */
  #globalName(node: AnyNode & { name: string }, parents: readonly AnyNode[]): void {
    const advice = NODE_GLOBALS[node.name];
    if (
      advice === undefined || this.#source.foreign || this.#text.includes(`typeof ${node.name}`)
    ) return;
    const parent = parents.at(-1);
    if (parent?.type === "UnaryExpression" && parent.operator === "typeof") return;
    this.#problem(
      "node-global",
      node,
      node.name,
      `uses ${node.name}, which only Node has: ${advice}`,
    );
  }

  #importedRead(
    node: AnyNode & { name: string },
    imported: { request: number; name: string },
    parents: readonly AnyNode[],
  ): void {
    this.#reads.add(readKey(imported.request, imported.name));
    const namespace = `${this.#prefix}i${imported.request}`;
    const read = imported.name === "*"
      ? namespace
      : /^[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*$/u.test(imported.name)
      ? `${namespace}.${imported.name}`
      : `${namespace}[${JSON.stringify(imported.name)}]`;
    const parent = parents.at(-1);
    if (parent?.type === "Property" && parent.shorthand && parent.value === node as unknown) {
      return this.#edits.replace(node.start, node.end, `${node.name}: ${read}`);
    }
    const called = (parent?.type === "CallExpression" && parent.callee === node as unknown) ||
      (parent?.type === "TaggedTemplateExpression" && parent.tag === node as unknown);
    if (!called) return this.#edits.replace(node.start, node.end, read);
    // `(0, ...)` calls without a `this`, as the language defines. A statement that now begins with
    // a parenthesis must not continue the previous one.
    const index = parents.findIndex((p) =>
      p.type === "ExpressionStatement" && p.start === node.start
    );
    if (index > 0) {
      const holder = parents[index - 1]! as { body?: unknown; consequent?: unknown };
      const list = [holder.body, holder.consequent].find((l) => Array.isArray(l)) as
        | AnyNode[]
        | undefined;
      const before = list?.[list.indexOf(parents[index]!) - 1];
      if (before !== undefined) this.#edits.insert(before.end, ";");
    }
    this.#edits.replace(node.start, node.end, `(0, ${read})`);
  }

  #recent({ name, at, message }: RecentName): void {
    if (this.#warnings.some((warning) => warning.name === name)) return;
    this.#warnings.push(
      problem(this.#source, "recent-name", this.#lines.line(at.start), 0, name, message),
    );
  }

  #problem(code: ProblemCode, at: AnyNode, name: string, message: string): void {
    this.#problems.push(problem(this.#source, code, this.#lines.line(at.start), 0, name, message));
  }
}

/** Whether it is the `require` of `require("...")`. */
function isRequireCall(node: AnyNode & { name: string }, parent: AnyNode | undefined): boolean {
  return node.name === "require" && parent?.type === "CallExpression" &&
    parent.callee === node as unknown &&
    (parent.arguments[0] as AnyNode | undefined)?.type === "Literal";
}

/** The name may be a string: `export { a as "any text" }`. */
function exportName(node: { type: string; name?: string; value?: unknown }): string {
  return node.type === "Literal" ? String(node.value) : node.name!;
}
