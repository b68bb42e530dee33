// Compares the values of a replay with its history, for replays with the option `values`.
import type { LineTrace } from "../../executor/tasks/line_records.ts";
import type { ReplayVerdict } from "../../executor/tasks/replay.ts";
import { defaultPayloadConverter } from "../../converter/payload.ts";
import { decodeEventList } from "./candidates.ts";
import { findChangedSteps } from "./changed.ts";
import type { ChangedValue, UncomparedValue, ValueComparison } from "./types.ts";
import { findLastStep, formatLocation, readPath } from "./path.ts";
import { compileValueRules, formatValuePath } from "./value_rules.ts";

/** The values of a replay that differ from the history, and those that could not be compared. */
export interface ComparedReplay {
  readonly changedValues: readonly ChangedValue[];
  readonly uncomparedValues: readonly UncomparedValue[];
}

/**
 * `verdict`: of a replay with `record`, `trace` and call sites. `linesOf`: returns the lines that
 * ran in a task. No call makes a result, so its line is the last one of the workflow or handler.
 */
export async function compareReplayedValues(
  history: Uint8Array,
  verdict: ReplayVerdict,
  { ignore = [] }: ValueComparison,
  unknownTexts: ReadonlySet<string>,
  linesOf?: (startedEventId: number) => Promise<LineTrace | undefined>,
): Promise<ComparedReplay> {
  const isIgnored = compileValueRules(ignore);
  const { error, recorded = [], trace } = verdict;
  // Steps after a difference are paired by chance.
  const before = error === undefined ? Infinity : error.divergence?.eventId ?? error.eventId;
  const uncomparedValues: UncomparedValue[] = [];
  const changed = findChangedSteps({
    events: decodeEventList(history),
    activations: recorded,
    jobs: trace?.jobs ?? [],
    converter: defaultPayloadConverter,
    before,
    compared: {
      isIgnored,
      unknownTexts,
      onUnread: (eventId, path, encoding) =>
        uncomparedValues.push({ eventId, path: formatValuePath(path), encoding }),
    },
  });
  const changedValues: ChangedValue[] = [];
  for (const { value, code } of changed) {
    const lines = value.site === "" ? await linesOf?.(value.startedEventId) : undefined;
    const last = lines && findLastStep(code, readPath(lines));
    changedValues.push(last === undefined ? value : { ...value, site: formatLocation(last) });
  }
  return { changedValues, uncomparedValues };
}
