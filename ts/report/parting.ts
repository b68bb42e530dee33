// The divergence of code and history: a summary, both sides, the source line and a repair.
import { codeOf } from "./code_excerpt.ts";
import { type Html, markup, type Part } from "./html.ts";
import { count } from "../run_view/time.ts";
import { cutTo } from "../run_view/timeline/texts.ts";
import type { ReportedProblem, ReportedRun } from "./types.ts";
import { CONFIDENCE, fieldDifferences } from "../run_view/words_of_parting.ts";

const MOST_LETTERS = 2000;

/** Returns the section; undefined if the code reproduces the history, or without code. */
export function partingSection(
  run: ReportedRun,
  heading: (text: string) => Html,
): Html | undefined {
  const { problem, code } = run;
  if (problem === undefined) return undefined;
  const { divergence, isDivergence, eventId, location } = problem;
  const sentence = divergence?.sentence ?? problem.message;
  return markup`<section class="parting">${
    heading(isDivergence ? "Code and history diverge" : "The code fails")
  }
<p class="say">${cutTo(sentence, MOST_LETTERS)}</p>${
    divergence !== undefined && divergence.edit.text !== "" &&
    markup`<p class="soft">${
      !holds(divergence.sentence, divergence.edit.text) && `${capital(divergence.edit.text)}. `
    }${CONFIDENCE[divergence.edit.confidence]}</p>`
  }${sidesOf(problem)}${
    code !== undefined
      ? codeOf(code, markOf(problem), true)
      : (divergence?.location || location) !== "" &&
        markup`<p class="soft">at <code>${divergence?.location || location}</code></p>`
  }${repairOf(problem)}${
    divergence !== undefined && problem.message !== "" &&
    markup`<details><summary>The replay's own words</summary><div class="body"><p class="wrap">${
      cutTo(problem.message, MOST_LETTERS)
    }</p>${
      problem.expected !== "" &&
      markup`<p>history: ${cutTo(problem.expected, MOST_LETTERS)}</p><p>code: ${
        cutTo(problem.actual, MOST_LETTERS)
      }</p>`
    }${eventId > 0 && markup`<p>event ${count(eventId)}</p>`}</div></details>`
  }</section>`;
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
const holds = (sentence: string, text: string): boolean =>
  sentence.toLowerCase().includes(text.toLowerCase());

/** Returns the text next to the marked line. */
function markOf({ divergence, expected, isDivergence }: ReportedProblem): string {
  if (!isDivergence) return "";
  if (divergence !== undefined && divergence.first.history === undefined) {
    return "history has nothing here";
  }
  const text = divergence?.first.history?.text ?? expected;
  return text === "" ? "" : `history has ${cutTo(text, 120)} here`;
}

function sidesOf(problem: ReportedProblem): Part {
  const rows = fieldDifferences(problem);
  if (rows.length === 0) return undefined;
  return markup`<table class="sides"><thead><tr><th scope="col"><span class="unseen">Field</span></th><th scope="col">Code</th><th scope="col">History</th></tr></thead><tbody>${
    rows.map(({ field, code, history, counts }) =>
      markup`<tr class="${counts ? "counts" : "soft"}"><th scope="row">${field}</th><td>${
        cutTo(code, MOST_LETTERS)
      }</td><td>${cutTo(history, MOST_LETTERS)}</td></tr>`
    )
  }</tbody></table>${
    rows.some(({ counts }) => !counts) &&
    markup`<p class="soft">The replay does not compare the pale fields: they may change.</p>`
  }`;
}

function repairOf({ divergence }: ReportedProblem): Part {
  const repair = divergence?.repair;
  return repair !== undefined &&
    markup`<div class="repair"><p><b>Repair.</b> ${repair.text}</p>${
      repair.code !== "" && markup`<pre>${repair.code}</pre>${
        repair.isReplayed !== true &&
        markup`<p class="soft">This repair is a guess: the history has not been replayed with it.</p>`
      }`
    }</div>`;
}
