// The first screen of a run without code: what happened, in at most five sentences, and its end.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { Finding, RunLink } from "temporalex/debug";
import { tellStory } from "../../../ts/run_view/story.ts";
import { endedBadly, LINKS } from "../../../ts/run_view/words.ts";
import { goTo, type OpenRun, playing, position, selected } from "../store/state.ts";
import { Glyph } from "../ui/glyph.tsx";
import { count } from "../ui/time.ts";
import { Marked } from "./names.tsx";
import { isAtHand, openAtHand } from "./open_linked.ts";

/** Whether the middle pane shows the story: at both ends of the history, without a selected item. */
export function showsStory({ model }: OpenRun): boolean {
  const item = selected.value;
  if (item !== undefined) return item.kind === "run";
  return position.value === 1 || position.value === model.lines.length;
}

const STATUS_TEXTS: { readonly [status: string]: string } = {
  Running: "open",
  Completed: "completed",
  Failed: "failed",
  TimedOut: "timed out",
  Cancelled: "canceled",
  Terminated: "terminated",
  ContinuedAsNew: "continued as new",
};
const BAD: ReadonlySet<string> = new Set(["Failed", "TimedOut", "Terminated"]);

export function StoryTitle({ run: { model: { facts } } }: { run: OpenRun }): JSX.Element {
  return (
    <header class="thing-title">
      <Glyph kind="run" size={14} />
      <h2 class="cut" title={facts.type}>{facts.type}</h2>
      <span class="soft cut" title={facts.id}>{facts.id}</span>
      <span class="grow" />
      <span class={BAD.has(facts.status) ? "thing-end failed" : "thing-end"}>
        {STATUS_TEXTS[facts.status] ?? facts.status}
      </span>
    </header>
  );
}

/** Links that continue the run's story, in the order of their buttons. */
const NEXT: readonly RunLink["kind"][] = ["continuedFrom", "parent", "retriedAs", "continuedAs"];

export function Story({ run }: { run: OpenRun }): JSX.Element {
  const { model } = run;
  const story = useMemo(() => tellStory(model), [model]);
  const more = model.findings.filter((finding) => !story.includes(finding));
  const links = NEXT.flatMap((kind) => model.facts.links.filter((link) => link.kind === kind))
    .filter(isAtHand);
  const others = more.length + model.notes.length;
  return (
    <section class="section story" id="findings">
      <h3>What happened</h3>
      <Sentences findings={story} />
      {links.length > 0 && (
        <p class="button-row">
          {links.map((link) => (
            <OpenLink key={`${link.kind} ${link.runId}`} link={link} label={LINKS[link.kind]} />
          ))}
        </p>
      )}
      {others > 0 && (
        <details>
          <summary>{others === 1 ? "1 more finding" : `${count(others)} more findings`}</summary>
          <Sentences findings={more} />
          <Notes run={run} />
        </details>
      )}
    </section>
  );
}

/** A button that shows a run at hand. */
export const OpenLink = ({ link, label }: { link: RunLink; label: string }): JSX.Element => (
  <button
    type="button"
    class="button small"
    title={`workflow ${link.workflowId}, run ${link.runId}`}
    onClick={() => openAtHand(link)}
  >
    {label}
  </button>
);

export function Findings({ run }: { run: OpenRun }): JSX.Element {
  const { findings, notes } = run.model;
  return (
    <section class="section" id="findings">
      <h3>Findings in the history</h3>
      {findings.length === 0 && notes.length === 0 && <p class="second">{nothingText(run)}</p>}
      <Sentences findings={findings} />
      <Notes run={run} />
    </section>
  );
}

const Sentences = ({ findings }: { findings: readonly Finding[] }): JSX.Element => (
  <ul class="findings">
    {findings.map(({ kind, text, eventId }) => (
      <li key={text}>
        <Glyph kind={kind} />
        <p class="say">
          <Marked text={text} /> {eventId > 0 && (
            <button
              type="button"
              class="link-button soft"
              onClick={() => go(eventId)}
            >
              event {count(eventId)}
            </button>
          )}
        </p>
      </li>
    ))}
  </ul>
);

function Notes({ run: { model: { notes } } }: { run: OpenRun }): JSX.Element | null {
  if (notes.length === 0) return null;
  return (
    <ul class="findings">
      {notes.map((note) => (
        <li key={note}>
          <Glyph kind="unknown" />
          <p class="second wrap">Note on the file: {note}.</p>
        </li>
      ))}
    </ul>
  );
}

function go(eventId: number): void {
  playing.value = false;
  goTo(eventId);
}

/** The text for a history without findings. */
const nothingText = ({ model }: OpenRun): string =>
  model.items.some(endedBadly) ? "Nothing took long." : "Nothing failed, and nothing took long.";
