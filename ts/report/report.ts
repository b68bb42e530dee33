// A report: runs in one self-contained HTML file, without scripts or requests, which its content
// security policy enforces. It opens in browsers and mail programs, and prints.
import { VERSION } from "../base/version.ts";
import { Html, markup } from "./html.ts";
import { overviewOf } from "./overview.ts";
import { moment, sectionOf } from "./run_section.ts";
import { STYLE, STYLE_DIGEST } from "./style.ts";
import { count } from "../run_view/time.ts";
import { cutTo } from "../run_view/timeline/texts.ts";
import type { ManyHistories, ReportedRun } from "./types.ts";
import { Room } from "./values_of.ts";

/** Maximum number of listed events per file; each run gets at least `LEAST`. */
const MOST_EVENTS = 5000;
const LEAST = 200;

/** The content of a report. */
export interface Report {
  /** Runs with their own section, in order. */
  readonly runs: readonly ReportedRun[];
  /**
   * For many histories: the listed ones and the counts per verdict. Undefined: the report is about
   * one run.
   */
  readonly many?: ManyHistories;
  /** Time of creation, in milliseconds since the epoch. */
  readonly madeMs: number;
}

/** Returns the HTML of the report. */
export function reportText({ runs, many, madeMs }: Report): string {
  const room = new Room();
  const [first] = runs;
  const isOne = many === undefined && first !== undefined;
  const title = isOne
    ? `${cutTo(first.model.facts.type, 100)} ${cutTo(first.model.facts.id, 100)}`
    : "Replayed histories";
  const mostEvents = Math.max(LEAST, Math.floor(MOST_EVENTS / Math.max(1, runs.length)));
  const sections = runs.map((run, i) =>
    sectionOf(run, { level: isOne ? 1 : 2, anchor: isOne ? "" : `run-${i + 1}`, mostEvents, room })
  );
  const values = [...new Set(runs.map(({ values }) => values))];
  const body = markup`<main>
${many !== undefined && overviewOf(many)}
${
    room.leftOut > 0 &&
    markup`<p class="note">${
      count(room.leftOut)
    } values found no room in this file and are left out.</p>`
  }
${sections}
</main>
<footer>${values.map((text) => markup`<p>${text}</p>`)}<p>Made by temporalex ${VERSION}, ${
    moment(madeMs)
  }. This file has no script and asks nothing of anybody.</p></footer>`;
  return `${documentOf(title, body).text}\n`;
}

const POLICY =
  `default-src 'none'; style-src '${STYLE_DIGEST}'; base-uri 'none'; form-action 'none'`;

const documentOf = (title: string, body: Html): Html =>
  markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${new Html(POLICY)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>${new Html(STYLE)}</style>
</head>
<body>
${body}
</body>
</html>`;
