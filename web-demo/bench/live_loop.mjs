#!/usr/bin/env node
// The live loop: a key in the page's editor until the verdict on the new text, over a long history,
// in Chromium.
import { buildDemo, serveDemo } from "../../tools/demo.mjs";
import { launchChromium } from "../../tools/lib/chromium.mjs";
import { leaveWithParent } from "../../tools/lib/leave.mjs";
import {
  conditions,
  conditionsText,
  figures,
  figuresText,
  optionsOf,
  tallyCode,
  tallyHistory,
  watchVerdicts,
} from "./lib/tally.mjs";

const HELP =
  `usage: node web-demo/bench/live_loop.mjs [--events=5000] [--edits=40] [--pause=700] [--no-build] [--json]

From a key in the page's editor to the frame with the verdict on the new text: of single keys, and of the last one of five in a row.
--pause: milliseconds between a verdict and the next key.`;

leaveWithParent();
const options = optionsOf(HELP, { events: 5000, edits: 40, pause: 700 });
if (!options["no-build"]) await buildDemo();
const site = await serveDemo();
const { browser, reason } = await launchChromium();
if (browser === undefined) throw new Error(`there is no browser: ${reason}`);
try {
  const page = await browser.newPage();
  await page.goto(site.url);
  await page.locator("#main").waitFor();
  const drop = async (name, text) => {
    const data = await page.evaluateHandle(([name, text]) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([text], name));
      return transfer;
    }, [name, text]);
    await page.dispatchEvent("#main", "drop", { dataTransfer: data });
  };
  const says = (text) => page.locator("#verdict", { hasText: text }).waitFor({ timeout: 120_000 });
  await drop("tally.json", tallyHistory(options.events));
  await says("No code");
  await drop("tally.ts", tallyCode());
  await page.getByRole("button", { name: "Show what will run" }).click();
  await page.getByRole("button", { name: "Run code" }).click();
  await says("Replays");
  await page.getByRole("button", { name: "Edit", exact: true }).click();
  await page.locator(".cm-content").click();
  await page.keyboard.press("Control+End");
  await page.evaluate(watchVerdicts);
  await page.evaluate(() => {
    addEventListener(
      "keydown",
      () => (globalThis.keyAt = performance.timeOrigin + performance.now()),
      { capture: true },
    );
  });
  const taken = { single: [], burst: [] };
  let typed = 0;
  const measure = async (keys) => {
    await page.waitForTimeout(options.pause);
    // What was typed is taken back by the next ones.
    const key = typed > 0 ? "Backspace" : "Space";
    typed += key === "Space" ? keys : -keys;
    for (let i = 0; i < keys; i++) await page.keyboard.press(key);
    await page.evaluate(() => globalThis.verdict(globalThis.keyAt));
    // The first key of several is replayed at once, and its verdict may come after the last key:
    // the newest text has the last verdict.
    if (keys > 1) await page.waitForTimeout(options.pause);
    return await page.evaluate(() => globalThis.verdicts.at(-1) - globalThis.keyAt);
  };
  for (let i = 0; i < options.edits; i++) taken.single.push(await measure(1));
  for (let i = 0; i < options.edits / 2; i++) taken.burst.push(await measure(5));
  const single = figures(taken.single), burst = figures(taken.burst);
  const is = conditions(browser);
  if (options.json) {
    console.log(
      JSON.stringify({
        bench: "key to verdict",
        events: options.events,
        single,
        burst,
        conditions: is,
      }),
    );
  } else {
    console.log(`${options.events} events, a key to its verdict: ${figuresText(single)}`);
    console.log(
      `${options.events} events, the last of five keys to its verdict: ${figuresText(burst)}`,
    );
    console.log(conditionsText(is));
  }
} finally {
  await browser.close();
  await site.close();
}
