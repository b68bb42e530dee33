// The code goes along: where the reader moves from a run that has its code to another run of its type, the code is beside that one, too. It is
// replayed once the reader rests there, so that a hand that goes over fifty runs does not start fifty replays.
import { effect } from "@preact/signals";
import { currentRun } from "../app/state.ts";
import type { CodeSet } from "../realm/code_set.ts";
import { mayRun } from "../realm/permission.ts";
import { putCode } from "../realm/run_code.ts";
import { isServedRun, replayServed } from "../served/open_served.ts";

const REST_MS = 400;

/** Returns what ends it. */
export function watchCodeAlong(): () => void {
  let last: { readonly type: string; readonly code: CodeSet } | undefined;
  return effect(() => {
    const run = currentRun.value;
    if (run === undefined) return;
    const { type } = run.model.facts;
    const code = run.code.value;
    if (code !== undefined && run.verdict.value.state !== "none") {
      if (mayRun(code)) last = { type, code };
      return;
    }
    const given = code ?? (last?.type === type ? last.code : undefined);
    if (given === undefined) return;
    // In sight at once, so that the panes stay where they are.
    run.code.value = given;
    const timer = setTimeout(() => isServedRun(run) ? replayServed(run) : putCode(run, given), REST_MS);
    return () => clearTimeout(timer);
  });
}
