// The text format of bundles: the modules one after another, without types. A line that begins with
// "//# module" describes the next lines and their number, so no text is escaped. Modules keep their
// names and lines, so stack traces need no source map; the map at the end contains the original
// texts. A bundle is not a JavaScript module: two modules may declare the same names.
import { displayName, type Problem, WorkflowLoadError } from "../loader/errors.ts";
import type { ModuleKind } from "../loader/module_code.ts";
import { sourceMapOf } from "./source_map.ts";

/** How a bundle of this version begins. */
const FIRST_LINE = "// Workflow bundle of temporalex, format ";
const FORMAT = 1;
const BUNDLE = "//# bundle ";
const MODULE = "//# module ";
const END = "//# end";

/** Names of the modules that are entries. */
export interface BundleEntries {
  readonly workflows: readonly string[];
  readonly interceptors: readonly string[];
  readonly payloadConverter?: string;
}

/** A module in a bundle. */
export interface BundledModule {
  /**
   * Path from the project's folder, or "node_modules/<name>/..." for packages, encoded as in URLs.
   */
  readonly name: string;
  readonly kind: ModuleKind;
  /** Text without types. */
  readonly text: string;
  /** Text with types, if there were any. */
  readonly original?: string;
  /** By specifier: the name of the module, or "realm:" and what the realm provides. */
  readonly imports: { readonly [specifier: string]: string };
  /** The same for require(). */
  readonly requires: { readonly [specifier: string]: string };
  /** See ModuleResolver. */
  readonly takesDefault?: boolean;
}

/** The content of a bundle. */
export interface BundleContent {
  readonly entries: BundleEntries;
  /** Version of the package that made the bundle. */
  readonly version: string;
  readonly modules: readonly BundledModule[];
}

/**
 * Returns the address of a module of a realm's bundle. Further bundles of a realm have a number.
 */
export const addressOf = (bundle: number, name: string): string => `bundle://${bundle === 0 ? "" : bundle + 1}/${name}`;

/** True for bundles of `temporalex build`, of this version or another. */
export const isBundle = (text: string): boolean => text.startsWith(FIRST_LINE);

/** Returns the file's text without its source map, and the map (JSON). */
export function writeBundle({ entries, version, modules }: BundleContent): { code: string; sourceMap: string } {
  const lines = [
    `${FIRST_LINE}${FORMAT}: workflow modules and all that they import, for`,
    "//   temporalex worker --workflows <this file>        temporalex replay --workflows <this file> <histories>",
    '// Each module stands behind a line "//# module" as it was written, without types. Made by `temporalex build`: change the sources, not this.',
    BUNDLE + JSON.stringify({ ...entries, modules: modules.length, temporalex: version }),
  ];
  const begins: number[] = [];
  for (const { name, kind, text, imports, requires, takesDefault } of modules) {
    const own = text.split("\n");
    lines.push(MODULE + JSON.stringify({ name, kind, lines: own.length, imports, requires, takesDefault }));
    begins.push(lines.length);
    for (const line of own) lines.push(line);
  }
  lines.push(END, "");
  return { code: lines.join("\n"), sourceMap: sourceMapOf(modules, begins) };
}

/**
 * Parses a bundle. `file` is its name in errors. Throws a WorkflowLoadError for a damaged bundle or
 * a later format.
 */
export function readBundle(text: string, file: string): BundleContent {
  const lines = text.split("\n");
  const damaged = (line: number, what: string): never => {
    throw bundleError(file, line, `is a damaged workflow bundle: ${what}. Make it again with \`temporalex build\``);
  };
  const format = Number.parseInt(lines[0]!.slice(FIRST_LINE.length), 10);
  if (format !== FORMAT) {
    throw bundleError(
      file,
      1,
      `is a workflow bundle of format ${format}, and this version of temporalex reads format ${FORMAT}. Make it again with \`temporalex build\` of the version that runs it`,
    );
  }
  const head = (at: number, mark: string): { readonly [field: string]: unknown } => {
    const line = lines[at];
    if (line === undefined) return damaged(at, `it ends where a line "${mark.trim()}" should be, so a part of it is missing`);
    if (!line.startsWith(mark)) return damaged(at + 1, `here should be a line "${mark.trim()}"`);
    try {
      return JSON.parse(line.slice(mark.length)) as { [field: string]: unknown };
    } catch {
      return damaged(at + 1, `the line "${mark.trim()}" is not readable`);
    }
  };
  let at = lines.findIndex((line) => line.startsWith(BUNDLE));
  if (at < 0) return damaged(0, `there is no line "${BUNDLE.trim()}"`);
  const { modules: count, temporalex, workflows, interceptors, payloadConverter } = head(at++, BUNDLE);
  const modules: BundledModule[] = [];
  for (let i = 0; i < Number(count); i++) {
    const module = head(at, MODULE) as unknown as Omit<BundledModule, "text"> & { readonly lines: number };
    const { lines: own, name: of, imports: importing, requires: requiring } = module;
    const isWhole = Number.isInteger(own) && own >= 1 && typeof of === "string" && isTable(importing) && isTable(requiring);
    if (!isWhole) damaged(at + 1, "a module needs a name, a number of lines, imports and requires");
    const begin = at + 1;
    at = begin + module.lines;
    if (at > lines.length) damaged(begin, `module ${module.name} has ${module.lines} lines, and the file ends before`);
    const { name, kind, imports, requires, takesDefault = false } = module;
    modules.push({ name, kind, imports, requires, takesDefault, text: lines.slice(begin, at).join("\n") });
  }
  if (lines[at] !== END) damaged(at + 1, `here should be the line "${END}"`);
  const entries: BundleEntries = {
    workflows: workflows as string[],
    interceptors: interceptors as string[],
    ...(payloadConverter === undefined ? {} : { payloadConverter: payloadConverter as string }),
  };
  return { entries, version: String(temporalex), modules };
}

const isTable = (value: unknown): boolean =>
  typeof value === "object" && value !== null && Object.values(value).every((target) => typeof target === "string");

const OFFICIAL = /^\s*(?:"use strict";\s*)?(?:var|let|const) __TEMPORAL__\b|__webpack_require__[\s\S]*\b__TEMPORAL__\b/;
const OFFICIAL_SOURCE = /importWorkflows\b[^{]*\{\s*(?:\/\/[^\n]*\n\s*)*return __webpack_require__\((?:\/\*.*?\*\/\s*)*"([^"]+)"/;

/**
 * Throws for a bundle of `bundleWorkflowCode` of `@temporalio/worker`, which contains the runtime
 * of the official SDK.
 */
export function refuseOfficialBundle(text: string, file: string): void {
  if (!text.includes("__TEMPORAL__") || !OFFICIAL.test(text)) return;
  const source = OFFICIAL_SOURCE.exec(text)?.[1] ?? "./src/workflows.ts";
  const out = displayName(file);
  throw bundleError(
    file,
    0,
    "is a bundle made by bundleWorkflowCode() of @temporalio/worker, with the runtime of that SDK in it, which cannot run here. Make one " +
      `from the sources: npx temporalex build --workflows ${source} --out ${out.slice(out.lastIndexOf("/") + 1)}`,
  );
}

/** Returns the error for a file that is not a valid bundle. */
export function bundleError(file: string, line: number, message: string): WorkflowLoadError {
  const found: Problem = { code: "unsupported-file", file: displayName(file), line, column: 0, name: file, message };
  return new WorkflowLoadError([found]);
}
