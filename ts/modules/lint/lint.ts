// Lints workflow code without running it: everything that the loader rejects or warns of, and the
// rules of rules.ts for the user's modules. Packages are not linted: their users cannot fix them.
import { parse, type Program } from "acorn";
import { transform } from "sucrase";
import { fileSources, fileUrl, type SourceHost } from "../../platform/source_files.ts";
import { displayName, type Problem, WorkflowLoadError } from "../loader/errors.ts";
import type { ModuleGraph } from "../loader/module_graph.ts";
import { Lines } from "../loader/module_code.ts";
import { IS_TS } from "../loader/strip.ts";
import { loadSources } from "../sources.ts";
import { Ignores } from "./ignores.ts";
import { type MessageUse, ModuleLint } from "./module_lint.ts";
import { TemporalLint } from "./temporal_lint.ts";
import { type Rule, type RuleId, RULES, type Severity } from "./rules.ts";

export interface LintFinding {
  readonly rule: RuleId;
  readonly severity: Severity;
  readonly file: string;
  /** From 1; 0 for the file as a whole. */
  readonly line: number;
  /** From 1; 0 if unknown. */
  readonly column: number;
  readonly message: string;
  readonly why: string;
  readonly advice: string;
}

export interface LintOptions {
  /** Severities that differ from the table; "off" disables the rule. */
  readonly rules?: { readonly [rule in RuleId]?: Severity | "off" };
  /** Source of the modules. Default: the file system. */
  readonly host?: SourceHost;
}

export interface LintResult {
  /** Sorted by file, line and column. */
  readonly findings: readonly LintFinding[];
  /** Modules that were checked. */
  readonly files: readonly string[];
}

interface Module {
  readonly url: string;
  readonly text: string;
  readonly use: MessageUse;
  readonly add: (rule: RuleId, at: number, name: string, message: string) => void;
}

/**
 * Lints workflow modules (paths, relative to the working directory, or URLs) and all their imports.
 */
export async function lintWorkflows(
  modules: readonly (string | URL)[],
  options: LintOptions = {},
): Promise<LintResult> {
  const texts = new Map<string, string>();
  const files = options.host ?? await fileSources();
  const host: SourceHost = {
    ...files,
    map: (specifier, parent) => files.map(specifier, parent),
    real: (url) => files.real(url),
    isFile: (url) => files.isFile(url),
    read(url) {
      const text = files.read(url);
      if (text !== undefined && /\.[cm]?[jt]sx?$/.test(url) && !url.includes("/node_modules/")) {
        texts.set(url, text);
      }
      return text;
    },
  };
  const findings: LintFinding[] = [];
  const ignores = new Map<string, Ignores>();
  const add = (
    rule: RuleId,
    file: string,
    line: number,
    column: number,
    message: string,
    usual?: Partial<Rule>,
  ) => {
    const described: Rule = { ...RULES[rule], ...usual };
    const severity = options.rules?.[rule] ?? described.severity;
    if (severity === "off" || ignores.get(file)?.has(rule, line)) return;
    const { why, advice } = described;
    findings.push({ rule, severity, file, line, column, message, why, advice });
  };
  const urls = await Promise.all(modules.map(fileUrl));
  let { problems, warnings, graph } = await attempt(urls, host, true);
  const hasTemporal = [...texts.values()].some((text) => TEMPORAL.test(text));
  if (hasTemporal) ({ problems, warnings, graph } = await attempt(urls, host, false));
  for (const [url, text] of texts) ignores.set(displayName(url), new Ignores(text));
  for (const problem of problems) {
    add(problem.code, problem.file, problem.line, problem.column, problem.message);
  }
  // Warnings about packages are printed when a worker starts; nothing in this project can fix them.
  const own = warnings.filter(({ file }) => !file.includes("/node_modules/"));
  for (const warning of own) {
    add(warning.code, warning.file, warning.line, warning.column, warning.message, {
      severity: "warning",
    });
  }
  if (graph !== undefined) {
    for (const { url, specifier, message } of needsOfPackages(graph, texts)) {
      add("package-builtin", displayName(url), lineOf(texts.get(url)!, specifier), 0, message);
    }
  }
  const linted: Module[] = [];
  for (const [url, text] of texts) {
    const kinds = hasTemporal ? kindsOf(url, text, graph) : { native: true, temporal: false };
    const module = kinds.native ? lintModule(url, text, add) : undefined;
    if (module !== undefined) linted.push(module);
    if (kinds.temporal) lintTemporal(url, text, add);
  }
  unhandled(linted);
  findings.sort((
    a,
    b,
  ) => (a.file < b.file ? -1 : a.file > b.file ? 1 : a.line - b.line || a.column - b.column));
  return { findings, files: [...texts.keys()].map(displayName) };
}

