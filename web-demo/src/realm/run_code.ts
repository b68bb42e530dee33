// The code of open runs: attaches, replays and stops it.
import { effect, type Signal, signal } from "@preact/signals";
import { currentRun, openedRuns, type OpenRun } from "../store/state.ts";
import type { CodeSet } from "../store/code_set.ts";
import { findKeptCode, keepCodeOf } from "./kept_code.ts";
import { replayOnChange } from "./replaying.ts";

const watched = new WeakSet<OpenRun>();

/** The question which of several files has the workflow; undefined without a question. */
export const entryQuestion: Signal<
  | { readonly run: OpenRun; readonly candidates: readonly string[]; choose(path: string): void }
  | undefined
> = signal(undefined);

/** Attaches code to a run. It is replayed as soon as it may run. */
export function putCode(run: OpenRun, code: CodeSet): void {
  run.code.value = code;
  if (watched.has(run)) return;
  watched.add(run);
  const end = replayOnChange(run, async (_, current, tell) => {
    const { replayCode } = await import("./replay_code.ts");
    return await replayCode(run, current, tell);
  });
  const endKeeping = keepCodeOf(run);
  // The run of the first screen is not in the list.
  let wasOpen = false;
  const unwatch = effect(() => {
    const isOpen = openedRuns.value.includes(run) || currentRun.value === run;
    if (isOpen || !wasOpen) {
      wasOpen ||= isOpen;
      return;
    }
    end();
    endKeeping();
    watched.delete(run);
    void import("./replay_code.ts").then(({ closeCode }) => closeCode(run));
    queueMicrotask(() => unwatch());
  });
}

/** Attaches the code that was kept for a run, unless it has code. */
export async function restoreCode(run: OpenRun): Promise<void> {
  if (run.code.peek() !== undefined) return;
  const code = await findKeptCode(run.key);
  if (code !== undefined && run.code.peek() === undefined) putCode(run, code);
}

/** Stops the code of a run, also in an endless loop. */
export async function stopRunning(run: OpenRun): Promise<void> {
  const { stopCode } = await import("./replay_code.ts");
  stopCode(run);
}
