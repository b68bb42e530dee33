// The panel of a run: its growing timeline, what it waits for, its messages, facts, and buttons
// that end it.
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import type { RunItem } from "temporalex/debug";
import { served } from "../served/about.ts";
import { Timeline } from "../timeline/mod.ts";
import { Glyph } from "../ui/glyph.tsx";
import { IconButton } from "../ui/icon.tsx";
import { count, date, lasting } from "../ui/time.ts";
import { currentRun } from "../store/state.ts";
import { Activities } from "./activities.tsx";
import { CallStack } from "./call_stack.tsx";
import { useDescription } from "./described.ts";
import { EndRun } from "./end_run.tsx";
import { MessagesForm } from "./messages_form.tsx";
import { fireTimerOfRun } from "./service.ts";
import { ShownState } from "./shown_state.tsx";
import { isReadOnly, isServerGone, nowMs, nows, rows } from "./state.ts";
import { debugWatched, type Watched, watchedRun, watchRun, watchTrouble } from "./watched_run.ts";

export function Panel({ watched }: { watched: Watched }): JSX.Element {
  const run = watchedRun.value;
  const isOpen = run === undefined || run.model.facts.status === "Running";
  const readOnly = isReadOnly;
  useDescription(watched, isOpen);
  return (
    <aside
      class="run-panel"
      aria-label={`Run ${watched.workflowId}`}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || document.querySelector("dialog[open]") !== null) return;
        event.preventDefault();
        void watchRun(undefined);
      }}
    >
      <header class="panel-head">
        <h2 class="cut" tabIndex={-1} title={watched.workflowId}>{watched.workflowId}</h2>
        <span class="soft cut">{run?.model.facts.type}</span>
        <span class="grow" />
        <button
          type="button"
          class="button main"
          id="debug-run"
          disabled={run === undefined}
          onClick={debugWatched}
        >
          Debug
        </button>
        <IconButton icon="close" label="Close" onPress={() => void watchRun(undefined)} />
      </header>
      {run !== undefined && currentRun.value === run && (
        <div class="panel-timeline">
          <Timeline run={run} />
        </div>
      )}
      {watchTrouble.value !== undefined && (
        <p class="section bad" role="alert">{watchTrouble.value}</p>
      )}
      <NowSaid watched={watched} isOpen={isOpen} />
      <ShownState run={watched} />
      {isOpen && <Activities run={watched} />}
      <MessagesForm
        key={`${watched.runId} ${isOpen}`}
        run={watched}
        open={isOpen}
        readOnly={readOnly}
      />
      <Facts watched={watched} />
      {isOpen && <CallStack key={`stack ${watched.runId}`} run={watched} />}
      {!readOnly && <EndRun key={watched.runId} run={watched} isOpen={isOpen} />}
    </aside>
  );
}

/** The search attribute of a run that was started with `timers: "manual"`. */
const BY_HAND = "WorkflowTimers";

function FireTimer({ run, timer }: { run: Watched; timer: RunItem }): JSX.Element {
  const trouble = useSignal<string | undefined>(undefined);
  const fire = () =>
    void fireTimerOfRun({ workflowId: run.workflowId, runId: run.runId, name: timer.key }).then(
      () => (trouble.value = undefined),
      (error: Error) => (trouble.value = error.message),
    );
  return (
    <>
      {" "}
      <button
        type="button"
        class="button"
        disabled={isServerGone.value}
        aria-label={`Fire ${timer.name}`}
        onClick={fire}
      >
        Fire
      </button>
      {trouble.value !== undefined && <span class="bad" role="alert">{trouble.value}</span>}
    </>
  );
}

function NowSaid({ watched, isOpen }: { watched: Watched; isOpen: boolean }): JSX.Element {
  const run = watchedRun.value;
  const pending = run?.model.pendingAt(run.model.lines.length) ?? [];
  const last = run?.model.lines.at(-1);
  const known = nows.value.get(watched.runId);
  const attributes = rows.value?.find(({ runId }) => runId === watched.runId)?.searchAttributes;
  const byHand = served?.by === "ui" && !served.readOnly && attributes?.[BY_HAND] === "manual";
  const since = last?.timeMs === undefined ? "" : `, for ${agoText(last.timeMs)}`;
  return (
    <section class={isOpen ? "section now-said" : "section"}>
      <h3>{isOpen ? "Now" : "Result"}</h3>
      {!isOpen
        ? (
          <p class={known?.isFailure === true ? "say bad" : "say"}>
            {known?.text || "Closed without a result."}
          </p>
        )
        : pending.length > 0
        ? (
          <ul class="pending">
            {pending.slice(0, 8).map((item) => (
              <li key={item.index}>
                <Glyph kind={item.kind} label={item.kind} /> {item.name}
                {item.startMs !== undefined && (
                  <span class="soft">{` for ${agoText(item.startMs)}`}</span>
                )}
                {byHand && item.kind === "timer" && (
                  <FireTimer key={item.key} run={watched} timer={item} />
                )}
              </li>
            ))}
            {pending.length > 8 && <li class="soft">and {pending.length - 8} more</li>}
          </ul>
        )
        : (
          <p class="say">
            {known === undefined ? "Running" : known.isFailure ? known.text : `It ${known.text}`}
            {since}.
          </p>
        )}
    </section>
  );
}

/** The time since a moment of the server, whose clock can be ahead of this one. */
const agoText = (ms: number): string => lasting(Math.max(0, nowMs.value - ms));

function Facts({ watched }: { watched: Watched }): JSX.Element {
  const row = rows.value?.find(({ runId }) => runId === watched.runId);
  const run = watchedRun.value;
  const facts: readonly (readonly [string, string | undefined])[] = [
    ["Run id", watched.runId],
    ["Started", row?.startTime === undefined ? undefined : date(row.startTime.getTime())],
    ["Ended", row?.closeTime === undefined ? undefined : date(row.closeTime.getTime())],
    ["Task queue", row?.taskQueue],
    ["Worker", run?.model.facts.identities.at(-1)],
    ["SDK", run?.model.facts.sdk || undefined],
    [
      "History",
      run === undefined ? undefined : `${count(run.model.lines.length)} of 51,200 events`,
    ],
    ...Object.entries(row?.searchAttributes ?? {}).map(([name, value]) =>
      [name, JSON.stringify(value)] as const
    ),
    ...Object.entries(row?.memo ?? {}).map(([name, value]) =>
      [name, JSON.stringify(value)] as const
    ),
  ];
  return (
    <section class="section">
      <h3>Facts</h3>
      <dl class="facts">
        {facts.filter(([, value]) => value !== undefined).map(([name, value]) => (
          <>
            <dt>{name}</dt>
            <dd class="mono cut" title={value}>{value}</dd>
          </>
        ))}
      </dl>
    </section>
  );
}
