// What each tier of `npm test` runs: `quick` for the loop of a contributor, `usual` for a visitor,
// `all` for CI. The usual run has at least one test of every promise of docs/guarantees.md
// (tests/house/tiers.test.ts): files name theirs at their head, `// promise: P1`.
import { head } from "./file_heads.mjs";
import { inBrowser, inFirefox, plain, SHORT_SECONDS, takes } from "./test_files.mjs";

const SUITES = {
  quick: ["format", "lint", "types", "generated", "build", "node"],
  usual: ["format", "lint", "types", "generated", "build", "node", "deno", "chromium", "web-demo"],
};
/** The stories of the page that the usual run has: P10. */
export const PAGE_STORIES = ["security"];

/** Names of the suites of a tier; undefined for all of them. */
export const suitesOfTier = (tier) => SUITES[tier];

/**
 * Suites that compile and do not wait. They run next to all stages at a lower priority, so they give
 * way to the other suites, whose timeouts are hardly affected.
 */
const BACKGROUND = ["rust", "core-rebuild"];

/** The wanted suites that run next to the stages, one after the other. */
export const backgroundOf = (wanted) => wanted.filter((name) => BACKGROUND.includes(name));

/**
 * The other suites of a run in stages. The rows of a stage run at the same time, the suites of a row
 * one after the other. Suites of a stage wait for pages, servers, downloads and single threads most
 * of the time, or are one process each.
 */
export function stagesOf(tier, wanted) {
  const checks = [["types"], ["format"], ["lint"], ["generated"]];
  const stages = {
    quick: [[["build", "node"], ...checks]],
    // The suites of cases use one processor each, and wait for timers in between.
    usual: [[["build"]], [["node"], ...checks, ["deno"], ["chromium", "web-demo"]]],
    all: [
      [["build"]],
      [["node"], ...checks, ["chromium", "cross-engine"]],
      [["deno"], ["firefox"]],
      [["web-demo"], ["package", "browser"]],
      [["interop"], ["interop-deno"]],
    ],
  }[tier];
  const placed = [...stages.flat(2), ...BACKGROUND];
  const before = wanted.filter((name) => !placed.includes(name)).map((name) => [[name]]);
  return [
    ...before,
    ...stages.map((rows) => rows.map((row) => row.filter((name) => wanted.includes(name)))),
  ];
}

const isShort = (file) => takes(file) < SHORT_SECONDS;
/** Promises that a file names at its head, such as ["P1", "P2"]. */
export const promisesOf = (file) =>
  /^\/\/ promise: (.*)$/m.exec(head(file))?.[1].split(/, ?/) ?? [];

/** The files of the suite `node` in a tier. */
export function nodeFilesOf(tier) {
  if (tier === "all") return plain;
  return plain.filter((file) => isShort(file) || (tier === "usual" && promisesOf(file).length > 0));
}

/** The files of the suite `deno` in a tier: the usual run has the runtime-neutral cases. */
export function denoFilesOf(tier) {
  return tier === "all"
    ? [...inBrowser, ...inFirefox, ...plain]
    : plain.filter((file) => file.startsWith("tests/system/runtime/"));
}

/** The files of the suite `node` that a tier leaves out. */
export const omittedFiles = (tier) => plain.filter((file) => !nodeFilesOf(tier).includes(file));
