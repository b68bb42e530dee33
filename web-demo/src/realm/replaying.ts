// Replays a run when its code changes and may run, and sets its verdict. The previous session stays
// visible until the next one exists.
import { batch, effect } from "@preact/signals";
import type { DebugSession } from "temporalex/debug";
import { type FirstVerdict, type OpenRun, showProblem, type Verdict } from "../store/state.ts";
import type { CodeSet } from "../store/code_set.ts";
import { showChanged } from "../inspector/changed.ts";
import { mayRun } from "./permission.ts";

/**
 * Replays the run against the code. Rejects if the code cannot run. `tell` is for edits: it is
 * called when it is known whether the code replays, before its lines are known.
 */
export type Replay = (
  run: OpenRun,
  code: CodeSet,
  tell?: (said: FirstVerdict) => void,
) => Promise<DebugSession>;

/** Recognizes a load error by its shape, because its class is loaded with the first replay. */
interface LoadError extends Error {
  readonly problems?: readonly {
    readonly code: string;
    readonly file: string;
    readonly line: number;
    readonly message: string;
  }[];
}

/** Watches the code of a run. Returns a function that stops it. */
export function replayOnChange(run: OpenRun, replay: Replay): () => void {
  let asked = 0;
  let last: CodeSet | undefined;
  const start = async (code: CodeSet, mine: number, isEdit: boolean) => {
    const began = performance.now();
    let verdict: Verdict;
    const tell = (said: FirstVerdict) => {
      const now = run.verdict.peek();
      if (mine === asked && now.state === "replaying") run.verdict.value = { ...now, said };
    };
    try {
      const session = await replay(run, code, isEdit ? tell : undefined);
      const changed = session.changedValues;
      if (mine !== asked) return;
      batch(() => {
        run.session.value = session;
        run.changed.value = changed;
      });
      if (changed.length > 0) showChanged();
      const { problem } = session;
      verdict = problem === undefined
        ? { state: "replays", tookMs: performance.now() - began }
        : { state: problem.isDivergence ? "diverges" : "fails", problem };
    } catch (error) {
      if (mine !== asked) return;
      verdict = failed(error as LoadError, settled(run.verdict.peek()));
    }
    batch(() => {
      run.verdict.value = verdict;
      showProblem(run);
    });
  };
  return effect(() => {
    const code = run.code.value;
    const may = code !== undefined && mayRun(code);
    const mine = ++asked;
    const before = run.verdict.peek();
    const isEdit = code !== undefined && last?.id === code.id;
    // Code that waits for permission has not been replayed, so its first replay is not an edit.
    last = may ? code : undefined;
    if (code === undefined || !may) {
      run.verdict.value = { state: code === undefined ? "none" : "waiting for permission" };
      return;
    }
    run.verdict.value = {
      state: "replaying",
      ...(isEdit && before.state !== "none" ? { before: settled(before) } : {}),
    };
    void start(code, mine, isEdit);
  });
}

function failed(error: LoadError, before: Verdict): Verdict {
  const syntax = error.problems?.find(({ code }) => code === "syntax");
  const [first] = error.problems ?? [];
  return syntax === undefined
    ? { state: "no replay", message: error.message, ...(first !== undefined && { at: first }) }
    : {
      state: "not parsed",
      file: syntax.file,
      line: syntax.line,
      message: syntax.message,
      before,
    };
}

const settled = (verdict: Verdict): Verdict =>
  "before" in verdict && verdict.before !== undefined ? verdict.before : verdict;
