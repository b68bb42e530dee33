// Turns one module into the text of a function that a realm evaluates. TypeScript's types are taken out by sucrase, which keeps every
// line where it was, so that stack traces name the user's own line; imports and exports are rewritten here.
//
// An ES module becomes a generator: its first step declares the exports and hoists functions, its second runs the body. That gives
// cyclic modules, live bindings and uninitialised `const`s the meaning that the language gives them. Imported names become reads of
// the other module's namespace (`$i0.name`). A CommonJS module becomes the usual function of (exports, require, module).
//
// There are two forms. "shared" is evaluated once per realm: state that would pass from run to run is refused. "run" is evaluated for each
// run (programs of `@temporalio/workflow`): its global names are those of the run, and its async generators tick as the official bundler's.
import { type ImportExpression, parse, type Program } from "acorn";
import { mayImport, requestImported } from "./dynamic_imports.ts";
import { Edits } from "./edits.ts";
import { WorkflowLoadError } from "./errors.ts";
import { EsmCompiler } from "./esm.ts";
import { probed, type ProbedModule } from "./line_probes.ts";
import {
  type CompiledModule,
  EMPTY,
  EMPTY_UNIT,
  type Form,
  freePrefix,
  Lines,
  type ModuleRequest,
  type ModuleSource,
  type ModuleUnit,
  problem,
  runNames,
} from "./module_code.ts";
import { RewriteError, rewriteModule } from "./rewrite.ts";
import { editGlobal } from "./run_globals.ts";
import { walkModule } from "./scope.ts";
import { compileUsing } from "./using_declarations.ts";
import { type CompiledText, compileText } from "./compile_text.ts";
import { IS_TS, needsSucrase, SucraseNotLoadedError } from "./strip.ts";
import { syntaxAdvice, UnsupportedSyntaxError } from "./unsupported_syntax.ts";

/**
 * Parses one module. Syntax errors throw; everything else is collected in `problems` of its forms. Throws a SucraseNotLoadedError for
 * TypeScript before `loadSucrase` has resolved.
 */
export function parseUnit(source: ModuleSource): ModuleUnit {
  if (source.kind === "json") return jsonUnit(source);
  const { code: plain, unsupported } = compiledText(source);
  const kind = source.kind ?? (hasModuleSyntax(source, plain) ? "esm" : "cjs");
  const withProbes = probes(source, plain, kind);
  const parsed = withProbes?.text ?? plain;
  const points = withProbes === undefined ? {} : { points: withProbes.points };
  const { text, program } = withoutUsing(source, parsed, kind);
  if (kind === "cjs") return { ...cjsUnit(source, text, program), ...points };
  const outline = new EsmCompiler(source, text, program, "shared").outline();
  const refused = unsupported.map(({ code, name, line, message }) => problem(source, code, line, 0, name, message));
  const compile = (form: Form) => {
    const compiled = new EsmCompiler(source, text, program, form).compile();
    return finished(source, form, { ...compiled, problems: [...refused, ...compiled.problems] });
  };
  return { ...outline, text, ...points, compile };
}

function withoutUsing(source: ModuleSource, text: string, kind: "esm" | "cjs"): { text: string; program: Program } {
  const program = parseModule(source, text, kind);
  let compiled: string;
  try {
    compiled = compileUsing(text, program);
  } catch (e) {
    throw loadError(source, text, e);
  }
  return { text: compiled, program: compiled === text ? program : parseModule(source, compiled, kind) };
}

/** Of a debug session's own modules; packages stay as they are. */
function probes(source: ModuleSource, text: string, kind: "esm" | "cjs"): ProbedModule | undefined {
  if (source.probes === undefined || source.foreign) return undefined;
  try {
    return probed(text, kind, source.probes);
  } catch (e) {
    throw syntaxError(source, text, e);
  }
}

function jsonUnit(source: ModuleSource): ModuleUnit {
  try {
    JSON.parse(source.text);
  } catch (e) {
    throw new WorkflowLoadError([problem(source, "syntax", 0, 0, "", `is not valid JSON: ${(e as Error).message}`)]);
  }
  return {
    ...EMPTY_UNIT,
    kind: "json",
    text: source.text,
    exports: ["default"],
    compile: () => ({ ...EMPTY, code: source.text }),
  };
}

/**
 * Where nothing of it is found, `rewriteModule` without frames changes and refuses nothing: an async generator, `await using`, `import()`.
 * To parse the module once more would be a good part of what its start costs.
 */
const MAY_CHANGE = (() => {
  const gap = String.raw`(?:\s|/\*(?:[^*]|\*(?!/))*\*/|//.*[\n\r\u2028\u2029])*`;
  return new RegExp(String.raw`\basync${gap}(?:function\b${gap})?\*|\bawait${gap}using\b|\bimport\b`);
})();

