// `import()` with a literal specifier: the module is part of the graph, and is evaluated when the
// expression is. Modules shared by runs are evaluated when they are loaded.
import type { ImportExpression } from "acorn";
import type { Dependency } from "./module_graph.ts";
import { type Lines, type ModuleRequest, type ModuleUnit, textGap } from "./module_code.ts";
import type { ModuleResolver } from "./resolve.ts";

const MAY_IMPORT = new RegExp(`\\bimport${textGap}\\(`);

/** Whether a text may contain `import()`. Cheaper than a walk over its tree. */
export const mayImport = (text: string): boolean => MAY_IMPORT.test(text);

/** Returns the literal specifier; undefined for other expressions. */
export function importedName({ source }: ImportExpression): string | undefined {
  if (source.type === "Literal") return typeof source.value === "string" ? source.value : undefined;
  if (source.type !== "TemplateLiteral" || source.expressions.length > 0) return undefined;
  return source.quasis[0]!.value.cooked ?? undefined;
}

/** Adds the request of an `import()`. */
export function requestImported(
  requests: ModuleRequest[],
  at: ImportExpression,
  lines: Lines,
): void {
  const specifier = importedName(at);
  if (
    specifier === undefined ||
    requests.some((each) => each.specifier === specifier && each.dynamic === true)
  ) return;
  requests.push({ specifier, line: lines.line(at.start), dynamic: true, names: [] });
}

/** The dependency of an `import()` in a package, until and unless it is linked. */
export const NOT_LOADED: Dependency = { refused: "nothing else imports it" };

interface ImportingModule {
  readonly url: string;
  readonly foreign: boolean;
  readonly unit: ModuleUnit;
  readonly dependencies: Dependency[];
}

/**
 * Links `import()` in packages to modules that another import has loaded. It loads nothing itself,
 * as in the official bundle.
 */
export function linkPackageImports(
  modules: readonly ImportingModule[],
  resolver: ModuleResolver,
  indexOf: (url: string) => number | undefined,
): void {
  for (const { url, foreign, unit, dependencies } of modules) {
    if (!foreign) continue;
    unit.requests.forEach(({ specifier, dynamic }, i) => {
      if (dynamic !== true) return;
      const resolved = resolver.resolve(specifier, url, "import");
      const module = resolved.kind === "file" ? indexOf(resolved.url) : undefined;
      if (module !== undefined) dependencies[i] = { module };
      else if (
        resolved.kind === "provided" && resolved.onlyForRuns === undefined &&
        resolved.host === undefined
      ) {
        dependencies[i] = { provided: resolved.module };
      }
    });
  }
}
