// runtime: node
// Which Chromium the tools start: one of the system if there is one, else that of the npm package,
// with the same arguments.
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

const toolUrl = (name: string) => pathToFileURL(join(process.cwd(), "tools/lib", name)).href;
const { run, which } = await import(toolUrl("steps.mjs")) as {
  run(
    command: string,
    argv: readonly string[],
    options: { env: { [name: string]: string | undefined } },
  ): Promise<{
    status: number;
    output: string;
  }>;
  which(name: string): string | undefined;
};

/** Opens and closes two pages, one after the other, and prints the source of the browser. */
const PROGRAM = `const { launchChromium } = await import(${
  JSON.stringify(toolUrl("chromium.mjs"))
});
const { browser, source, reason } = await launchChromium();
if (browser === undefined) throw new Error(reason);
for (const n of [1, 2]) {
  const page = await browser.newPage();
  await page.goto("data:text/html,<h1>page " + n);
  if (await page.textContent("h1") !== "page " + n) throw new Error("another page");
  await page.close();
}
await browser.close();
console.log(source);`;
const started = (path: string) =>
  run(process.execPath, ["--input-type=module", "-e", PROGRAM], {
    env: {
      PATH: path,
      CHROMIUM_PATH: undefined,
      PLAYWRIGHT_BROWSERS_PATH: join(tmpdir(), "no-browsers"),
      NODE_TEST_CONTEXT: undefined,
    },
  });

for (
  const [program, source] of [
    ["chromium", "the system's Chromium"],
    ["chromium-headless-shell", "the system's headless shell"],
  ] as const
) {
  test(`${program} is found on PATH`, async (t) => {
    const path = which(program);
    if (path === undefined) return t.skip(`${program} is not on PATH`);
    const folder = mkdtempSync(join(tmpdir(), "temporalex-one-program-"));
    try {
      // The script of the distribution finds its browser by the folder of the PATH.
      for (const name of readdirSync("/usr/bin")) {
        if (!/^(?:chrom|google-chrome)/.test(name)) {
          symlinkSync(join("/usr/bin", name), join(folder, name));
        }
      }
      symlinkSync(path, join(folder, program));
      const { status, output } = await started(folder);
      assert.equal(output, `${source}\n`);
      assert.equal(status, 0);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
}

test(
  "without one, the Chromium of the npm package opens page after page",
  { skip: process.platform !== "linux" && "for Linux" },
  async () => {
    const empty = mkdtempSync(join(tmpdir(), "temporalex-no-programs-"));
    try {
      const { status, output } = await started(empty);
      assert.equal(output, "@sparticuz/chromium\n");
      assert.equal(status, 0);
    } finally {
      rmSync(empty, { recursive: true, force: true });
    }
  },
);
