// Attaches the code of a run to another run of the same type when the reader moves there. The
// replay starts after a pause, so that moving quickly over fifty runs does not start fifty replays.
import { effect } from "@preact/signals";
import { currentRun } from "../store/state.ts";
import type { CodeSet } from "../store/code_set.ts";
import { mayRun } from "../realm/permission.ts";
import { putCode } from "../realm/run_code.ts";
import { isServedRun, replayServed } from "../served/open_served.ts";

const REST_MS = 400;

/** Returns a function that stops it. */
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
    // The code is attached at once, so that the layout of the panes does not change.
    run.code.value = given;
    const timer = setTimeout(
      () => isServedRun(run) ? replayServed(run) : putCode(run, given),
      REST_MS,
    );
    return () => clearTimeout(timer);
  });
}
