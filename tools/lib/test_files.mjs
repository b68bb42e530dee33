// The test files, and what they say about themselves at their head: `// takes: 90 s`, `// runtime:
// node`, `// promise: P1`.
import { existsSync, readdirSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { head } from "./file_heads.mjs";
import { root } from "./steps.mjs";

export const walk = (dir) =>
  existsSync(dir)
    ? readdirSync(dir).filter((n) => n !== "node_modules").flatMap((n) =>
      statSync(join(dir, n)).isDirectory() ? walk(join(dir, n)) : [join(dir, n)]
    )
    : [];

/** Seconds that a file says it takes; those that say nothing take less than `SHORT_SECONDS`. */
export const takes = (file) => Number(/^\/\/ takes: (\d+) s/m.exec(head(file))?.[1] ?? 0);
export const SHORT_SECONDS = 3;
export const forDeno = (files) =>
  files.filter((file) => !/^\/\/ runtime: node\b/m.test(head(file)));

/** The longest first: the others run in parallel, and no long file runs alone at the end. */
const testFiles = walk(join(root, "tests")).filter((f) => f.endsWith(".test.ts")).map((f) =>
  relative(root, f)
)
  .map((file) => ({ file, seconds: takes(file) })).sort((a, b) => b.seconds - a.seconds).map((
    { file },
  ) => file);

export const interop = testFiles.filter((f) => f.startsWith("tests/system/interop/"));
/**
 * Files of tests/system/browser that need an installed browser; suites with the browser of the npm
 * package would skip them.
 */
const needsInstalled = (file) => /^\/\/ browser: installed\b/m.test(head(file));
export const inFirefox = testFiles.filter((f) =>
  /^tests\/system\/browser\/.*firefox\.test\.ts$/.test(f)
);
export const inBrowser = testFiles.filter((f) =>
  f.startsWith("tests/system/browser/") && !inFirefox.includes(f) && !needsInstalled(f)
);
/** What the suite `node` runs: what needs neither a server of Temporal's nor a browser. */
export const plain = testFiles.filter((f) => ![...interop, ...inBrowser, ...inFirefox].includes(f));
