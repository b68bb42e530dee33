// The published state of the workflow and the state of its receive, as differences to the previous
// task.
import type { JSX } from "preact";
import { tasksUpTo } from "../store/ascending.ts";
import { goTo, type OpenRun, shownView } from "../store/state.ts";
import { accumulatorAt, lastChange } from "../code/code_facts.ts";
import { ValueDiff } from "./value_diff.tsx";

export function StateSection({ run }: { run: OpenRun }): JSX.Element | null {
  const shown = shownView.value;
  const session = run.session.value;
  if (shown === undefined || session === undefined || shown.task === undefined) return null;
  const before = shown.task.eventId > 1 ? session.viewAt(shown.task.eventId - 1) : undefined;
  const { published } = shown;
  const receive = accumulatorAt(run, shown.position, shown.task.eventId);
  const { phase = 0 } = shown;
  if (published === undefined && receive === undefined && phase === 0) return null;
  const isNew = published !== undefined && published.sinceEventId === shown.task.eventId;
  const old = before?.published;
  return (
    <section class="section" id="state">
      {published !== undefined && (
        <>
          <h3>
            Published state <span>task {taskNumber(run, published.sinceEventId)}</span>
          </h3>
          {"unreadable" in published
            ? <p class="say soft">The state cannot be read: {published.unreadable}</p>
            : (
              <ValueDiff
                label="Published state"
                value={published.value}
                before={old !== undefined && "value" in old ? old.value : undefined}
                hasBefore={isNew && old !== undefined}
                whence={(path) => {
                  const change = lastChange(run, shown.position, path);
                  if (change === undefined) return undefined;
                  return {
                    text: change.line === undefined
                      ? `event ${change.eventId}`
                      : `line ${change.line}`,
                    go: () => goTo(change.eventId),
                  };
                }}
              />
            )}
        </>
      )}
      {receive !== undefined && (
        <>
          <h4>{receive.name}</h4>
          <ValueDiff
            label={receive.name}
            value={receive.value}
            before={receive.before}
            hasBefore={receive.isNew}
          />
        </>
      )}
      {phase > 0 && (
        <p class="soft phase">
          Awaits passed before this state: {phase}
        </p>
      )}
    </section>
  );
}

/** From 1; 0 if no task has this started event. */
export function taskNumber(run: OpenRun, startedEventId: number): number {
  const tasks = run.session.value?.tasks ?? [];
  const number = tasksUpTo(tasks, startedEventId);
  return tasks[number - 1]?.eventId === startedEventId ? number : 0;
}
