// The transport: start, task, event, play, event, task, end; the position in words; the unit of a
// step.
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { type OpenRun, playing, position, type StepUnit, stepUnit } from "../store/state.ts";
import { TimelineControls } from "../timeline/mod.ts";
import { goToEnd, isAtEnd, isAtStart } from "../chain/state.ts";
import { IconButton } from "../ui/icon.tsx";
import { clock } from "../ui/time.ts";
import { GoToEvent } from "./go_to.tsx";
import { bindTransportKeys, stepBy } from "./move.ts";
import { togglePlay, watchPlay } from "./play.ts";
import { UNITS } from "./steps.ts";
import "./transport.css";

export function Transport(
  { run, isShort = false }: { run: OpenRun; isShort?: boolean },
): JSX.Element {
  useEffect(bindTransportKeys, []);
  useEffect(watchPlay, []);
  const isFirst = isAtStart.value;
  const isLast = isAtEnd.value;
  const unit = UNITS.find(([name]) => name === stepUnit.value)![1].toLowerCase();
  return (
    <div class="transport" role="group" aria-label="Move in the run">
      <IconButton
        id="go-start"
        icon="start"
        label="Start"
        keyName="Home on the timeline"
        isOff={isFirst}
        onPress={() => goToEnd(-1)}
      />
      <IconButton
        icon="taskBack"
        label="One task back"
        keyName="Shift ←"
        isOff={isFirst}
        onPress={() => stepBy(-1, "task")}
      />
      <IconButton
        icon="back"
        label={`One ${unit} back`}
        keyName="←"
        isOff={isFirst}
        onPress={() => stepBy(-1)}
      />
      <IconButton
        id="play"
        icon={playing.value ? "pause" : "play"}
        label={playing.value ? "Pause" : "Play"}
        keyName="p"
        onPress={togglePlay}
      />
      <IconButton
        icon="forward"
        label={`One ${unit} forward`}
        keyName="→"
        isOff={isLast}
        onPress={() => stepBy(1)}
      />
      <IconButton
        icon="taskForward"
        label="One task forward"
        keyName="Shift →"
        isOff={isLast}
        onPress={() => stepBy(1, "task")}
      />
      <IconButton
        id="go-end"
        icon="end"
        label="End"
        keyName="End on the timeline"
        isOff={isLast}
        onPress={() => goToEnd(1)}
      />
      <GoToEvent run={run} />
      <Said run={run} />
      <span class="grow" />
      {!isShort && <Since run={run} />}
      {!isShort && <Units run={run} />}
      {!isShort && <TimelineControls />}
    </div>
  );
}

/** Time of the position, relative to the start of the run. */
function Since({ run }: { run: OpenRun }): JSX.Element {
  const start = run.model.lines[0]?.timeMs;
  const now = run.model.lines[position.value - 1]?.timeMs;
  const text = start === undefined || now === undefined
    ? "time not recorded"
    : `${clock(now - start, 3)} after the start`;
  const title = now === undefined ? undefined : new Date(now).toISOString();
  return <span class="since" title={title}>{text}</span>;
}

const TITLES: { readonly [unit in StepUnit]: string } = {
  fiber: "Step to the next task in which this fiber resumes",
  line: "Step to the next run of the current line",
  command: "Step to the next command of the code",
  event: "Step to the next event",
  task: "Step to the next workflow task",
};

function Units({ run }: { run: OpenRun }): JSX.Element {
  return (
    <div class="segments units" role="group" aria-label="Step by">
      {UNITS.map(([name, text]) => {
        const isKnown = (name !== "fiber" && name !== "line") ||
          run.session.value?.code !== undefined;
        return (
          <button
            type="button"
            key={name}
            aria-pressed={stepUnit.value === name}
            aria-disabled={!isKnown}
            title={isKnown ? TITLES[name] : `${text}: available after a replay of the code`}
            onClick={() => isKnown && (stepUnit.value = name)}
          >
            {text}
          </button>
        );
      })}
    </div>
  );
}

/** Announces steps to screen readers, but not while playing. */
function Said({ run }: { run: OpenRun }): JSX.Element {
  const line = run.model.lines[position.value - 1];
  const text = playing.value || line === undefined
    ? ""
    : `Event ${line.eventId}: ${line.type} ${line.summary}`;
  return <p class="unseen" role="status" aria-live="polite" id="said">{text}</p>;
}
