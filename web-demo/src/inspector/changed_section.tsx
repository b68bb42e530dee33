// Values that differ between code and history and that replay does not compare: in full for the
// item at the position, one line for each other item.
import type { ChangedValue } from "temporalex/debug";
import type { JSX } from "preact";
import { countChanges, goTo, type OpenRun, shownItem, shownView } from "../store/state.ts";
import { count } from "../ui/time.ts";
import { DifferencesTable } from "./differences_table.tsx";
import "./changed.css";

/** Lines that are shown; more are counted. */
const MOST = 8;

export function ChangedSection({ run }: { run: OpenRun }): JSX.Element | null {
  const all = run.changed.value;
  if (all.length === 0) return null;
  const { task, isInTask } = shownView.value ?? {};
  const item = shownItem.value;
  const isHere = ({ eventId, startedEventId }: ChangedValue) =>
    item?.eventIds.includes(eventId) === true ||
    (isInTask === true && startedEventId === task?.eventId);
  const here = all.filter(isHere).slice(0, MOST);
  const others = all.filter((one) => !isHere(one));
  return (
    <section class="section" id="changed-values">
      <h3>
        Not compared by replay <span>{count(countChanges(all))}</span>
      </h3>
      {here.map((one) => <Changed key={one.eventId} changed={one} />)}
      {here.length > 0 && (
        <p class="second">Running workflows keep the old value. New ones use the new value.</p>
      )}
      {others.length > 0 && (
        <ul class="told changed-others">
          {others.slice(0, MOST).map(({ eventId, step, sentence }) => (
            <li key={eventId}>
              <button type="button" onClick={() => goTo(eventId)} title={`${step}: ${sentence}`}>
                <span class="soft nowrap">event {eventId}</span>
                <span class="cut">{sentence}</span>
              </button>
            </li>
          ))}
          {others.length > MOST && <li class="soft">and {count(others.length - MOST)} more</li>}
        </ul>
      )}
    </section>
  );
}

function Changed(
  { changed: { sentence, step, eventId, differences } }: { changed: ChangedValue },
): JSX.Element {
  return (
    <>
      <p class="say wrap">
        {differences.length === 1 ? `${sentence} ` : `${differences.length} values differ: `}
        <span class="soft">{step}, event {eventId}</span>
      </p>
      {differences.length > 1 && <DifferencesTable rows={differences} />}
    </>
  );
}
