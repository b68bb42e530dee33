// The panel of a schedule: state, next times, past actions with links to their runs, operations.
import { type Signal, useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import type { ScheduleDescription, ScheduleHandle, ScheduleOverlapPolicy } from "temporalex/client";
import { IconButton } from "../ui/icon.tsx";
import { count, date, lasting } from "../ui/time.ts";
import { lineOfArguments } from "../../../ts/run_view/value_text.ts";
import { chosenSchedule } from "./chosen_schedule.ts";
import { Field, FormDialog } from "./form_dialog.tsx";
import { EditSchedule, OVERLAPS, OverlapSelect } from "./schedule_form.tsx";
import { specText } from "./schedule_text.ts";
import { client, isReadOnly, isServerGone, nowMs, searchQuery, view } from "./state.ts";
import { statusLabel } from "./status.tsx";
import { watchRun } from "./watched_run.ts";

const AGAIN_MS = 3000;
const CALL = { timeout: 10_000 };
const MOST_TIMES = 8;

export function SchedulePanel({ id, changed }: { id: string; changed: () => void }): JSX.Element {
  const schedule = useSignal<ScheduleDescription | undefined>(undefined);
  const trouble = useSignal<string | undefined>(undefined);
  const asked = useSignal(0);
  useEffect(() => {
    let isOver = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const again = async () => {
      try {
        const found = await client!.schedule.getHandle(id).describe(CALL);
        if (!isOver) [schedule.value, trouble.value] = [found, undefined];
      } catch (error) {
        if (!isOver) trouble.value = (error as Error).message;
      }
      if (!isOver) timer = setTimeout(() => void again(), AGAIN_MS);
    };
    void again();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [id, asked.value]);
  const again = () => {
    asked.value++;
    changed();
  };
  const found = schedule.value;
  return (
    <aside
      class="run-panel"
      aria-label={`Schedule ${id}`}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || document.querySelector("dialog[open]") !== null) return;
        event.preventDefault();
        chosenSchedule.value = undefined;
      }}
    >
      <header class="panel-head">
        <h2 class="cut" tabIndex={-1} title={id}>{id}</h2>
        <span class="grow" />
        <IconButton
          icon="close"
          label="Close"
          onPress={() => (chosenSchedule.value = undefined)}
        />
      </header>
      {trouble.value !== undefined && <p class="section bad wrap" role="alert">{trouble.value}</p>}
      {found !== undefined && (
        <>
          <StateSection schedule={found} />
          {!isReadOnly && <Operations schedule={found} changed={again} />}
          <Actions schedule={found} />
          <ScheduleFacts schedule={found} />
        </>
      )}
    </aside>
  );
}

