// The middle pane of a run without code: the selected item, or the item at the position, with
// input, result or failure, attempts, cause and result. For the run: where its time went.
import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { Shown } from "temporalex/debug";
import type { RunItem } from "../store/run_model.ts";
import { goTo, type OpenRun, playing, position, selectItem, shownItem } from "../store/state.ts";
import { ValueTree } from "../ui/value_tree.tsx";
import { formatJson } from "../../../ts/run_view/value_text.ts";
import { groupParts } from "../events/chosen_group.ts";
import { Glyph, KIND_NAMES } from "../ui/glyph.tsx";
import { clock, count, lasting } from "../ui/time.ts";
import { CameOf, LedTo } from "./sentences.tsx";
import { numberOfTask } from "./came_of.ts";
import { isAtHand } from "./open_linked.ts";
import { OpenLink, showsStory, Story, StoryTitle } from "./story.tsx";
import { FailureWell } from "./failure_well.tsx";
import "./no_code.css";
import { SummaryTable } from "./summary_table.tsx";
import { TriesTable } from "./tries_table.tsx";
import { bareName, endedBadly, STATUS } from "../../../ts/run_view/words.ts";

export function NoCodeMiddlePane({ run }: { run: OpenRun }): JSX.Element {
  const item = shownItem.value;
  if (showsStory(run)) return <WholeRun run={run} />;
  if (item === undefined) {
    return <p class="empty soft">Choose a row or a bar to see its input and result.</p>;
  }
  return (
    <div class="scroll thing-pane" id="thing" tabIndex={0} role="region" aria-label="Selected item">
      <Title run={run} item={item} />
      <TriesTable run={run} item={item} />
      <Wells run={run} items={[item]} />
      {item.kind !== "run" && (
        <section class="section">
          <h3>Cause and result</h3>
          <LedTo run={run} item={item} />
          <CameOf run={run} item={item} />
        </section>
      )}
      <Events run={run} item={item} />
    </div>
  );
}

/** What happened, the input and the result, and where the time went. */
function WholeRun({ run }: { run: OpenRun }): JSX.Element {
  const ends = useMemo(() => run.model.items.filter(({ kind }) => kind === "run"), [run]);
  const shown = shownItem.value;
  return (
    <div class="scroll thing-pane" id="thing" tabIndex={0} role="region" aria-label="Selected item">
      <StoryTitle run={run} />
      <Story run={run} />
      <Wells run={run} items={ends} isWhole />
      <SummaryTable run={run} />
      {shown !== undefined && <Events run={run} item={shown} />}
    </div>
  );
}

function Title({ run, item }: { run: OpenRun; item: RunItem }): JSX.Element {
  const at = position.value;
  const Groups = run.model.hasGroups ? groupParts.value : undefined;
  const isDone = item.closedBy !== undefined && item.closedBy <= at;
  const took = item.startMs !== undefined && item.endMs !== undefined && item.endMs > item.startMs
    ? ` in ${lasting(item.endMs - item.startMs)}`
    : "";
  const attempts = item.attempt > 1 ? ` after ${item.attempt} attempts` : "";
  const end = item.closedBy === undefined
    ? "open at the end of the history"
    : `${STATUS[item.status]}${item.status === "failed" && attempts !== "" ? attempts : took}`;
  const name = item.kind === "task"
    ? `Task ${count(numberOfTask(run.model, item))}`
    : item.kind === "run" && item.from > 1
    ? `${run.model.facts.type} ${item.name}`
    : bareName(item);
  const link = item.kind === "child"
    ? run.model.facts.links.find((link) =>
      link.kind === "child" && item.eventIds.includes(link.eventId) && isAtHand(link)
    )
    : undefined;
  return (
    <header class="thing-title">
      <Glyph kind={item.kind} size={14} />
      <h2 class="cut" title={name}>{name}</h2>
      <span class="soft cut" title={item.key}>
        {KIND_NAMES[item.kind]}
        {item.key === "" ? "" : ` ${item.key}`}
      </span>
      {Groups !== undefined && <Groups.Chips model={run.model} item={item} most={3} />}
      <span class="grow" />
      {link !== undefined && <OpenLink link={link} label="Open child run" />}
      {item.from !== item.to && (
        <span class={`thing-end ${isDone ? endedBadly(item) ? "failed" : "" : "future"}`}>
          {end}
        </span>
      )}
    </header>
  );
}

