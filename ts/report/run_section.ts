// The section of a run: facts, verdict, open awaits or outcome, timeline, items.
import { drawingOf } from "./drawing.ts";
import { happenedOf, sign } from "./happened.ts";
import { type Html, markup, type Part } from "./html.ts";
import { partingSection } from "./parting.ts";
import { standingOf } from "./standing.ts";
import { summaryOf } from "../run_view/summary.ts";
import { count, lasting } from "../run_view/time.ts";
import { cutTo } from "../run_view/timeline/texts.ts";
import type { ReportedRun, ReportedVerdict } from "./types.ts";
import type { Room } from "./values_of.ts";
import { languageOf, LINKS } from "../run_view/words.ts";

/** Widths of the timeline in pixels; the style sheet shows one of them. */
export const WIDTHS = [300, 620, 1080] as const;
const MOST_LINKS = 12;
const MOST_NAMES = 12;
const MOST_LETTERS = 200;

/** Options of a section. */
export interface SectionOptions {
  /** Heading level: 1 if the report is about this run only. */
  readonly level: 1 | 2;
  /** The anchor for links; "" if the report is about this run only. */
  readonly anchor: string;
  /** Maximum number of listed events. */
  readonly mostEvents: number;
  readonly room: Room;
}

/** Returns the section of a run. */
export function sectionOf(
  run: ReportedRun,
  { level, anchor, mostEvents, room }: SectionOptions,
): Html {
  const { model, problem } = run;
  const heading = (text: string): Html =>
    level === 1 ? markup`<h2>${text}</h2>` : markup`<h3>${text}</h3>`;
  const at = problem?.eventId || problem?.position || 0;
  const happened = happenedOf({ model, most: mostEvents, problem: at, room });
  return markup`<article${anchor !== "" && markup` id="${anchor}"`}>
${headOf(run, level)}
${partingSection(run, heading)}
${standingOf(run, heading, room)}
<section>${heading("Timeline")}<div class="timeline">${
    WIDTHS.map((width) => drawingOf(model, { width, problem: at, nowMs: run.readMs }))
  }</div></section>
${findingsOf(run, heading)}
${namesOf(run, heading)}
<section>${heading("Events")}${
    level === 1
      ? happened
      : markup`<details class="all"><summary>${
        count(model.items.length)
      } things, row by row</summary>${happened}</details>`
  }</section>
</article>`;
}

const LOOK: { readonly [verdict in ReportedVerdict]: string } = {
  replays: "ok",
  diverges: "red",
  fails: "red",
  unreadable: "red",
  "not replayed": "",
};

/** Returns a verdict as a colored label. */
export const verdictPill = (verdict: ReportedVerdict): Html =>
  markup`<span class="pill ${LOOK[verdict]}">${verdict}</span>`;

const BAD: ReadonlySet<string> = new Set(["Failed", "TimedOut", "Terminated"]);
const STATUS: { readonly [status: string]: string } = {
  TimedOut: "Timed out",
  ContinuedAsNew: "Continued as new",
};

function headOf(run: ReportedRun, level: 1 | 2): Html {
  const { facts } = run.model;
  const title = markup`${cutTo(facts.type, MOST_LETTERS)} <span class="id">${
    cutTo(facts.id, MOST_LETTERS)
  }</span>`;
  const look = BAD.has(facts.status) ? "red" : facts.status === "Running" ? "hl" : "";
  return markup`<header>${level === 1 ? markup`<h1>${title}</h1>` : markup`<h2>${title}</h2>`}
<p class="pills"><span class="pill ${look}">${STATUS[facts.status] ?? facts.status}</span>${
    verdictPill(run.verdict)
  }</p>
${run.notReplayed !== undefined && markup`<p class="soft">${cutTo(run.notReplayed, 500)}</p>`}
${factsOf(run)}</header>`;
}

/** Formats a time independently of the locale. */
export const moment = (ms: number): Html => {
  const text = new Date(ms).toISOString();
  return markup`<time datetime="${text}">${text.slice(0, 10)} ${text.slice(11, 23)} UTC</time>`;
};

