// Programs of `@temporalio/workflow` in the thread of a test: through the realm's loader, with the
// clock and the random numbers of the run that a realm's guard would give, but with nothing
// isolated. For tests that need the task runner itself.
import { AsyncLocalStorage } from "node:async_hooks";
import {
  type AsyncStorage,
  asyncStorageContext,
  compatModules,
  CompatProgram,
  rewriteHelper,
  SlotContext,
} from "../../../../ts/compat/mod.ts";
import { current } from "../../../../ts/executor/program/current.ts";
import { EvaluableGraph } from "../../../../ts/modules/loader/evaluate.ts";
import { loadSources, type SourceOptions } from "../../../../ts/modules/sources.ts";

/** As a guard's. */
const now = () => current.run?.timeMs ?? 0;
class RunDate extends Date {
  constructor(...args: unknown[]) {
    super(...(args.length === 0 ? [now()] : args) as [number]);
  }
  static override now(): number {
    return now();
  }
}
const math = Object.create(Math, { random: { value: () => current.run?.random() ?? 0 } });

/** Loads the modules. `asyncStorage` absent: scopes are followed by rewritten code. */
export async function loadProgram(
  options: SourceOptions,
  asyncStorage?: AsyncStorage,
): Promise<CompatProgram> {
  const scopes = asyncStorage === undefined ? "rewritten" : "asyncLocalStorage";
  const { graph } = await loadSources({ ...options, scopes });
  const evaluable = new EvaluableGraph(graph, {
    provided: compatModules(),
    evaluate: (code) =>
      new Function("Date", "Math", `return (${code.replace(/\n\/\/# sourceURL=/, "\n)$&")}`)(
        RunDate,
        math,
      ),
  });
  const frames = asyncStorage === undefined ? new SlotContext() : undefined;
  return new CompatProgram({
    scopes: frames ?? asyncStorageContext(asyncStorage!),
    helper: rewriteHelper(frames),
    modules: (scope) => evaluable.evaluateForRun(scope),
  });
}

/** A program of one text. */
export const programOf = (text: string): Promise<CompatProgram> =>
  loadProgram(
    { workflows: "/app/main.ts", sources: { "/app/main.ts": text } },
    new AsyncLocalStorage(),
  );