const TEMPORAL =
  /["'](?:@temporalio\/(?:workflow|common)|temporalex\/compat\/(?:workflow|common))["'/]/;
const NATIVE = /["'](?:temporalex|@temporalex\/temporalex)\/workflow["']/;

interface Attempt {
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
  /** Undefined if the modules do not load. */
  readonly graph: ModuleGraph | undefined;
}

async function attempt(
  urls: readonly string[],
  host: SourceHost,
  native: boolean,
): Promise<Attempt> {
  try {
    const { graph } = await loadSources({ workflows: urls, sources: host, native });
    return { problems: [], warnings: graph.warnings, graph };
  } catch (e) {
    if (!(e instanceof WorkflowLoadError)) throw e;
    return { problems: e.problems, warnings: [], graph: undefined };
  }
}

/**
 * Returns which rules apply to a module: those of the kinds of programs that evaluate it. If the
 * modules do not load, its own imports decide.
 */
function kindsOf(
  url: string,
  text: string,
  graph: ModuleGraph | undefined,
): { native: boolean; temporal: boolean } {
  const module = graph?.modules.find((each) => each.url === url);
  if (module === undefined || NATIVE.test(text)) {
    return { native: NATIVE.test(text), temporal: TEMPORAL.test(text) };
  }
  return { native: module.code !== "" && module.runCode === "", temporal: module.runCode !== "" };
}

/** Reports packages that import modules of Node, at the user's import that loads them. */
function needsOfPackages(
  { modules }: ModuleGraph,
  texts: ReadonlyMap<string, string>,
): { url: string; specifier: string; message: string }[] {
  return modules.filter(({ url }) => texts.has(url)).flatMap(({ url, dependencies, specifiers }) =>
    dependencies.flatMap((dependency, i) => {
      if (!("module" in dependency) || texts.has(modules[dependency.module]!.url)) return [];
      const needed = new Set<string>();
      const reached = new Set([dependency.module]);
      for (const index of reached) {
        for (const other of modules[index]!.dependencies) {
          if ("module" in other) {
            if (!texts.has(modules[other.module]!.url)) reached.add(other.module);
          } else if (other.host !== undefined) needed.add(other.host.name);
        }
      }
      const specifier = specifiers[i]!;
      const names = [...needed].sort().join(", ");
      return needed.size === 0
        ? []
        : [{ url, specifier, message: `the package "${specifier}" imports ${names}` }];
    })
  );
}

const lineOf = (text: string, specifier: string): number =>
  text.split("\n").findIndex((line) =>
    line.includes(`"${specifier}"`) || line.includes(`'${specifier}'`)
  ) + 1;

type Add = (
  rule: RuleId,
  file: string,
  line: number,
  column: number,
  message: string,
  usual?: Partial<Rule>,
) => void;
type Found = (
  rule: RuleId,
  offset: number,
  name: string,
  message: string,
  usual?: Partial<Rule>,
) => void;

function lintModule(url: string, text: string, add: Add): Module | undefined {
  const parsed = parsedModule(url, text, add);
  if (parsed === undefined) return undefined;
  const lint = new ModuleLint(parsed.program);
  const use = lint.run();
  for (const { rule, at: offset, name, message } of lint.findings) {
    parsed.found(rule, offset, name, message);
  }
  return { url, text, use, add: parsed.found };
}

function lintTemporal(url: string, text: string, add: Add): void {
  const parsed = parsedModule(url, text, add);
  if (parsed === undefined) return;
  const lint = new TemporalLint(parsed.program, text);
  lint.run();
  for (const { rule, at: offset, name, message } of lint.findings) {
    parsed.found(rule, offset, name, message, (RULES[rule] as Rule).temporal);
  }
}

/** Undefined for a module that does not parse, which the loader has reported. */
function parsedModule(
  url: string,
  text: string,
  add: Add,
): { program: Program; found: Found } | undefined {
  let code: string;
  let program: Program;
  try {
    code = IS_TS.test(url) || /\.[jt]sx$/.test(url) ? stripTypes(url, text) : text;
    program = parse(code, { ecmaVersion: "latest", sourceType: "module", allowHashBang: true });
  } catch {
    return undefined;
  }
  const lines = new Lines(code);
  const own = text.split("\n");
  const stripped = code.split("\n");
  const file = displayName(url);
  const at = (offset: number, name: string): [line: number, column: number] => {
    const line = lines.line(offset);
    const column = offset -
      stripped.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
    return [line, columnIn(own[line - 1] ?? "", stripped[line - 1] ?? "", column, name)];
  };
  return {
    program,
    found: (rule, offset, name, message, usual) =>
      add(rule, file, ...at(offset, name), message, usual),
  };
}

function stripTypes(url: string, text: string): string {
  return transform(text, {
    transforms: [
      ...(IS_TS.test(url) ? ["typescript" as const] : []),
      ...(/\.[jt]sx$/.test(url) ? ["jsx" as const] : []),
    ],
    disableESTransforms: true,
    production: true,
    keepUnusedImports: false,
  }).code;
}

/**
 * Returns the column in the author's text, from 1. The parsed line has no types, so the name is at
 * `column` or further right.
 */
function columnIn(own: string, stripped: string, column: number, name: string): number {
  if (own.startsWith(stripped.slice(0, column + 1))) return column + 1;
  const token = /^[\w$.]+/.exec(stripped.slice(column))?.[0] ?? stripped.slice(column, column + 1);
  for (
    const wanted of [
      stripped.slice(column),
      stripped.slice(column, column + 24),
      token,
      name.split(".")[0]!,
    ]
  ) {
    const found = wanted === "" ? -1 : own.indexOf(wanted, column);
    if (found >= 0) return found + 1;
  }
  return 0;
}

/** Reports messages that a workflow lists and that no module uses in another way. */
function unhandled(modules: readonly Module[]): void {
  for (const module of modules) {
    for (const { binding, at, workflow } of module.use.listed) {
      const origin = originOf(modules, module, binding);
      // A namespace import may use it by any name.
      if (origin === undefined || modules.some((other) => takesNamespace(other, origin.module))) {
        continue;
      }
      const used = modules.some((other) =>
        [...other.use.used].some((local) => {
          const from = originOf(modules, other, local);
          return from !== undefined && from.module === origin.module && from.name === origin.name;
        })
      );
      const kind = origin.module.use.declared.get(origin.name)!;
      if (!used) {
        module.add(
          "unhandled-message",
          at,
          binding,
          `workflow "${workflow}" lists the ${kind} ${binding}, and nothing receives it`,
        );
      }
    }
  }
}

function takesNamespace(module: Module, of: Module): boolean {
  return [...module.use.imported.values()].some(({ specifier, name }) =>
    name === "*" && urlOf(module, specifier) === bare(of.url)
  );
}

const bare = (url: string): string => url.replace(/\.[cm]?[jt]sx?$/, "");
const urlOf = (module: Module, specifier: string): string | undefined =>
  specifier.startsWith(".") ? bare(new URL(specifier, module.url).href) : undefined;

/** Returns where a signal or update is declared; undefined if unknown. */
function originOf(
  modules: readonly Module[],
  module: Module,
  local: string,
): { module: Module; name: string } | undefined {
  if (module.use.declared.has(local)) return { module, name: local };
  const imported = module.use.imported.get(local);
  const url = imported === undefined ? undefined : urlOf(module, imported.specifier);
  const other = url === undefined ? undefined : modules.find((each) => bare(each.url) === url);
  return other?.use.declared.has(imported!.name)
    ? { module: other, name: imported!.name }
    : undefined;
}
