// Selects the warnings of a graph that are shown to the user.
import type { Problem } from "./errors.ts";
import type { ModuleResolver } from "./resolve.ts";

/** Keeps one warning per package: its users cannot fix it. */
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
