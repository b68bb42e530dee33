// Turns one module into the text of a function that a realm evaluates. TypeScript's types are taken out by sucrase, which keeps every
// line where it was, so that stack traces name the user's own line; imports and exports are rewritten here.
//
// An ES module becomes a generator: its first step declares the exports and hoists functions, its second runs the body. That gives
// cyclic modules, live bindings and uninitialised `const`s the meaning that the language gives them. Imported names become reads of
// the other module's namespace (`$i0.name`). A CommonJS module becomes the usual function of (exports, require, module).
//
// There are two forms. "shared" is evaluated once per realm: state that would pass from run to run is refused. "run" is evaluated for each
// run (programs of `@temporalio/workflow`): its global names are those of the run, and its async generators tick as the official bundler's.
import { parse, type Program } from "acorn";
import { displayName, type Problem, type ProblemCode, WorkflowLoadError } from "./errors.ts";
import { Edits } from "./edits.ts";
import { EsmCompiler } from "./esm.ts";
import { RewriteError, rewriteModule } from "./rewrite.ts";
import { editGlobal, type RunNames } from "./run_globals.ts";
import { walkModule } from "./scope.ts";
import { IS_TS, needsSucrase, strip, SucraseNotLoadedError } from "./strip.ts";

export type ModuleKind = "esm" | "cjs" | "json";

/** One imported module of a module; its index is the number in `$i0`, `$i1`, ... */
export interface ModuleRequest {
  readonly specifier: string;
  readonly line: number;
  /** `require("...")`, also in a module with imports. */
  readonly required?: boolean;
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

/** How a module is evaluated: once for all runs of a realm, or once for each run. */
export type Form = "shared" | "run";

/** What other modules and the graph need to know of a module. */
export interface ModuleOutline {
  readonly kind: ModuleKind;
  readonly requests: readonly ModuleRequest[];
  /** Names that the module itself defines. */
  readonly exports: readonly string[];
  readonly indirect: readonly IndirectExport[];
  /** Requests of `export * from "..."`. */
  readonly stars: readonly number[];
}

/** A module in one form. */
export interface CompiledModule {
  readonly code: string;
  /** Exports that hold a mutable collection. */
  readonly collections: readonly string[];
  readonly importedMutations: readonly ImportedMutation[];
  /** Imported names that the module's own code reads; others are at most exported again. */
  readonly reads: ReadonlySet<string>;
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
}

/** A parsed module: what it asks for and offers, and its text in each form. */
export interface ModuleUnit extends ModuleOutline {
  compile(form: Form): CompiledModule;
}

export interface ModuleSource {
  readonly url: string;
  readonly text: string;
  /** What the file name and package.json say; undefined where only the text can tell. */
  readonly kind: ModuleKind | undefined;
  /** In a package: what only may go wrong when it is called (dynamic import) is left to the call. */
  readonly foreign: boolean;
  /** The runtime has no AsyncLocalStorage: what is evaluated for each run puts its frames back itself. */
  readonly restoreFrames: boolean;
}

/**
 * Parses one module. Syntax errors throw; everything else is collected in `problems` of its forms. Throws a SucraseNotLoadedError for
 * TypeScript before `loadSucrase` has resolved.
 */
export function parseUnit(source: ModuleSource): ModuleUnit {
  if (source.kind === "json") return jsonUnit(source);
  const text = stripTypes(source);
  const kind = source.kind ?? (hasModuleSyntax(source, text) ? "esm" : "cjs");
  const program = parseModule(source, text, kind);
  if (kind === "cjs") return cjsUnit(source, text, program);
  const outline = new EsmCompiler(source, text, program, "shared").outline();
  return { ...outline, compile: (form) => finished(source, form, new EsmCompiler(source, text, program, form).compile()) };
}

function jsonUnit(source: ModuleSource): ModuleUnit {
  try {
    JSON.parse(source.text);
  } catch (e) {
    throw new WorkflowLoadError([problem(source, "syntax", 0, 0, "", `is not valid JSON: ${(e as Error).message}`)]);
  }
  return { ...EMPTY_UNIT, kind: "json", exports: ["default"], compile: () => ({ ...EMPTY, code: source.text }) };
}

const EMPTY: CompiledModule = {
  ...{ code: "", collections: [], importedMutations: [] },
  ...{ reads: new Set<string>(), problems: [], warnings: [] },
};

/** The key of an imported name in `reads`. */
export const readKey = (request: number, name: string): string => `${request} ${name}`;

/** Of a module that cannot be parsed. */
export const EMPTY_UNIT: ModuleUnit = {
  kind: "cjs",
  requests: [],
  exports: [],
  indirect: [],
  stars: [],
  compile: () => EMPTY,
};

/** What is evaluated for each run behaves as the official bundler compiles it, and follows scopes where the runtime does not. */
function finished(source: ModuleSource, form: Form, compiled: CompiledModule): CompiledModule {
  if (form === "shared" || compiled.problems.length > 0) return compiled;
  if (source.text.includes("$tx")) {
    const message = "uses names that begin with $tx, which the loader needs for itself";
    return { ...compiled, problems: [problem(source, "syntax", 0, 0, "$tx", message)] };
  }
  // The official bundler compiles TypeScript, and takes JavaScript and packages as they are.
  const compileGenerators = IS_TS.test(source.url) && !source.foreign;
  if (!source.restoreFrames && !(compileGenerators && /\basync\b/.test(compiled.code))) return compiled;
  try {
    return { ...compiled, code: rewriteModule(compiled.code, { compileGenerators, restoreFrames: source.restoreFrames }) };
  } catch (e) {
    if (!(e instanceof RewriteError)) throw e;
    return { ...compiled, problems: [problem(source, "syntax", e.line, 0, e.construct, e.message)] };
  }
}

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

function cjsUnit(source: ModuleSource, text: string, program: Program): ModuleUnit {
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
  const compile = (form: Form): CompiledModule => {
    if (form === "shared") return { ...EMPTY, code: `(function (exports, require, module) {${text}\n})` };
    const names = runNames(freePrefix(text, ["g", "n"]));
    const edits = new Edits(text);
    walkModule(program, {
      reference(node, binding, write, _deferred, parents) {
        if (binding === undefined) editGlobal(node, write, parents, edits, names, true);
      },
      dynamicImport: (at) => edits.replace(at.start, at.start + "import".length, "require.import"),
    });
    const parameters = `exports, require, module, ${names.global}, ${names.lookup}, $tx`;
    return finished(source, form, { ...EMPTY, code: `(function (${parameters}) {${edits.apply()}\n})` });
  };
  return { ...EMPTY_UNIT, requests, compile };
}

/** Begins no name of the text with one of the letters behind it. */
export function freePrefix(text: string, letters: readonly string[]): string {
  let prefix = "$";
  while (letters.some((letter) => text.includes(prefix + letter))) prefix += "$";
  return prefix;
}

/** The parameters of a module in the form for runs. */
export const runNames = (prefix: string): RunNames => ({ global: `${prefix}g`, lookup: `${prefix}n` });
