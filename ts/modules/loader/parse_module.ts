// Turns one module into the text of a function that a realm evaluates; every line keeps its number.
// An ES module becomes a generator: the first step declares exports and hoists functions, the
// second runs the body, so cyclic imports, live bindings and uninitialized `const`s behave as in
// the language. A CommonJS module becomes a function of (exports, require, module). "shared" is the
// form evaluated once per realm, "run" the one for each run of a `@temporalio/workflow` program.
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
 * Parses one module. Throws on syntax errors; all other problems are collected in `problems` of its
 * forms. Throws a SucraseNotLoadedError for TypeScript before `loadSucrase` has resolved.
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
  const refused = unsupported.map(({ code, name, line, message }) =>
    problem(source, code, line, 0, name, message)
  );
  const compile = (form: Form) => {
    const compiled = new EsmCompiler(source, text, program, form).compile();
    return finished(source, form, { ...compiled, problems: [...refused, ...compiled.problems] });
  };
  return { ...outline, text, ...points, compile };
}

function withoutUsing(
  source: ModuleSource,
  text: string,
  kind: "esm" | "cjs",
): { text: string; program: Program } {
  const program = parseModule(source, text, kind);
  let compiled: string;
  try {
    compiled = compileUsing(text, program);
  } catch (e) {
    throw loadError(source, text, e);
  }
  return {
    text: compiled,
    program: compiled === text ? program : parseModule(source, compiled, kind),
  };
}

/** Inserts probes into a user's module of a debug session; packages stay unchanged. */
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
    throw new WorkflowLoadError([
      problem(source, "syntax", 0, 0, "", `is not valid JSON: ${(e as Error).message}`),
    ]);
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
 * Without a match, `rewriteModule` without frames changes and rejects nothing (async generators,
 * `await using`, `import()`). Parsing the module again would cost a large part of a worker's start.
 */
const MAY_CHANGE = (() => {
  const gap = String.raw`(?:\s|/\*(?:[^*]|\*(?!/))*\*/|//.*[\n\r\u2028\u2029])*`;
  return new RegExp(
    String.raw`\basync${gap}(?:function\b${gap})?\*|\bawait${gap}using\b|\bimport\b`,
  );
})();

/**
 * Compiles the form for runs like the official bundler, and rewrites scopes for runtimes without
 * AsyncLocalStorage.
 */
function finished(source: ModuleSource, form: Form, compiled: CompiledModule): CompiledModule {
  if (form === "shared" || compiled.problems.length > 0) return compiled;
  if (source.text.includes("$tx")) {
    const message = "uses names that begin with $tx, which the loader reserves";
    return { ...compiled, problems: [problem(source, "syntax", 0, 0, "$tx", message)] };
  }
  // The official bundler compiles TypeScript, and leaves JavaScript and packages unchanged.
  const compileGenerators = IS_TS.test(source.url) && !source.foreign;
  if (!source.restoreFrames && !(compileGenerators && MAY_CHANGE.test(compiled.code))) {
    return compiled;
  }
  try {
    const { code, inexact } = rewriteModule(compiled.code, {
      compileGenerators,
      restoreFrames: source.restoreFrames,
    });
    return { ...compiled, code, ...(inexact !== undefined && { inexactScope: inexact }) };
  } catch (e) {
    if (!(e instanceof RewriteError)) throw e;
    return {
      ...compiled,
      problems: [problem(source, "syntax", e.line, 0, e.construct, e.message)],
    };
  }
}

function compiledText(source: ModuleSource): CompiledText {
  // A hashbang line is not valid inside a function.
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
  return new WorkflowLoadError([problem(source, "syntax", e.line, 0, "", `has ${e.message}`)], {
    cause: e,
  });
}

/** Messages of both parsers end with "(line:column)". */
function syntaxError(source: ModuleSource, plain: string, e: unknown): WorkflowLoadError {
  const message = (e as Error).message.replace(/^Error transforming [^:]*: /, "");
  const at = /\s*\((\d+):(\d+)\)$/.exec(message);
  const { pos, raisedAt } = e as { readonly pos?: number; readonly raisedAt?: number };
  const fromAcorn = typeof raisedAt === "number";
  const column = at === null ? 0 : Number(at[2]) + (fromAcorn ? 1 : 0);
  const hint = fromAcorn ? syntaxAdvice(message, plain, pos ?? raisedAt) : "";
  const text = `syntax error: ${at === null ? message : message.slice(0, at.index)}${hint}`;
  return new WorkflowLoadError([
    problem(source, "syntax", at === null ? 0 : Number(at[1]), column, "", text),
  ], { cause: e });
}

function parseModule(source: ModuleSource, text: string, kind: "esm" | "cjs"): Program {
  try {
    return parse(text, {
      ecmaVersion: "latest",
      sourceType: kind === "esm" ? "module" : "commonjs",
      allowHashBang: true,
    });
  } catch (e) {
    throw syntaxError(source, text, e);
  }
}

/**
 * Like Node for a `.js` file without a "type" in its package: an ES module if it has import or
 * export declarations.
 */
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
      if (
        name !== "require" || argument?.type !== "Literal" || typeof argument.value !== "string"
      ) return;
      const optional = parents.some((parent, i) =>
        parent.type === "TryStatement" && parent.block === (parents[i + 1] ?? at)
      );
      const known = requests.find((r) => r.specifier === argument.value && r.dynamic !== true);
      if (known === undefined) {
        requests.push({
          specifier: argument.value,
          line: lines.line(at.start),
          optional,
          names: [],
        });
      } else if (!optional) known.optional = false;
    },
    dynamicImport: (at) => requestImported(requests, at, lines),
  });
  const compile = (form: Form): CompiledModule => {
    const edits = new Edits(text);
    const dynamicImport = (at: ImportExpression) =>
      edits.replace(at.start, at.start + "import".length, "require.import");
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
    return finished(source, form, {
      ...EMPTY,
      code: `(function (${parameters}) {${edits.apply()}\n})`,
    });
  };
  return { ...EMPTY_UNIT, text, requests, compile };
}
