#!/usr/bin/env node
// A few tests of the page in the system's Firefox: `node web-demo/e2e/firefox.mjs [--built]`.
// Playwright drives only its own Firefox build, which is not downloaded, so these tests use
// WebDriver BiDi (tools/lib/firefox.mjs) and the page's DOM instead of input events. Ends with `N
// passed, N failed, N skipped`.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { buildDemo, serveDemo } from "../../tools/demo.mjs";
import { launchFirefox } from "../../tools/lib/firefox.mjs";
import { leaveWithParent } from "../../tools/lib/leave.mjs";
import { root } from "../../tools/lib/steps.mjs";

/** The limit of a wait that never succeeds. */
const PATIENCE_MS = 120_000;

leaveWithParent();
if (!process.argv.includes("--built")) await buildDemo();
const launched = await launchFirefox();
if (!launched.browser) {
  console.log(`0 passed, 0 failed, 1 skipped: no browser: ${launched.reason}`);
  process.exit(0);
}
const site = await serveDemo();
const read = (path) => readFileSync(join(root, path), "utf8");

/** Waits in the page until an element has a text. Returns the text. */
const said = (page, selector, pattern) =>
  page.evaluate(async ([selector, pattern, patience]) => {
    const until = Date.now() + patience;
    for (;;) {
      const text = document.querySelector(selector)?.textContent ?? "";
      if (new RegExp(pattern).test(text)) return text;
      if (Date.now() > until) throw new Error(`${selector} says "${text}" and not /${pattern}/`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }, [selector, pattern, PATIENCE_MS]);

const click = (page, selector, text = "") =>
  page.evaluate(async ([selector, text, patience]) => {
    const until = Date.now() + patience;
    for (;;) {
      const found = [...document.querySelectorAll(selector)].find((one) =>
        one.textContent.includes(text)
      );
      if (found !== undefined) return found.click();
      if (Date.now() > until) throw new Error(`there is no ${selector} "${text}"`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }, [selector, text, PATIENCE_MS]);

const drop = (page, files) =>
  page.evaluate((files) => {
    const dataTransfer = new DataTransfer();
    for (const [name, text] of files) dataTransfer.items.add(new File([text], name));
    for (const type of ["dragover", "drop"]) {
      document.querySelector("#main").dispatchEvent(
        new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }),
      );
    }
  }, files);

const STORIES = {
  "a sample is replayed and moved in": async (page) => {
    await said(page, "#verdict", "Replays to the end");
    await said(page, "#why", "add_item");
    await click(page, "#go-end");
    await said(page, "#position", "Event 41 of 41");
  },
  "a dropped history and its code: it runs after a click, in the sandbox": async (page) => {
    const rename = (text) => text.replaceAll("Counter", "Tally").replaceAll("counter", "tally");
    await drop(page, [[
      "tally.json",
      read("web-demo/samples/counter.json").replaceAll('"Counter"', '"Tally"'),
    ]]);
    await said(page, "h1", "Tally");
    await drop(page, [["tally.ts", rename(read("examples/counter/workflow.ts"))]]);
    await click(page, "button", "Show what will run");
    await click(page, "button", "Run code");
    await said(page, "#verdict", "Replays to the end");
  },
  "a history that its code does not replay is shown at the place": async (page) => {
    await drop(page, [["cart.json", read("web-demo/samples/shopping_cart_diverged.json")]]);
    await said(page, "#position", "Event 24 of 41");
    await said(page, "#where-they-part", "chargeCard");
  },
  "a branch runs in the embedded engine": async (page) => {
    await said(page, "#verdict", "Replays to the end");
    await click(page, "#what-if");
    await click(page, "#run-branch");
    await said(page, "#end-of-b", "completed");
  },
};

let passed = 0, failed = 0;
try {
  for (const [name, story] of Object.entries(STORIES)) {
    const errors = [];
    try {
      const page = await launched.browser.newPage();
      page.on("pageerror", (error) => errors.push(error.message));
      await page.goto(`${site.url}#/open?run=sample:shopping_cart&e=19`);
      await said(page, "#position", "Event 19 of 41");
      await story(page);
      if (errors.length > 0) throw new Error(errors.join("; "));
      passed++;
    } catch (error) {
      failed++;
      console.log(`not ok - firefox > ${name}\n${error.message} ${errors.join("; ")}`);
    }
  }
} finally {
  await launched.browser.close();
  await site.close();
}
console.log(`browser: ${launched.source}, ${launched.browser.version()}`);
console.log(`${passed} passed, ${failed} failed, 0 skipped`);
process.exit(failed > 0 ? 1 : 0);