function factsOf({ model, session, source }: ReportedRun): Html {
  const { facts, lines, tasks, notes } = model;
  const { startMs, endMs, links } = facts;
  const language = languageOf(facts.sdk);
  const sdk = facts.sdk === "" ? "" : `${facts.sdk}${language === "" ? "" : ` (${language})`}`;
  const rows: readonly (readonly [string, Part])[] = [
    ["Run", facts.runId],
    ["Began", startMs !== undefined && moment(startMs)],
    [facts.status === "Running" ? "Last event" : "Ended", endMs !== undefined && moment(endMs)],
    [
      "Took",
      startMs !== undefined && endMs !== undefined && facts.status !== "Running" &&
      lasting(endMs - startMs),
    ],
    ["History", `${count(lines.length)} events, ${count(tasks.length)} workflow tasks`],
    ["Task queue", facts.taskQueue],
    ["SDK", sdk],
    ["Workers", some(facts.identities)],
    ["Builds", some(facts.builds)],
    ["Attempt", facts.attempt > 1 && count(facts.attempt)],
    ["Cron", facts.cron],
    ...links.slice(0, MOST_LINKS).map(({ kind, type, workflowId, runId }) =>
      [
        LINKS[kind],
        `${type === "" ? "" : `${type} `}${workflowId}${runId === "" ? "" : `, run ${runId}`}`,
      ] as const
    ),
    [
      "More runs",
      links.length > MOST_LINKS && `${count(links.length - MOST_LINKS)} in the history`,
    ],
    ["Source", source],
    [
      "Warnings",
      session !== undefined && session.warnings.length > 0 &&
      session.warnings.map(({ message, eventId }) =>
        markup`<p>${cutTo(message, 500)}${eventId > 0 && ` (event ${eventId})`}</p>`
      ),
    ],
    ["Notes", notes.length > 0 && notes.map((note) => markup`<p>${note}</p>`)],
  ];
  return markup`<dl class="facts">${
    rows.filter(([, value]) => value !== false && value !== "" && value !== undefined).map((
      [name, value],
    ) =>
      markup`<div><dt>${name}</dt><dd>${
        typeof value === "string" ? cutTo(value, 500) : value
      }</dd></div>`
    )
  }</dl>`;
}

const some = (names: readonly string[]): string =>
  names.slice(0, 5).join(", ") + (names.length > 5 ? ` and ${names.length - 5} more` : "");

/** A finding. Text between two stars is a name or a number and is bold. */
const marked = (text: string): readonly Part[] =>
  text.split("**").map((part, i) => i % 2 === 1 ? markup`<b>${part}</b>` : part);

function findingsOf({ model }: ReportedRun, heading: (text: string) => Html): Part {
  const { findings } = model;
  return findings.length > 0 &&
    markup`<section>${heading("Findings in the history")}<ul class="findings">${
      findings.map(({ kind, text, eventId }) =>
        markup`<li>${sign(kind)}<p>${marked(cutTo(text, 600))}${
          eventId > 0 && markup` <span class="soft">event ${count(eventId)}</span>`
        }</p></li>`
      )
    }</ul></section>`;
}

function namesOf({ model }: ReportedRun, heading: (text: string) => Html): Part {
  const rows = summaryOf(model);
  if (rows.length === 0) return undefined;
  const longest = Math.max(1, ...rows.map(({ longestMs }) => longestMs ?? 0));
  const shown = rows.slice(0, MOST_NAMES);
  return markup`<section>${
    heading("Time by name")
  }<table class="names"><thead><tr><th scope="col">Name</th><th scope="col" class="n">Times</th><th scope="col" class="n">Failed</th><th scope="col" class="n wide">Median</th><th scope="col">Longest</th></tr></thead><tbody>${
    shown.map(({ kind, name, count: times, failed, medianMs, longestMs }) =>
      markup`<tr><th scope="row">${sign(kind)}${cutTo(name, 120)}</th><td class="n">${
        count(times)
      }</td><td class="n${failed > 0 && " failed"}">${count(failed)}</td><td class="n wide">${
        medianMs !== undefined && lasting(medianMs)
      }</td><td>${
        longestMs !== undefined &&
        markup`<svg class="meter k-${
          kind === "localActivity" ? "activity" : kind
        }" viewBox="0 0 60 6" aria-hidden="true"><rect class="ground" width="60" height="6" rx="2"/><rect width="${
          Math.max(2, Math.round(longestMs / longest * 60))
        }" height="6" rx="2"/></svg> ${lasting(longestMs)}`
      }</td></tr>`
    )
  }</tbody></table>${
    rows.length > shown.length &&
    markup`<p class="soft">and ${count(rows.length - shown.length)} more names</p>`
  }</section>`;
}
