// The overview of many histories: counts per verdict, and a row per history with a link to its
// section, diverged ones first.
import { type Html, markup } from "./html.ts";
import { verdictPill } from "./run_section.ts";
import { count } from "../run_view/time.ts";
import { cutTo } from "../run_view/timeline/texts.ts";
import type { ManyHistories } from "./types.ts";

const MOST_LETTERS = 300;

/** Returns the overview. */
export function overviewOf({ verdicts, lines, leftOut }: ManyHistories): Html {
  const all = verdicts.reduce((sum, [, histories]) => sum + histories, 0);
  return markup`<header><h1>${count(all)} ${all === 1 ? "history" : "histories"} replayed</h1>
<ul class="verdicts">${
    verdicts.map(([verdict, histories]) =>
      markup`<li><b>${count(histories)}</b>${verdictPill(verdict)}</li>`
    )
  }</ul></header>
${leftOut.map((text) => markup`<p class="note">${text}</p>`)}
<section><h2>Histories</h2><table class="runs"><thead><tr><th scope="col">Verdict</th><th scope="col">Workflow</th><th scope="col" class="n wide">Events</th><th scope="col">What was found</th></tr></thead><tbody>${
    lines.map(({ verdict, type, id, source, events, text, run }) => {
      const name = markup`${type !== "" && markup`<b>${cutTo(type, MOST_LETTERS)}</b> `}${
        cutTo(id === "" ? source : id, MOST_LETTERS)
      }`;
      return markup`<tr><td>${verdictPill(verdict)}</td><td>${
        run === undefined ? name : markup`<a href="#run-${run + 1}">${name}</a>`
      }${
        id !== "" && markup`<br><span class="soft">${cutTo(source, MOST_LETTERS)}</span>`
      }</td><td class="n wide">${count(events)}</td><td>${cutTo(text, 600)}</td></tr>
`;
    })
  }</tbody></table></section>`;
}
