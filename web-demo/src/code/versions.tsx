// The versions of the code of a run, each with the result of its replay, so that the version that
// broke the run is visible at a glance. Each version can be shown again. Edits belong to the
// version that was opened.
import { effect, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type { JSX } from "preact";
import type { OpenRun, Verdict } from "../store/state.ts";
import type { CodeSet } from "../store/code_set.ts";

interface Version {
  readonly code: CodeSet;
  readonly verdict: string;
}

const known = new WeakMap<OpenRun, Signal<readonly Version[]>>();

/** From the first call, each version of a run's code is kept while the run is open. */
export function versionsOf(run: OpenRun): ReadonlySignal<readonly Version[]> {
  const found = known.get(run);
  if (found !== undefined) return found;
  const versions: Signal<readonly Version[]> = signal([]);
  known.set(run, versions);
  let seen: { readonly id: string; readonly verdict: Verdict } | undefined;
  effect(() => {
    const [code, verdict] = [run.code.value, run.verdict.value];
    if (code === undefined) return;
    // The verdict is that of the previous version until the replay of this version begins.
    const isOthers = seen !== undefined && seen.id !== code.id && seen.verdict === verdict;
    if (!isOthers) seen = { id: code.id, verdict };
    const all = versions.peek();
    const before = all.find((one) => one.code.id === code.id);
    const next: Version = {
      code,
      verdict: (isOthers ? undefined : words(verdict)) ?? before?.verdict ?? "",
    };
    versions.value = before === undefined
      ? [...all, next]
      : all.map((one) => one === before ? next : one);
  });
  return versions;
}

/** Undefined while the replay is in progress. */
function words(verdict: Verdict): string | undefined {
  switch (verdict.state) {
    case "replays":
      return "replays";
    case "diverges":
    case "fails":
      return `${verdict.state} at event ${verdict.problem.position}`;
    case "no replay":
      return "not replayed";
    case "waiting for permission":
      return "not run";
    default:
      return undefined;
  }
}

/** Shown if there are at least two versions. */
export function VersionsList({ run }: { run: OpenRun }): JSX.Element | null {
  const all = versionsOf(run).value;
  if (all.length < 2) return null;
  const shown = all.findIndex(({ code }) => code.id === run.code.value?.id);
  return (
    <select
      id="versions"
      class="wide-only"
      aria-label="Versions of the code"
      title="Opened versions of the code, and the results of their replays"
      value={String(shown)}
      onChange={({ currentTarget }) => {
        const chosen = all[Number(currentTarget.value)];
        if (chosen !== undefined) run.code.value = chosen.code;
      }}
    >
      {all.map(({ code, verdict }, i) => (
        <option key={code.id} value={String(i)}>
          {`version ${i + 1}${verdict === "" ? "" : ` ${verdict}`}`}
        </option>
      ))}
    </select>
  );
}
