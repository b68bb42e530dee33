// The versions of the code that were put beside a run, each with what its replay said: which of them broke it is seen at a glance, and any of
// them can be gone back to. What the reader edits is the same version still.
import { effect, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type { JSX } from "preact";
import type { OpenRun, Verdict } from "../app/state.ts";
import type { CodeSet } from "../realm/code_set.ts";

interface Version {
  readonly code: CodeSet;
  readonly verdict: string;
}

const known = new WeakMap<OpenRun, Signal<readonly Version[]>>();

/** From the first call on every version of a run's code is kept, as long as the run is open. */
export function versionsOf(run: OpenRun): ReadonlySignal<readonly Version[]> {
  const found = known.get(run);
  if (found !== undefined) return found;
  const versions: Signal<readonly Version[]> = signal([]);
  known.set(run, versions);
  let seen: { readonly id: string; readonly verdict: Verdict } | undefined;
  effect(() => {
    const [code, verdict] = [run.code.value, run.verdict.value];
    if (code === undefined) return;
    // Until the replay of this version begins, the verdict in sight is that of another.
    const isOthers = seen !== undefined && seen.id !== code.id && seen.verdict === verdict;
    if (!isOthers) seen = { id: code.id, verdict };
    const all = versions.peek();
    const before = all.find((one) => one.code.id === code.id);
    const next: Version = { code, verdict: (isOthers ? undefined : words(verdict)) ?? before?.verdict ?? "" };
    versions.value = before === undefined ? [...all, next] : all.map((one) => one === before ? next : one);
  });
  return versions;
}

/** Undefined: it is on its way. */
function words(verdict: Verdict): string | undefined {
  switch (verdict.state) {
    case "replays":
      return "replays";
    case "diverges":
    case "fails":
      return `${verdict.state} at event ${verdict.problem.position}`;
    case "no replay":
      return "is not replayed";
    case "waiting for permission":
      return "has not run";
    default:
      return undefined;
  }
}

/** Nothing while there is one version. */
export function VersionsList({ run }: { run: OpenRun }): JSX.Element | null {
  const all = versionsOf(run).value;
  if (all.length < 2) return null;
  const shown = all.findIndex(({ code }) => code.id === run.code.value?.id);
  return (
    <select
      id="versions"
      class="wide-only"
      aria-label="Versions of the code"
      title="Versions of the code that were opened, and what their replays said"
      value={String(shown)}
      onChange={({ currentTarget }) => {
        const chosen = all[Number(currentTarget.value)];
        if (chosen !== undefined) run.code.value = chosen.code;
      }}
    >
      {all.map(({ code, verdict }, i) => (
        <option key={code.id} value={String(i)}>{`version ${i + 1}${verdict === "" ? "" : ` ${verdict}`}`}</option>
      ))}
    </select>
  );
}
