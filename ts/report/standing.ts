// The state of a run at the end of its history: input, result or open awaits, open items, published
// state.
import { codeOf } from "./code_excerpt.ts";
import { sign } from "./happened.ts";
import { type Html, markup, type Part } from "./html.ts";
import { count, lasting } from "../run_view/time.ts";
import { cutTo } from "../run_view/timeline/texts.ts";
import type { ReportedRun } from "./types.ts";
import type { Room } from "./values_of.ts";
import { type Said, untakenText, whyText } from "../run_view/why.ts";
import { bareName } from "../run_view/words.ts";

const MOST_OPEN = 30;
const MOST_LETTERS = 300;

/** Returns the sections. */
export function standingOf(run: ReportedRun, heading: (text: string) => Html, room: Room): Html {
  return markup`${waitOf(run, heading)}${openOf(run, heading)}${valuesOf(run, heading, room)}`;
}

const said = (pieces: Said): readonly Part[] =>
  pieces.map((piece) => typeof piece === "string" ? piece : markup`<b>${piece.name}</b>`);

/** Returns what the run waits for, or how it ended. */
function waitOf(run: ReportedRun, heading: (text: string) => Html): Part {
  const { session, problem, model, code } = run;
  const isOpen = model.facts.status === "Running";
  // Code that diverged from the history waits for something that the history does not have.
  if (session === undefined || problem !== undefined) {
    const [first] = model.findings;
    return isOpen && first !== undefined &&
      markup`<section>${heading("Why does it wait?")}<p class="say">${
        first.text.split("**").map((part, i) => i % 2 === 1 ? markup`<b>${part}</b>` : part)
      }</p></section>`;
  }
  const view = session.viewAt(session.length);
  const { title, said: pieces, look, legal, untaken } = whyText(view, "");
  const awaits = view.open.slice(0, MOST_OPEN);
  return markup`<section class="${
    look === "failed" ? "why failed" : look === "waits" ? "why waits" : "why"
  }">${heading(title)}<p class="say">${said(pieces)}</p>${
    untaken.slice(0, MOST_OPEN).map((each) => {
      const { before, after } = untakenText(each);
      return markup`<p class="say">${said(before)}event ${count(each.eventId)}${after}</p>`;
    })
  }${
    look === "waits" && awaits.length > 0 &&
    markup`<table class="awaits"><thead><tr><th scope="col">Fiber</th><th scope="col">Waits for</th><th scope="col">Line</th></tr></thead><tbody>${
      awaits.map(({ fiber, label, site, eventId, firesAtMs }) =>
        markup`<tr><td>${cutTo(fiber, MOST_LETTERS)}</td><td>${cutTo(label, MOST_LETTERS)}${
          eventId !== undefined && markup` <span class="soft">since event ${count(eventId)}</span>`
        }${
          firesAtMs !== undefined &&
          markup` <span class="soft">due ${
            new Date(firesAtMs).toISOString().slice(0, 19).replace("T", " ")
          } UTC</span>`
        }</td><td><code>${shortSite(site)}</code></td></tr>`
      )
    }</tbody></table>`
  }${
    view.open.length > awaits.length &&
    markup`<p class="soft">and ${count(view.open.length - awaits.length)} more</p>`
  }${
    legal.length > 0 &&
    markup`<p class="soft">Accepts now: ${
      legal.slice(0, 12).map(({ kind, name }) => `${kind} ${name}`).join(", ")
    }${legal.length > 12 && ` and ${legal.length - 12} more`}.</p>`
  }${look === "waits" && code !== undefined && codeOf(code, "waits here", false)}</section>`;
}

/** Shortens a path to its last two parts. */
const shortSite = (site: string): string =>
  site.replace(/(?:[a-z]+:\/\/)?[^()\s]*\/([^/()]+\/[^/()]+)/, "$1");

function openOf({ model }: ReportedRun, heading: (text: string) => Html): Part {
  const { facts, lines } = model;
  if (facts.status !== "Running") return undefined;
  const open = model.pendingAt(lines.length);
  const now = lines.at(-1)?.timeMs;
  return open.length > 0 &&
    markup`<section>${
      heading("Open at the end")
    }<table><thead><tr><th scope="col">What</th><th scope="col">Since</th><th scope="col" class="n">For</th></tr></thead><tbody>${
      open.slice(0, MOST_OPEN).map((item) =>
        markup`<tr><th scope="row">${sign(item.kind)}${
          cutTo(bareName(item), MOST_LETTERS)
        }</th><td class="fit">event ${count(item.from)}${
          item.attempt > 1 && `, attempt ${item.attempt}`
        }</td><td class="n">${
          now !== undefined && item.startMs !== undefined &&
          lasting(Math.max(0, now - item.startMs))
        }</td></tr>`
      )
    }</tbody></table>${
      open.length > MOST_OPEN &&
      markup`<p class="soft">and ${count(open.length - MOST_OPEN)} more</p>`
    }</section>`;
}

/** Returns the input, output and published state. */
function valuesOf(
  { model, session, problem }: ReportedRun,
  heading: (text: string) => Html,
  room: Room,
): Part {
  const [first] = model.items;
  const last = model.items.findLast(({ kind, from }) => kind === "run" && from > 1);
  const input = first === undefined ? [] : model.inputOf(first);
  const output = last === undefined ? undefined : model.outputOf(last);
  const failure = last === undefined ? undefined : model.failureOf(last);
  const view = session?.viewAt(session.length);
  const published = view?.published;
  if (input.length === 0 && last === undefined && published === undefined) return undefined;
  const box = (title: string, inner: Part): Html =>
    markup`<div><p class="label">${title}</p>${inner}</div>`;
  return markup`<section>${heading("Values")}<div class="wells">${
    input.length > 0 && box(
      input.length === 1 ? "Input" : "Inputs",
      input.map((each) => room.shown(each)),
    )
  }${
    output !== undefined &&
    box(model.facts.status === "ContinuedAsNew" ? "Continued with" : "Result", room.shown(output))
  }${failure !== undefined && box("Failure", room.failure(failure))}${
    published !== undefined &&
    box(problem === undefined ? "State at the end" : "State where the replay ended", [
      room.shown(published),
      markup`<p class="soft">since event ${count(published.sinceEventId)}</p>`,
    ])
  }</div></section>`;
}
