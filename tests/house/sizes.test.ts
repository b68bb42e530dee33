// runtime: node
// A file holds one idea and a function one step: what grows beyond these numbers is split by idea.
// Generated files are left out.
import assert from "node:assert/strict";
import { test } from "node:test";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

interface Tool {
  sourcesOf(folders: readonly string[]): string[];
  linesOf(text: string): number;
  functionsOf(
    text: string,
  ): { readonly name: string; readonly lines: number; readonly from: number }[];
  tooLarge(
    paths: readonly string[],
    limits: { readonly file: number; readonly fn: number },
  ): string[];
}
const { sourcesOf, linesOf, functionsOf, tooLarge } = await import(
  pathToFileURL(resolve("tools/lib/sizes.mjs")).href
) as Tool;

/** Components of the page and tests are lists of elements or steps, so they may be longer. */
const AREAS: readonly {
  readonly folders: readonly string[];
  readonly file: number;
  readonly fn: number;
}[] = [
  { folders: ["ts", "tools", "bench", "examples"], file: 600, fn: 100 },
  { folders: ["tests", "web-demo/src"], file: 600, fn: 150 },
];

/** What may be larger, and why. */
const EXCEPTIONS: { readonly [what: string]: string } = {
  "tests/suites/local_activities_suite.ts: localActivitiesSuite": "a list of tests",
  "tests/unit/gateway/support/in_tab.ts: tabSuite":
    "a list of tests that is sent to a tab as one function",
  "tests/faults/chaos/loop.ts: chaosLoop":
    "one loop over the phases of a run; its steps share all of its state",
  "tests/cases/random_interpreter.ts: interpretation":
    "an interpreter: one case for each construct of the programs",
  "tests/system/interop/deploy.test.ts: workers": "one deployment in the order of its steps",
  "tests/system/interop/support/client_script.ts: clientScript": "a list of the steps of a script",
  "tests/unit/metrics/worker.test.ts: an argument of test": "one scrape, compared line by line",
  "tests/unit/cli/workflow.test.ts: an argument of test": "one run through all of its commands",
};

const found = AREAS.flatMap(({ folders, ...limits }) => tooLarge(sourcesOf([...folders]), limits));
const whatOf = (line: string) => line.replace(/(?:: \d+ lines| has \d+ lines)$/, "");

test("no file and no function has more lines than its area allows", () => {
  assert.deepEqual(found.filter((line) => EXCEPTIONS[whatOf(line)] === undefined), []);
});

test("each exception is needed", () => {
  const needed = new Set(found.map(whatOf));
  assert.deepEqual(Object.keys(EXCEPTIONS).filter((what) => !needed.has(what)), []);
});

test("lines of files and functions are counted", () => {
  const text = `import type { A } from "./a.ts";
export class B {
  get c(): A {
    return (() => {
      // one
    })() as A;
  }
}
export const d = async <T>(e: T) => {
  return await e;
};
`;
  assert.equal(linesOf(text), 11);
  assert.deepEqual(functionsOf(text).map(({ name, lines }) => `${name} ${lines}`), [
    "c 5",
    "an argument of a function 3",
    "d 3",
  ]);
});
