// The right pane of a run without code: findings, open items, buttons to open code, related runs,
// facts and limits.
import type { JSX } from "preact";
import { goTo, type OpenRun, playing, position, selectItem } from "../store/state.ts";
import { CodeButtons } from "../open/code_buttons.tsx";
import { Glyph } from "../ui/glyph.tsx";
import { count, date, lasting } from "../ui/time.ts";
import { Limits } from "../inspector/limits.tsx";
import { isAtHand, openAtHand } from "./open_linked.ts";
import { Findings, showsStory } from "./story.tsx";
import { bareName, languageOf, LINKS } from "../../../ts/run_view/words.ts";

export function NoCodeDetailsPane({ run }: { run: OpenRun }): JSX.Element {
  return (
    <>
      {!showsStory(run) && <Findings run={run} />}
      <OpenNow run={run} />
      <CodeReceiver run={run} />
      <Links run={run} />
      <Facts run={run} />
      <Limits run={run} />
    </>
  );
}

function CodeReceiver({ run }: { run: OpenRun }): JSX.Element {
  const language = languageOf(run.model.facts.sdk);
  const isOther = language !== "" && language !== "TypeScript";
  const file = /\.(?:json|bin|gz|pb)$/.test(run.name) ? run.name : "history.json";
  return (
    <section class="section" id="open-code">
      <h3>Open the code</h3>
      {isOther
        ? (
          <p class="second">
            This page replays TypeScript code only, and this run is from a {language} worker.
          </p>
        )
        : (
          <>
            <p class="say">See the line it waits on, change it, replay it.</p>
            <p class="second">
              Drop the folder or the files of the workflow anywhere on this page, or:
            </p>
            <CodeButtons />
            <pre class="well">{`temporalex debug ${file} \\\n  --workflows src/workflows.ts`}</pre>
          </>
        )}
    </section>
  );
}

function go(eventId: number): void {
  playing.value = false;
  goTo(eventId);
}

/** Limit for shown items; the rest is counted. */
const MOST_OPEN = 6;

/**
 * Items that are open at the position. The height is the same for none and one, so that a step
 * moves little.
 */
function OpenNow({ run }: { run: OpenRun }): JSX.Element {
  const { model } = run;
  const at = position.value;
  const open = model.pendingAt(at);
  const now = model.lines[at - 1]?.timeMs;
  return (
    <section class="section open-now" id="open-now">
      <h3>
        Open at event {count(at)} <span>{open.length > 0 && count(open.length)}</span>
      </h3>
      {open.length === 0 && <p class="second">No activity, timer or child.</p>}
      <ul class="told">
        {open.slice(0, MOST_OPEN).map((item) => (
          <li key={item.index}>
            <button
              type="button"
              onClick={() => selectItem(item)}
              title={`${item.name}, since event ${item.from}`}
            >
              <Glyph kind={item.kind} />
              <span class="cut grow">{bareName(item)}</span>
              <span class="soft nowrap">
                {now === undefined || item.startMs === undefined
                  ? ""
                  : `for ${lasting(Math.max(0, now - item.startMs))}`}
              </span>
            </button>
          </li>
        ))}
      </ul>
      {open.length > MOST_OPEN && <p class="soft">and {count(open.length - MOST_OPEN)} more</p>}
    </section>
  );
}

const MOST_LINKS = 8;

function Links({ run }: { run: OpenRun }): JSX.Element | null {
  const { links } = run.model.facts;
  if (links.length === 0) return null;
  return (
    <section class="section" id="links">
      <h3>Related runs</h3>
      <ul class="told">
        {links.slice(0, MOST_LINKS).map((link) => {
          const name = link.type === "" ? link.workflowId : `${link.type} ${link.workflowId}`;
          return (
            <li key={`${link.kind} ${link.runId} ${link.eventId}`}>
              <button
                type="button"
                title={`workflow ${link.workflowId}, run ${link.runId}`}
                onClick={() => isAtHand(link) ? openAtHand(link) : go(link.eventId)}
              >
                <Glyph kind={link.kind === "child" ? "child" : "run"} />
                <span class="cut grow">{LINKS[link.kind]}: {name}</span>
                <span class="soft nowrap">
                  {isAtHand(link) ? "open it" : "not opened"}
                </span>
              </button>
            </li>
          );
        })}
      </ul>
      {links.length > MOST_LINKS && <p class="soft">and {count(links.length - MOST_LINKS)} more</p>}
      <p class="soft">
        {links.some((link) => !isAtHand(link))
          ? "Drop their histories on this page to open them from here."
          : "Chain, above the timeline, shows all of them."}
      </p>
    </section>
  );
}

function Facts({ run }: { run: OpenRun }): JSX.Element {
  const { id, runId, taskQueue, sdk, identities, builds, attempt, cron, startMs, endMs, status } =
    run.model.facts;
  const rows: readonly (readonly [string, string])[] = [
    ["Workflow id", id],
    ["Run id", runId],
    ["Started", startMs === undefined ? "" : date(startMs)],
    [status === "Running" ? "Last event" : "Ended", endMs === undefined ? "" : date(endMs)],
    ["Task queue", taskQueue],
    ["SDK", sdk],
    [identities.length > 1 ? "Workers" : "Worker", listed(identities)],
    [builds.length > 1 ? "Builds" : "Build", listed(builds)],
    ["Attempt", attempt > 1 ? count(attempt) : ""],
    ["Cron", cron],
  ];
  return (
    <section class="section" id="run-facts">
      <h3>The run</h3>
      <dl class="facts">
        {rows.filter(([, value]) => value !== "").map(([name, value]) => [
          <dt key={`${name} name`}>{name}</dt>,
          <dd key={name} class="cut" title={value}>{value}</dd>,
        ])}
      </dl>
    </section>
  );
}

const listed = (names: readonly string[]) =>
  names.slice(0, 3).join(", ") + (names.length > 3 ? ` and ${names.length - 3} more` : "");
