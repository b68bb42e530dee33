// Warnings of a graph as its user reads them.
import type { Problem } from "./errors.ts";
import type { ModuleResolver } from "./resolve.ts";

/** Of a package, which its user cannot fix, one warning is enough. */
export function foldWarnings(warnings: readonly Problem[], resolver: ModuleResolver): Problem[] {
  const folded = new Map<string, Problem>();
  const out: Problem[] = [];
  for (const warning of warnings) {
    const name = resolver.packageOf(warning.file);
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
