// Forms that create a schedule and change the times of one.
import { type Signal, useSignal } from "@preact/signals";
import type { JSX } from "preact";
import type { ScheduleDescription, ScheduleOverlapPolicy } from "temporalex/client";
import { parseArguments } from "./arguments.ts";
import { chosenSchedule } from "./chosen_schedule.ts";
import { Field, FormDialog } from "./form_dialog.tsx";
import { cronText } from "./schedule_text.ts";
import { client, rows } from "./state.ts";

const CALL = { timeout: 10_000 };
export const OVERLAPS: readonly (readonly [ScheduleOverlapPolicy, string])[] = [
  ["SKIP", "Skip the action"],
  ["BUFFER_ONE", "Run one action afterwards"],
  ["BUFFER_ALL", "Run all actions afterwards"],
  ["CANCEL_OTHER", "Cancel the running workflow"],
  ["TERMINATE_OTHER", "Terminate the running workflow"],
  ["ALLOW_ALL", "Run it at the same time"],
];

interface Times {
  readonly cron: Signal<string>;
  readonly every: Signal<string>;
  readonly timezone: Signal<string>;
}

const linesOf = (text: string): string[] =>
  text.split("\n").map((line) => line.trim()).filter((line) => line !== "");

function specOf({ cron, every, timezone }: Times) {
  const zone = timezone.value.trim();
  return {
    cronExpressions: linesOf(cron.value),
    intervals: linesOf(every.value).map((text) => {
      const [period = "", offset] = text.split("+").map((part) => part.trim());
      // The client checks the text of a duration.
      return { every: period as "1h", ...(offset !== undefined && { offset: offset as "1h" }) };
    }),
    ...(zone !== "" && { timezone: zone }),
  };
}

function TimesFields({ cron, every, timezone }: Times): JSX.Element {
  return (
    <>
      <Field
        label="Cron expressions"
        hint="one per line: 0 12 * * MON-FRI"
        value={cron}
        isMono
        rows={2}
      />
      <Field label="Intervals" hint="one per line: 90m, or 1d + 6h" value={every} isMono rows={2} />
      <Field label="Time zone" hint="default: UTC" value={timezone} placeholder="Europe/Berlin" />
    </>
  );
}

export function OverlapSelect(
  { value }: { value: Signal<ScheduleOverlapPolicy> },
): JSX.Element {
  return (
    <label>
      If the previous workflow still runs
      <select
        value={value.value}
        onChange={(
          { currentTarget },
        ) => (value.value = currentTarget.value as ScheduleOverlapPolicy)}
      >
        {OVERLAPS.map(([name, text]) => <option key={name} value={name}>{text}</option>)}
      </select>
    </label>
  );
}

interface FormProps {
  readonly isOpen: Signal<boolean>;
  /** Called after a change. */
  changed(): void;
}

export function CreateSchedule({ isOpen, changed }: FormProps): JSX.Element {
  const id = useSignal("");
  const type = useSignal("");
  const queue = useSignal("");
  const args = useSignal("");
  const overlap = useSignal<ScheduleOverlapPolicy>("SKIP");
  const times = { cron: useSignal(""), every: useSignal(""), timezone: useSignal("") };
  const submit = async () => {
    await client!.schedule.create({
      scheduleId: id.value.trim(),
      spec: specOf(times),
      action: {
        type: "startWorkflow",
        workflowType: type.value.trim(),
        taskQueue: queue.value.trim(),
        args: parseArguments(args.value),
      },
      policies: { overlap: overlap.value },
    }, CALL);
    chosenSchedule.value = id.value.trim();
    changed();
  };
  const types = [...new Set((rows.value ?? []).map((run) => run.type))];
  return (
    <FormDialog
      id="create-schedule"
      title="Create a schedule"
      isOpen={isOpen}
      action="Create"
      submit={submit}
    >
      <datalist id="schedule-types">
        {types.map((name) => <option key={name} value={name} />)}
      </datalist>
      <Field label="Schedule id" value={id} isMono isRequired />
      <Field
        label="Workflow type"
        value={type}
        list="schedule-types"
        isMono
        isRequired
        onInput={(name) => {
          const known = rows.value?.find((run) => run.type === name);
          if (known !== undefined) queue.value = known.taskQueue;
        }}
      />
      <Field label="Task queue" value={queue} isMono isRequired />
      <Field label="Arguments" hint="one JSON value per line" value={args} isMono rows={2} />
      <TimesFields {...times} />
      <OverlapSelect value={overlap} />
    </FormDialog>
  );
}

interface EditProps extends FormProps {
  readonly schedule: ScheduleDescription;
}

/** Changes times, policy and arguments. Everything else stays. */
export function EditSchedule({ schedule, isOpen, changed }: EditProps): JSX.Element {
  const { spec, action, policies, scheduleId } = schedule;
  const given = JSON.stringify(action.args) === "[]"
    ? ""
    : action.args.map((value) => JSON.stringify(value)).join("\n");
  const args = useSignal(given);
  const overlap = useSignal<ScheduleOverlapPolicy>(policies.overlap);
  const times = {
    cron: useSignal(spec.calendars.map(cronText).join("\n")),
    every: useSignal(
      spec.intervals.map(({ every, offset }) =>
        `${every / 1000}s${offset > 0 ? ` + ${offset / 1000}s` : ""}`
      ).join("\n"),
    ),
    timezone: useSignal(spec.timezone ?? ""),
  };
  const submit = async () => {
    await client!.schedule.getHandle(scheduleId).update((now) => {
      const { calendars: _, intervals: __, timezone: ___, ...rest } = now.spec;
      return {
        ...now,
        spec: { ...rest, ...specOf(times) },
        policies: { ...now.policies, overlap: overlap.value },
        // The same array keeps values that this page cannot decode.
        action: args.value === given
          ? now.action
          : { ...now.action, args: parseArguments(args.value) },
      };
    }, CALL);
    changed();
  };
  return (
    <FormDialog
      id="edit-schedule"
      title={`Edit ${scheduleId}`}
      isOpen={isOpen}
      action="Save"
      submit={submit}
    >
      <TimesFields {...times} />
      <Field label="Arguments" hint="one JSON value per line" value={args} isMono rows={2} />
      <OverlapSelect value={overlap} />
    </FormDialog>
  );
}
