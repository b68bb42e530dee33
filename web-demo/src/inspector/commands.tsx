// Commands of the task at the position, next to their events in the history.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { changedAt, goTo, type OpenRun, shownView } from "../store/state.ts";
import { Glyph, type GlyphKind } from "../ui/glyph.tsx";
import { taskNumber } from "./state.tsx";
import { lineOfValue } from "../../../ts/run_view/value_text.ts";

const GLYPHS: readonly (readonly [RegExp, GlyphKind])[] = [
  [/LocalActivity/, "localActivity"],
  [/Activity/, "activity"],
  [/Timer/, "timer"],
  [/Update/, "update"],
  [/ChildWorkflow/, "child"],
  [/External/, "external"],
  [/Nexus/, "nexus"],
  [/SearchAttributes|Properties|Memo/, "searchAttributes"],
  [/Patch|SideEffect|Marker|Transact/, "marker"],
];

export const glyphOfCommand = (kind: string): GlyphKind =>
  GLYPHS.find(([re]) => re.test(kind))?.[1] ?? "run";

/** "ScheduleActivity" becomes "schedule activity". */
export const commandWords = (kind: string): string =>
  kind.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();

/** A command as text: "accept remove_item", "return 1". */
export function commandText(
  kind: string,
  summary: string,
  { result }: { readonly [name: string]: unknown },
): string {
  const update = /^(?:accepts|answers|rejects) update (\S+)/.exec(summary)?.[1];
  if (kind === "AcceptUpdate" && update !== undefined) return `accept ${update}`;
  if (kind === "RejectUpdate" && update !== undefined) return `reject ${update}`;
  if (kind === "CompleteUpdate") return `return ${lineOfValue(result, 40)}`;
  return summary === "" ? commandWords(kind) : summary;
}

const SUBJECTS =
  /^(?:WorkflowExecutionUpdate|WorkflowExecution|ActivityTask|Timer|StartChildWorkflowExecution|ChildWorkflowExecution|SignalExternalWorkflowExecution|RequestCancelExternalWorkflowExecution|UpsertWorkflow|WorkflowProperties|NexusOperation|Marker)(?=.)/;

/** "ActivityTaskScheduled" becomes "scheduled". */
export const eventWords = (type: string): string =>
  commandWords(type === "TimerCanceled" ? "Canceled" : type.replace(SUBJECTS, ""));

/** Commands that are shown; more are folded. */
const MOST = 8;

export function CommandsSection({ run }: { run: OpenRun }): JSX.Element | null {
  const [isOpen, setOpen] = useState(false);
  const shown = shownView.value;
  if (shown?.task === undefined || shown.commands.length === 0) return null;
  const { commands, task, problem } = shown;
  const agrees = problem === undefined || problem.position > task.lastEventId;
  const isSame = commands.every(({ eventId }) =>
    eventId === undefined || changedAt(run, [eventId]) === undefined
  );
  const isExtra = commands.some(({ isNotInHistory }) => isNotInHistory === true);
  const says = isExtra
    ? "the code has more commands"
    : problem?.isDivergence === false && !agrees
    ? "the code fails"
    : !agrees
    ? "code and history differ"
    : isSame
    ? "code and history agree"
    : "same commands, other values";
  const some = isOpen ? commands : commands.slice(0, MOST);
  return (
    <section class="section" id="commands">
      <h3>Task {taskNumber(run, task.eventId)}: {says}</h3>
      <div class="both-sides" role="table" aria-label="Commands of this task">
        <div role="row" class="side-heads">
          <span role="columnheader">Code</span>
          <span role="columnheader">
            <span class="unseen">Same?</span>
          </span>
          <span role="columnheader">History</span>
        </div>
        {some.map(({ kind, summary, eventId, attributes, isNotInHistory }, i) => {
          const line = eventId === undefined ? undefined : run.model.lines[eventId - 1];
          const text = commandText(kind, summary, attributes);
          const differs = problem?.isDivergence === true && eventId === problem.eventId;
          const changed = eventId === undefined ? undefined : changedAt(run, [eventId]);
          return (
            <div role="row" key={i}>
              <span role="cell">
                <Glyph kind={glyphOfCommand(kind)} />
                <span class="cut" title={`${commandWords(kind)} ${summary}`}>{text}</span>
              </span>
              <span
                role="cell"
                class={line === undefined || differs ? "differs" : changed ? "changed" : "equal"}
                title={changed?.sentence}
              >
                {isNotInHistory ? "≠" : line === undefined ? "" : differs || changed ? "≠" : "="}
              </span>
              <span role="cell">
                {line === undefined
                  ? (
                    <span class="soft">
                      {isNotInHistory ? "not in the history" : "not recorded"}
                    </span>
                  )
                  : (
                    <>
                      <span class="cut" title={`${line.type} ${line.summary}`}>
                        {eventWords(line.type)}
                      </span>
                      <button
                        type="button"
                        class="link-button soft nowrap"
                        onClick={() => goTo(line.eventId)}
                      >
                        event {line.eventId}
                      </button>
                    </>
                  )}
              </span>
            </div>
          );
        })}
      </div>
      {commands.length > MOST && (
        <button
          type="button"
          class="button small bare"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          {isOpen ? "Show fewer" : `Show ${commands.length - MOST} more`}
        </button>
      )}
    </section>
  );
}