function Wells({ run: { model }, items, isWhole = false }: {
  readonly run: OpenRun;
  /** One item, or the start and the end of the run. */
  readonly items: readonly RunItem[];
  /** The end is shown as recorded, wherever the position is. */
  readonly isWhole?: boolean;
}): JSX.Element | null {
  const item = items.at(-1);
  const [input, output, failure] = useMemo(() =>
    [
      items.flatMap((each) => model.inputOf(each)),
      item && model.outputOf(item),
      item && model.failureOf(item),
    ] as const, [model, item, items.length]);
  if (item === undefined) return null;
  const isFuture = !isWhole && item.closedBy !== undefined && item.closedBy > position.value;
  const hasResult = output !== undefined &&
    !("value" in output && output.value === undefined && input.length === 0);
  if (input.length === 0 && !hasResult && failure === undefined) return null;
  return (
    <section class="section wells">
      {input.length > 0 && (
        <div>
          <h3>{item.kind === "marker" ? "Details" : "Input"}</h3>
          <div class="value-well">
            {input.map((shown, i) => <Value key={i} shown={shown} label={`Argument ${i + 1}`} />)}
          </div>
        </div>
      )}
      {hasResult && (
        <div class={isFuture ? "future" : ""}>
          <h3>{isFuture ? `Result, at event ${count(item.closedBy!)}` : "Result"}</h3>
          <div class="value-well">
            <Value shown={output} label="Result" />
          </div>
        </div>
      )}
      {failure !== undefined && (
        <div class={isFuture ? "future" : ""}>
          <h3>{isFuture ? `Failure, at event ${count(item.closedBy!)}` : "Failure"}</h3>
          <FailureWell failure={failure} />
        </div>
      )}
    </section>
  );
}

function Value({ shown, label }: { shown: Shown; label: string }): JSX.Element {
  if (!("value" in shown)) return <p class="second">cannot be read: {shown.unreadable}</p>;
  if (shown.value === undefined || shown.value === null) return <p class="soft">nothing</p>;
  return <ValueTree key={label} value={shown.value} label={label} />;
}

/** Limit for shown events: a task can have ten thousand commands. */
const MOST_EVENTS = 50;

/** The events of an item, with links to their positions and their content. */
function Events({ run, item }: { run: OpenRun; item: RunItem }): JSX.Element {
  const { model } = run;
  const start = model.facts.startMs ?? 0;
  const [open, setOpen] = useState<number | undefined>(undefined);
  const [copied, setCopied] = useState<RunItem | undefined>(undefined);
  const shown = item.eventIds.slice(0, MOST_EVENTS);
  const next = item.eventIds.find((id) => id > position.value);
  const copy = () => {
    const events = shown.map((id) => [`event ${id}`, model.eventOf(id)]);
    void navigator.clipboard.writeText(formatJson(Object.fromEntries(events))).then(() =>
      setCopied(item)
    );
  };
  return (
    <section class="section">
      <h3>{item.eventIds.length === 1 ? "Event" : `${count(item.eventIds.length)} events`}</h3>
      <ol class="thing-events">
        {shown.map((id, i) => {
          const line = model.lines[id - 1]!;
          return (
            // The elements are reused for the next item.
            <li key={i} class={id > position.value ? "future" : ""}>
              <button type="button" class="link-button" onClick={() => goAnd(id, item)}>
                event {count(id)}
              </button>
              <span class="cut grow" title={line.type}>{line.type}</span>
              <time class="soft">
                {line.timeMs === undefined ? "" : clock(line.timeMs - start, 3)}
              </time>
              <button
                type="button"
                class="button small bare"
                aria-expanded={open === id}
                aria-label={`${open === id ? "Less" : "Show all"}, event ${id}`}
                onClick={() => setOpen(open === id ? undefined : id)}
              >
                {open === id ? "Less" : "Show all"}
              </button>
              {open === id && (
                <div class="value-well whole">
                  <ValueTree value={model.eventOf(id)} label={`Event ${id}`} />
                </div>
              )}
            </li>
          );
        })}
      </ol>
      <p class="button-row">
        {next !== undefined && (
          <button
            type="button"
            class="button small"
            onClick={() => goAnd(next, item)}
          >
            Next event
          </button>
        )}
        <button type="button" class="button small" onClick={copy}>
          {copied === item ? "Copied" : "Copy JSON"}
        </button>
      </p>
    </section>
  );
}

function goAnd(eventId: number, item: RunItem): void {
  playing.value = false;
  goTo(eventId);
  selectItem(item);
}
