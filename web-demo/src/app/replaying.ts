// Replays a run whenever its code changes, and says what came of it. The last session stays in sight until the next one is there.
import { effect } from "@preact/signals";
import type { DebugSession } from "temporalex/debug";
import type { OpenRun, Verdict } from "./state.ts";

/** Replays the run against the code. Rejects where the code cannot be run at all. */
export type Replay = (run: OpenRun) => Promise<DebugSession>;

/** Watches the code of a run. Returns what ends the watch. */
export function replayOnChange(run: OpenRun, replay: Replay): () => void {
  let asked = 0;
  return effect(() => {
    const code = run.code.value;
    const mine = ++asked;
    const before = run.verdict.peek();
    if (code === undefined) {
      run.verdict.value = { state: "none" };
      return;
    }
    run.verdict.value = { state: "replaying", ...(before.state === "none" ? {} : { before: settled(before) }) };
    const began = performance.now();
    void replay(run).then((session) => {
      if (mine !== asked) return;
      run.session.value = session;
      const { problem } = session;
      run.verdict.value = problem === undefined
        ? { state: "replays", tookMs: performance.now() - began }
        : { state: problem.isDivergence ? "diverges" : "fails", problem };
    }, (error: Error) => {
      if (mine === asked) run.verdict.value = { state: "no replay", message: error.message };
    });
  });
}

const settled = (verdict: Verdict): Verdict => "before" in verdict && verdict.before !== undefined ? verdict.before : verdict;
