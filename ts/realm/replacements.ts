// Handles modules that replace built-in objects while they are loaded: a user's module is rejected
// by name and line; for a package the realm restores its built-ins and warns (packages polyfill
// older engines with varying care).
import type { Replacement } from "./guard/keep.ts";
import type { Guard } from "./guard/mod.ts";
import { packageFolder } from "../modules/loader/package_files.ts";
import { displayName, type Problem, WorkflowLoadError } from "../modules/loader/errors.ts";
import type { EvaluationListener } from "../modules/loader/evaluate.ts";
import type { LoadedModule } from "../modules/loader/module_graph.ts";

const WHY = "on which every run of the realm and the realm itself stand";

export const keptWords = (name: string): string =>
  `replaces ${name}, ${WHY}: the realm keeps its own`;

/**
 * Returns the part of a module's address that names its package; user modules are their own group.
 */
function groupOf({ url }: LoadedModule): string {
  return packageFolder(url)?.name ?? url;
}

/**
 * Checks after each module. For packages, which have hundreds of modules, it checks only what
 * loading needs, and everything after the last consecutive module of a package.
 */
export function watchReplacements(
  modules: readonly LoadedModule[],
  guard: Pick<Guard, "restore">,
  warn: (message: string) => void,
): EvaluationListener {
  // Computed beforehand and in the simplest form: a module may have replaced functions called
  // below.
  const groups = Object.create(null) as { [url: string]: string };
  for (const module of modules) groups[module.url] = groupOf(module);
  const judge = (module: LoadedModule, replaced: Replacement | undefined): void => {
    if (replaced === undefined) return;
    // The remaining built-ins may not suffice to build a detailed error.
    if (replaced.final) throw new Error(`${module.url} replaces ${replaced.name} for good, ${WHY}`);
    if (groups[module.url] === module.url) {
      throw new WorkflowLoadError([refusal(module, replaced.name)]);
    }
    warn(`${displayName(module.url)} ${keptWords(replaced.name)}`);
  };
  /** A module of a package that was not checked in full. */
  let open: LoadedModule | undefined;
  return {
    turnTo(module) {
      const last = open;
      if (last === undefined || (module !== undefined && groups[module.url] === groups[last.url])) {
        return;
      }
      open = undefined;
      judge(last, guard.restore());
    },
    left(module) {
      const own = groups[module.url] === module.url;
      if (!own) open = module;
      judge(module, own ? guard.restore() : guard.restore("what loading needs"));
    },
  };
}

function refusal({ url, code }: LoadedModule, name: string): Problem {
  const word = name.slice(name.lastIndexOf(".") + 1);
  const line = code.split("\n").findIndex((text) => text.includes(word)) + 1;
  const message = `replaces ${name}, ${WHY}; write a separate function instead`;
  return { code: "evaluation", file: displayName(url), line, column: 0, name, message };
}
