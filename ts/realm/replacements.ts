// What becomes of modules that replace built-in objects while they are loaded: one of the user's own is refused, by name and line; of a
// package the realm keeps its own, and warns (packages fix what older engines lack, and look whether it is needed with more or less care).
import type { Replacement } from "./guard/keep.ts";
import type { Guard } from "./guard/mod.ts";
import { packageFolder } from "../modules/loader/package_files.ts";
import { displayName, type Problem, WorkflowLoadError } from "../modules/loader/errors.ts";
import type { EvaluationListener } from "../modules/loader/evaluate.ts";
import type { LoadedModule } from "../modules/loader/graph.ts";

const WHY = "on which every run of the realm and the realm itself stand";

export const keptWords = (name: string): string => `replaces ${name}, ${WHY}: the realm keeps its own`;

/** The part of a module's address that names its package; of the user's own modules each stands for itself. */
function groupOf({ url }: LoadedModule): string {
  return packageFolder(url)?.name ?? url;
}

/**
 * Looks after each module; of packages, which have hundreds, only at what loading itself needs, and at all of it after the last module of a
 * package in a row.
 */
export function watchReplacements(
  modules: readonly LoadedModule[],
  guard: Pick<Guard, "restore">,
  warn: (message: string) => void,
): EvaluationListener {
  // By now, and in the plainest form: what is called below may have been replaced until it is restored.
  const groups = Object.create(null) as { [url: string]: string };
  for (const module of modules) groups[module.url] = groupOf(module);
  const judge = (module: LoadedModule, replaced: Replacement | undefined): void => {
    if (replaced === undefined) return;
    // What is left of the language may not even do for an error that says more.
    if (replaced.final) throw new Error(`${module.url} replaces ${replaced.name} for good, ${WHY}`);
    if (groups[module.url] === module.url) throw new WorkflowLoadError([refusal(module, replaced.name)]);
    warn(`${displayName(module.url)} ${keptWords(replaced.name)}`);
  };
  /** Of a package, and not looked at in full. */
  let open: LoadedModule | undefined;
  return {
    turnTo(module) {
      const last = open;
      if (last === undefined || (module !== undefined && groups[module.url] === groups[last.url])) return;
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
  const message = `replaces ${name}, ${WHY}; write a function of your own instead`;
  return { code: "evaluation", file: displayName(url), line, column: 0, name, message };
}
