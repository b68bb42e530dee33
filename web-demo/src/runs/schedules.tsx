// Schedules: the list, and the panel of one with its next times, past actions and operations.
import { type Signal, useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import type { ScheduleSummary } from "temporalex/client";
import { Code, ServiceError } from "../../../ts/service/raw.ts";
import { date } from "../ui/time.ts";
import { chosenSchedule } from "./chosen_schedule.ts";
import { CreateSchedule } from "./schedule_form.tsx";
import { SchedulePanel } from "./schedule_panel.tsx";
import { specText } from "./schedule_text.ts";
import { client, isReadOnly, isServerGone } from "./state.ts";

const AGAIN_MS = 3000;
const CALL = { timeout: 10_000 };
const MOST = 1000;

interface Found {
  readonly schedules: readonly ScheduleSummary[];
  readonly trouble: string | undefined;
  /** The service has no schedules. */
  readonly isMissing: boolean;
}

/** `asked`: a change requests the list at once. */
function useSchedules(asked: Signal<number>): Found | undefined {
  const found = useSignal<Found | undefined>(undefined);
  useEffect(() => {
    let isOver = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const read = async () => {
      const schedules: ScheduleSummary[] = [];
      for await (const schedule of client!.schedule.list({ pageSize: 200, ...CALL })) {
        schedules.push(schedule);
        if (schedules.length === MOST) break;
      }
      schedules.sort((a, b) => a.scheduleId < b.scheduleId ? -1 : 1);
      if (!isOver) found.value = { schedules, trouble: undefined, isMissing: false };
    };
    const again = async () => {
      if (document.visibilityState === "visible") {
        await read().catch((error: Error) => {
          if (isOver) return;
          found.value = {
            schedules: found.peek()?.schedules ?? [],
            trouble: error.message,
            isMissing: isUnimplemented(error),
          };
        });
      }
      if (!isOver && found.peek()?.isMissing !== true) {
        timer = setTimeout(() => void again(), AGAIN_MS);
      }
    };
    void again();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [asked.value]);
  return found.value;
}

function isUnimplemented(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (at instanceof ServiceError) return at.code === Code.UNIMPLEMENTED;
  }
  return false;
}

export function Schedules(): JSX.Element {
  const asked = useSignal(0);
  const isCreating = useSignal(false);
  const found = useSchedules(asked);
  const again = () => asked.value++;
  const id = chosenSchedule.value;
  if (found?.isMissing === true) {
    return (
      <div class="schedules-view">
        <p class="section say">This service has no schedules.</p>
        <p class="section soft">{found.trouble}</p>
      </div>
    );
  }
  return (
    <div class={id === undefined ? "schedules-view" : "schedules-view with-panel"}>
      <div class="run-list">
        {!isReadOnly && (
          <p class="view-buttons">
            <button
              type="button"
              class="button"
              disabled={isServerGone.value || found === undefined}
              onClick={() => (isCreating.value = true)}
            >
              Create a schedule…
            </button>
          </p>
        )}
        {found?.trouble !== undefined && (
          <p class="section bad" role="alert">The schedules are unknown: {found.trouble}</p>
        )}
        {found === undefined && <p class="section soft">Loading the schedules…</p>}
        {found !== undefined && found.schedules.length === 0 && found.trouble === undefined && (
          <p class="section say">No schedule. New schedules appear here.</p>
        )}
        {found !== undefined && found.schedules.length > 0 && (
          <ScheduleTable schedules={found.schedules} />
        )}
      </div>
      {id !== undefined && <SchedulePanel key={id} id={id} changed={again} />}
      {isCreating.value && <CreateSchedule isOpen={isCreating} changed={again} />}
    </div>
  );
}

function ScheduleTable({ schedules }: { schedules: readonly ScheduleSummary[] }): JSX.Element {
  return (
    <table class="plain-table schedule-table">
      <thead>
        <tr>
          <th scope="col">Schedule</th>
          <th scope="col">State</th>
          <th scope="col" class="c-wide">Starts</th>
          <th scope="col" class="c-wide">Times</th>
          <th scope="col">Next</th>
        </tr>
      </thead>
      <tbody>
        {schedules.map(({ scheduleId, state, workflowType, spec, info }) => {
          const [next] = info.nextActionTimes;
          return (
            <tr key={scheduleId} aria-selected={chosenSchedule.value === scheduleId}>
              <td>
                <button
                  type="button"
                  class="row-button mono"
                  onClick={() => (chosenSchedule.value = scheduleId)}
                >
                  {scheduleId}
                </button>
              </td>
              <td title={state.note}>{state.paused ? "Paused" : "Active"}</td>
              <td class="c-wide">{workflowType}</td>
              <td class="c-wide">{specText(spec)}</td>
              <td>{state.paused || next === undefined ? "none" : date(next.getTime())}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