function StateSection(
  { schedule: { state, info } }: { schedule: ScheduleDescription },
): JSX.Element {
  const times = info.nextActionTimes.slice(0, MOST_TIMES);
  return (
    <section class={state.paused ? "section" : "section now-said"}>
      <h3>{state.paused ? "Paused" : "Next times"}</h3>
      {state.paused && (
        <p class="say">
          It starts no workflow by itself{state.note === undefined || state.note === ""
            ? "."
            : `: ${state.note}`}
        </p>
      )}
      {!state.paused && times.length === 0 && <p class="say">It has no further time.</p>}
      {!state.paused && (
        <ol class="schedule-times">
          {times.map((time) => (
            <li key={time.getTime()}>
              {date(time.getTime())}{" "}
              <span class="soft">
                {time.getTime() > nowMs.value ? `in ${lasting(time.getTime() - nowMs.value)}` : ""}
              </span>
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}

interface OperationsProps {
  readonly schedule: ScheduleDescription;
  changed(): void;
}

function Operations({ schedule, changed }: OperationsProps): JSX.Element {
  const { scheduleId, state, policies } = schedule;
  const handle = client!.schedule.getHandle(scheduleId);
  const [isPausing, isTriggering, isBackfilling, isEditing, isDeleting] = [
    useSignal(false),
    useSignal(false),
    useSignal(false),
    useSignal(false),
    useSignal(false),
  ];
  const note = useSignal("");
  const overlap = useSignal<ScheduleOverlapPolicy>(policies.overlap);
  const act = (operation: (handle: ScheduleHandle) => Promise<void>) => async () => {
    await operation(handle);
    changed();
  };
  const button = (text: string, isOpen: Signal<boolean>, className = "button") => (
    <button
      type="button"
      class={className}
      disabled={isServerGone.value}
      onClick={() => (isOpen.value = true)}
    >
      {text}…
    </button>
  );
  const pause = state.paused ? "Unpause" : "Pause";
  return (
    <section class="section schedule-buttons" aria-label="Change the schedule">
      {button(pause, isPausing)}
      {button("Trigger", isTriggering)}
      {button("Backfill", isBackfilling)}
      {button("Edit", isEditing)}
      {button("Delete", isDeleting, "button risky")}
      <FormDialog
        id="pause-schedule"
        title={`${pause} ${scheduleId}?`}
        isOpen={isPausing}
        action={pause}
        submit={act((it) =>
          state.paused
            ? it.unpause(note.value.trim() || undefined, CALL)
            : it.pause(note.value.trim() || undefined, CALL)
        )}
      >
        <p class="second">
          {state.paused
            ? "The schedule starts workflows again. Times during the pause are not made up for."
            : "The schedule starts no workflows by itself until it is unpaused."}
        </p>
        <Field label="Note" value={note} />
      </FormDialog>
      <FormDialog
        id="trigger-schedule"
        title={`Trigger ${scheduleId} now?`}
        isOpen={isTriggering}
        action="Trigger"
        submit={act((it) => it.trigger(overlap.value, CALL))}
      >
        <p class="second">Starts its workflow once, also during a pause.</p>
        <OverlapSelect value={overlap} />
      </FormDialog>
      <Backfill
        handle={handle}
        policy={policies.overlap}
        isOpen={isBackfilling}
        changed={changed}
      />
      {isEditing.value && <EditSchedule schedule={schedule} isOpen={isEditing} changed={changed} />}
      <FormDialog
        id="delete-schedule"
        title={`Delete ${scheduleId}?`}
        isOpen={isDeleting}
        action={`Delete ${scheduleId}`}
        isRisky
        submit={async () => {
          await handle.delete(CALL);
          chosenSchedule.value = undefined;
          changed();
        }}
      >
        <p class="second">Workflows that it has started continue.</p>
      </FormDialog>
    </section>
  );
}

interface BackfillProps {
  readonly handle: ScheduleHandle;
  readonly policy: ScheduleOverlapPolicy;
  readonly isOpen: Signal<boolean>;
  changed(): void;
}

function Backfill({ handle, policy, isOpen, changed }: BackfillProps): JSX.Element {
  const [from, to] = [useSignal(""), useSignal("")];
  const overlap = useSignal<ScheduleOverlapPolicy>(policy);
  const submit = async () => {
    const [start, end] = [new Date(from.value), new Date(to.value)];
    await handle.backfill({ start, end, overlap: overlap.value }, CALL);
    changed();
  };
  const time = (label: string, value: Signal<string>) => (
    <label>
      {label}
      <input
        type="datetime-local"
        required
        step="1"
        value={value.value}
        onInput={(event) => (value.value = event.currentTarget.value)}
      />
    </label>
  );
  return (
    <FormDialog
      id="backfill-schedule"
      title={`Backfill ${handle.scheduleId}`}
      isOpen={isOpen}
      action="Backfill"
      isReady={from.value !== "" && to.value !== ""}
      submit={submit}
    >
      <p class="second">Runs the actions of a past time range now. Times are local.</p>
      {time("From", from)}
      {time("To", to)}
      <OverlapSelect value={overlap} />
    </FormDialog>
  );
}

function Actions({ schedule: { info } }: { schedule: ScheduleDescription }): JSX.Element | null {
  const actions = info.recentActions.toReversed();
  if (actions.length === 0) return null;
  const open = (workflowId: string, runId: string) => {
    searchQuery.value = `id:${workflowId}`;
    view.value = "list";
    void watchRun({ workflowId, runId });
  };
  return (
    <section class="section" aria-label="Recent actions">
      <h3>Recent actions</h3>
      <ul class="schedule-times">
        {actions.map(({ takenAt, scheduledAt, workflow, status }) => (
          <li key={`${scheduledAt?.getTime()} ${workflow?.workflowId}`}>
            {takenAt === undefined ? "unknown time" : date(takenAt.getTime())}{" "}
            {workflow !== undefined && (
              <button
                type="button"
                class="row-button mono"
                onClick={() => open(workflow.workflowId, workflow.firstExecutionRunId)}
              >
                {workflow.workflowId}
              </button>
            )}
            {status !== undefined && status !== "UNKNOWN" && (
              <span class="soft">{` ${statusLabel(status)}`}</span>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function ScheduleFacts(
  { schedule: { spec, action, policies, info } }: { schedule: ScheduleDescription },
): JSX.Element {
  const facts: readonly (readonly [string, string])[] = [
    ["Times", specText(spec)],
    ["Starts", `${action.workflowType} on ${action.taskQueue}`],
    ["Arguments", action.args.length === 0 ? "none" : lineOfArguments(action.args, 200)],
    ["If one still runs", OVERLAPS.find(([name]) => name === policies.overlap)?.[1] ?? ""],
    ["Actions", count(info.numActionsTaken)],
    ["Skipped", count(info.numActionsSkippedOverlap)],
    ["Missed", count(info.numActionsMissedCatchupWindow)],
    ["Running now", count(info.runningActions.length)],
    ["Created", info.createdAt === undefined ? "unknown" : date(info.createdAt.getTime())],
  ];
  return (
    <section class="section">
      <h3>Facts</h3>
      <dl class="facts">
        {facts.map(([name, value]) => (
          <>
            <dt>{name}</dt>
            <dd class="mono cut" title={value}>{value}</dd>
          </>
        ))}
      </dl>
    </section>
  );
}
