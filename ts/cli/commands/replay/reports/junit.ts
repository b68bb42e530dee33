// A JUnit report for CI systems: a test suite for each workflow type, a test case for each history.
import { printable } from "../../../frame/printable.ts";
import type { ReplayLine, Verdict } from "../line.ts";
import { type Place, placeText } from "../place.ts";
import { historyLabel, placeLines } from "../text.ts";

interface Case {
  readonly name: string;
  readonly ms: number;
  readonly verdict: Verdict;
  readonly message: string;
  readonly details: string;
  /** Changed values, one per line; "" if none. */
  readonly changed: string;
}

const UNREADABLE = "unreadable histories";

export class JUnit {
  readonly #suites = new Map<string, Case[]>();
  readonly #started = new Date();

  add(line: ReplayLine, place: Place | undefined): void {
    const suite = line.workflowType === "" ? UNREADABLE : line.workflowType;
    const cases = this.#suites.get(suite) ?? [];
    this.#suites.set(suite, cases);
    const { verdict, ms, error } = line;
    const changed = changedText(line);
    cases.push({
      changed,
      name: historyLabel(line),
      ms,
      verdict,
      message: error?.sentence ?? error?.message ?? changed.split("\n")[0]!,
      details: error === undefined ? changed : details(error, place),
    });
  }

  /** Returns the document. */
  text(ms: number): string {
    const suites = [...this.#suites];
    const all = suites.flatMap(([, cases]) => cases);
    const head = attributes({ name: "temporalex replay", ...counts(all), time: seconds(ms) });
    return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites${head}>\n${
      suites.map(([name, cases]) => this.#suite(name, cases)).join("")
    }</testsuites>\n`;
  }

  #suite(name: string, cases: readonly Case[]): string {
    const time = seconds(cases.reduce((sum, { ms }) => sum + ms, 0));
    const timestamp = this.#started.toISOString().slice(0, 19);
    const head = attributes({ name, ...counts(cases), skipped: 0, time, timestamp });
    return `  <testsuite${head}>\n${
      cases.map((each) => testCase(name, each)).join("")
    }  </testsuite>\n`;
  }
}

function changedText({ changedValues = [] }: ReplayLine): string {
  return changedValues.map(({ eventId, step, sentence, location }) =>
    `${sentence} (event ${eventId}, ${step}${location === "" ? "" : `, at ${location}`})`
  ).join("\n");
}

function testCase(suite: string, { name, ms, verdict, message, details, changed }: Case): string {
  const head = `    <testcase${attributes({ name, classname: suite, time: seconds(ms) })}`;
  const output = changed === "" ? "" : `<system-out>${escaped(changed)}</system-out>`;
  if (verdict === "ok") {
    return output === "" ? `${head}/>\n` : `${head}>\n      ${output}\n    </testcase>\n`;
  }
  const element = isFailure(verdict) ? "failure" : "error";
  return `${head}>\n      <${element}${attributes({ message, type: verdict })}>${
    escaped(details)
  }</${element}>\n    </testcase>\n`;
}

function details(error: NonNullable<ReplayLine["error"]>, place: Place | undefined): string {
  const { message, sentence, repair, eventId, expected, actual, stack = "" } = error;
  return [
    ...(sentence === undefined ? [] : [sentence]),
    ...(repair === undefined ? [] : [repair.text, repair.code]),
    message,
    ...(eventId > 0 ? [`event ${eventId}`] : []),
    ...(expected === "" && actual === "" ? [] : [`history: ${expected}`, `code:    ${actual}`]),
    ...(place === undefined || stack !== "" ? placeLines(error) : [`at ${placeText(place)}`]),
  ].join("\n");
}

/** True for failures of the code. An unreadable history is a JUnit error. */
const isFailure = (verdict: Verdict): boolean =>
  verdict === "nondeterminism" || verdict === "failed" || verdict === "changed";

function counts(cases: readonly Case[]) {
  const failures = cases.filter(({ verdict }) => isFailure(verdict)).length;
  const errors = cases.filter(({ verdict }) => verdict === "unreadable").length;
  return { tests: cases.length, failures, errors };
}

const seconds = (ms: number): string => (ms / 1000).toFixed(3);

const attributes = (values: { readonly [name: string]: string | number }): string =>
  Object.entries(values).map(([name, value]) => ` ${name}="${escaped(String(value))}"`).join("");

const ENTITIES: { readonly [character: string]: string } = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "\n": "&#10;",
  "\r": "&#13;",
  "\t": "&#9;",
};

/** Escapes control characters and lone surrogates, most of which XML cannot contain. */
function escaped(text: string): string {
  return printable(text).replace(/[\ufffe\uffff]|\p{Surrogate}/gu, "\ufffd").replace(
    /[&<>"\n\r\t]/g,
    (character) => ENTITIES[character]!,
  );
}