/** What is evaluated for each run behaves as the official bundler compiles it, and follows scopes where the runtime does not. */
function finished(source: ModuleSource, form: Form, compiled: CompiledModule): CompiledModule {
  if (form === "shared" || compiled.problems.length > 0) return compiled;
  if (source.text.includes("$tx")) {
    const message = "uses names that begin with $tx, which the loader needs for itself";
    return { ...compiled, problems: [problem(source, "syntax", 0, 0, "$tx", message)] };
  }
  // The official bundler compiles TypeScript, and takes JavaScript and packages as they are.
  const compileGenerators = IS_TS.test(source.url) && !source.foreign;
  if (!source.restoreFrames && !(compileGenerators && MAY_CHANGE.test(compiled.code))) return compiled;
  try {
    return { ...compiled, code: rewriteModule(compiled.code, { compileGenerators, restoreFrames: source.restoreFrames }) };
  } catch (e) {
    if (!(e instanceof RewriteError)) throw e;
    return { ...compiled, problems: [problem(source, "syntax", e.line, 0, e.construct, e.message)] };
  }
}

function compiledText(source: ModuleSource): CompiledText {
  // A hashbang line is no JavaScript inside a function.
  const text = source.text.startsWith("#!") ? source.text.replace(/^#![^\n]*/, "") : source.text;
  if (source.stripped === true || !needsSucrase(source.url)) return { code: text, unsupported: [] };
  try {
    return compileText(source.url, text);
  } catch (e) {
    if (e instanceof SucraseNotLoadedError) throw e;
    throw loadError(source, text, e);
  }
}

function loadError(source: ModuleSource, plain: string, e: unknown): WorkflowLoadError {
  if (!(e instanceof UnsupportedSyntaxError)) return syntaxError(source, plain, e);
  return new WorkflowLoadError([problem(source, "syntax", e.line, 0, "", `has ${e.message}`)], { cause: e });
}

/** Both parsers end their message with "(line:column)". */
function syntaxError(source: ModuleSource, plain: string, e: unknown): WorkflowLoadError {
  const message = (e as Error).message.replace(/^Error transforming [^:]*: /, "");
  const at = /\s*\((\d+):(\d+)\)$/.exec(message);
  const { pos, raisedAt } = e as { readonly pos?: number; readonly raisedAt?: number };
  const fromAcorn = typeof raisedAt === "number";
  const column = at === null ? 0 : Number(at[2]) + (fromAcorn ? 1 : 0);
  const hint = fromAcorn ? syntaxAdvice(message, plain, pos ?? raisedAt) : "";
  const text = `syntax error: ${at === null ? message : message.slice(0, at.index)}${hint}`;
  return new WorkflowLoadError([problem(source, "syntax", at === null ? 0 : Number(at[1]), column, "", text)], { cause: e });
}

function parseModule(source: ModuleSource, text: string, kind: "esm" | "cjs"): Program {
  try {
    return parse(text, { ecmaVersion: "latest", sourceType: kind === "esm" ? "module" : "commonjs", allowHashBang: true });
  } catch (e) {
    throw syntaxError(source, text, e);
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

function cjsUnit(source: ModuleSource, text: string, program: Program): ModuleUnit {
  const lines = new Lines(text);
  const requests: (ModuleRequest & { optional?: boolean })[] = [];
  walkModule(program, {
    globalCall(name, at, _deferred, parents) {
      const argument = at.arguments[0];
      if (name !== "require" || argument?.type !== "Literal" || typeof argument.value !== "string") return;
      const optional = parents.some((parent, i) => parent.type === "TryStatement" && parent.block === (parents[i + 1] ?? at));
      const known = requests.find((r) => r.specifier === argument.value && r.dynamic !== true);
      if (known === undefined) requests.push({ specifier: argument.value, line: lines.line(at.start), optional, names: [] });
      else if (!optional) known.optional = false;
    },
    dynamicImport: (at) => requestImported(requests, at, lines),
  });
  const compile = (form: Form): CompiledModule => {
    const edits = new Edits(text);
    const dynamicImport = (at: ImportExpression) => edits.replace(at.start, at.start + "import".length, "require.import");
    if (form === "shared") {
      if (mayImport(text)) walkModule(program, { dynamicImport });
      return { ...EMPTY, code: `(function (exports, require, module) {${edits.apply()}\n})` };
    }
    const names = runNames(freePrefix(text, ["g"]));
    walkModule(program, {
      reference(node, binding, write, _deferred, parents) {
        if (binding === undefined) editGlobal(node, write, parents, edits, names, true);
      },
      dynamicImport,
    });
    const parameters = `exports, require, module, ${names.parameter}, $tx`;
    return finished(source, form, { ...EMPTY, code: `(function (${parameters}) {${edits.apply()}\n})` });
  };
  return { ...EMPTY_UNIT, text, requests, compile };
}
