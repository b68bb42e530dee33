// Turns one module into the text of a function that a realm evaluates. TypeScript's types are taken out by sucrase, which keeps every
// line where it was, so that stack traces name the user's own line; imports and exports are rewritten here.
//
// An ES module becomes a generator: its first step declares the exports and hoists functions, its second runs the body. That gives
// cyclic modules, live bindings and uninitialised `const`s the meaning that the language gives them. Imported names become reads of
// the other module's namespace (`$i0.name`). A CommonJS module becomes the usual function of (exports, require, module).
import { parse, type Program } from "acorn";
import { displayName, type Problem, type ProblemCode, WorkflowLoadError } from "./errors.ts";
import { EsmCompiler } from "./esm.ts";
import { walkModule } from "./scope.ts";
import { IS_TS, needsSucrase, strip, SucraseNotLoadedError } from "./strip.ts";

export type ModuleKind = "esm" | "cjs" | "json";

/** One imported module of a module; its index is the number in `$i0`, `$i1`, ... */
export interface ModuleRequest {
  readonly specifier: string;
  readonly line: number;
  /** Names taken from it, with the line of each; "*" is the whole namespace. */
  readonly names: { readonly name: string; readonly line: number }[];
}

/** `export { name as exported } from "..."`; name "*" is the namespace. */
export interface IndirectExport {
  readonly exported: string;
  readonly request: number;
  readonly name: string;
  readonly line: number;
}

/** A write to something that was imported, judged when the other module is known. */
export interface ImportedMutation {
  readonly request: number;
  readonly name: string;
  readonly line: number;
  /** Absent for a direct write to a property. */
  readonly method?: string;
}

export interface CompiledModule {
  readonly kind: ModuleKind;
  readonly code: string;
  readonly requests: readonly ModuleRequest[];
  /** Names that the module itself defines. */
  readonly exports: readonly string[];
  readonly indirect: readonly IndirectExport[];
  /** Requests of `export * from "..."`. */
  readonly stars: readonly number[];
  /** Exports that hold a mutable collection. */
  readonly collections: readonly string[];
  readonly importedMutations: readonly ImportedMutation[];
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
}

export interface ModuleSource {
  readonly url: string;
  readonly text: string;
  /** What the file name and package.json say; undefined where only the text can tell. */
  readonly kind: ModuleKind | undefined;
  /** In a package: what only may go wrong when it is called (dynamic import) is left to the call. */
  readonly foreign: boolean;
}

/**
 * Compiles one module. Syntax errors throw; everything else is collected in `problems`. Throws a SucraseNotLoadedError for TypeScript
 * before `loadSucrase` has resolved.
 */
export function compileModule(source: ModuleSource): CompiledModule {
  if (source.kind === "json") return compileJson(source);
  const text = stripTypes(source);
  const kind = source.kind ?? (hasModuleSyntax(source, text) ? "esm" : "cjs");
  const program = parseModule(source, text, kind);
  return kind === "esm" ? new EsmCompiler(source, text, program).compile() : compileCjs(text, program);
}

function compileJson(source: ModuleSource): CompiledModule {
  try {
    JSON.parse(source.text);
  } catch (e) {
    throw new WorkflowLoadError([problem(source, "syntax", 0, 0, "", `is not valid JSON: ${(e as Error).message}`)]);
  }
  return { ...EMPTY, kind: "json", code: source.text, exports: ["default"] };
}

const EMPTY: Omit<CompiledModule, "kind" | "code"> = {
  requests: [],
  exports: [],
  indirect: [],
  stars: [],
  collections: [],
  importedMutations: [],
  problems: [],
  warnings: [],
};

/** A problem in a module. */
export function problem(
  source: ModuleSource,
  code: ProblemCode,
  line: number,
  column: number,
  name: string,
  message: string,
): Problem {
  return { code, file: displayName(source.url), line, column, name, message };
}

function stripTypes(source: ModuleSource): string {
  // A hashbang line is no JavaScript inside a function.
  const text = source.text.startsWith("#!") ? source.text.replace(/^#![^\n]*/, "") : source.text;
  if (!needsSucrase(source.url)) return text;
  try {
    return strip(source.url, text);
  } catch (e) {
    if (e instanceof SucraseNotLoadedError) throw e;
    throw syntaxError(source, e);
  }
}

/** Both parsers end their message with "(line:column)". */
function syntaxError(source: ModuleSource, e: unknown): WorkflowLoadError {
  const message = (e as Error).message.replace(/^Error transforming [^:]*: /, "");
  const at = /\s*\((\d+):(\d+)\)$/.exec(message);
  const fromAcorn = typeof (e as { raisedAt?: number }).raisedAt === "number";
  const column = at === null ? 0 : Number(at[2]) + (fromAcorn ? 1 : 0);
  const hint = message.includes("'@'") ? " (decorators are not supported in workflow modules)" : "";
  const text = `syntax error: ${at === null ? message : message.slice(0, at.index)}${hint}`;
  return new WorkflowLoadError([problem(source, "syntax", at === null ? 0 : Number(at[1]), column, "", text)], { cause: e });
}

function parseModule(source: ModuleSource, text: string, kind: "esm" | "cjs"): Program {
  try {
    return parse(text, { ecmaVersion: "latest", sourceType: kind === "esm" ? "module" : "commonjs", allowHashBang: true });
  } catch (e) {
    throw syntaxError(source, e);
  }
}

/** As Node decides about a `.js` file whose package says nothing: it is an ES module if it has import or export declarations. */
function hasModuleSyntax(source: ModuleSource, text: string): boolean {
  if (IS_TS.test(source.url)) return true;
  try {
    const program = parse(text, { ecmaVersion: "latest", sourceType: "module" });
    return program.body.some((s) => s.type.startsWith("Import") || s.type.startsWith("Export"));
  } catch {
    return false;
  }
}

/** The line (from 1) of offsets in a text. */
export class Lines {
  readonly #starts = [0];

  constructor(text: string) {
    for (let i = text.indexOf("\n"); i >= 0; i = text.indexOf("\n", i + 1)) this.#starts.push(i + 1);
  }

  line(offset: number): number {
    let low = 0;
    let high = this.#starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#starts[middle]! <= offset) low = middle;
      else high = middle - 1;
    }
    return low + 1;
  }
}

function compileCjs(text: string, program: Program): CompiledModule {
  const lines = new Lines(text);
  const requests: ModuleRequest[] = [];
  walkModule(program, {
    globalCall(name, at) {
      const argument = at.arguments[0];
      if (name !== "require" || argument?.type !== "Literal" || typeof argument.value !== "string") return;
      if (requests.some((r) => r.specifier === argument.value)) return;
      requests.push({ specifier: argument.value, line: lines.line(at.start), names: [] });
    },
  });
  return { ...EMPTY, kind: "cjs", code: `(function (exports, require, module) {${text}\n})`, requests };
}
