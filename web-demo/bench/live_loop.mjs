#!/usr/bin/env node
// The live loop: a key in the page's editor until the verdict on the new text, over a history of 5,000 events, in Chromium. Prints the
// milliseconds with their conditions. node web-demo/bench/live_loop.mjs [--events=5000] [--edits=40] [--no-build]
import { readFileSync } from "node:fs";
import { arch, cpus, loadavg } from "node:os";
import process from "node:process";
import { buildDemo, serveDemo } from "../../tools/demo.mjs";
import { launchChromium } from "../../tools/lib/chromium.mjs";
import { leaveWithParent } from "../../tools/lib/leave.mjs";

leaveWithParent();
const option = (name, other) => Number(process.argv.find((arg) => arg.startsWith(`--${name}=`))?.split("=")[1] ?? other);
const events = option("events", 5000), edits = option("edits", 40);
const read = (path) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
if (!process.argv.includes("--no-build")) await buildDemo();

/** One signal per workflow task, four events each; still open. */
function history() {
  const sample = JSON.parse(read("web-demo/samples/counter.json")).events;
  const of = (type) => sample.find(({ eventType }) => eventType.endsWith(type));
  const all = [sample[0]];
  const add = (event, change = () => {}) => {
    const copy = { ...structuredClone(event), eventId: String(all.length + 1) };
    change(Object.values(copy).find((value) => typeof value === "object" && value !== null));
    return all.push(copy);
  };
  while (all.length < events) {
    const scheduled = add(of("WORKFLOW_TASK_SCHEDULED"));
    const started = add(of("WORKFLOW_TASK_STARTED"), (fields) => (fields.scheduledEventId = String(scheduled)));
    add(of("WORKFLOW_TASK_COMPLETED"), (fields) => {
      fields.scheduledEventId = String(scheduled);
      fields.startedEventId = String(started);
    });
    add(of("EXECUTION_SIGNALED"), (fields) => (fields.signalName = "increment"));
  }
  return JSON.stringify({ events: all }).replaceAll('"Counter"', '"Tally"');
}

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
  await drop("tally.json", history());
  await says("No code");
  const code = read("examples/counter/workflow.ts").replaceAll("Counter", "Tally").replaceAll("counter", "tally");
  await drop("tally.ts", code);
  await page.getByRole("button", { name: "Show what will run" }).click();
  await page.getByRole("button", { name: "Run it" }).click();
  await says("Replays");
  await page.getByRole("button", { name: "Edit", exact: true }).click();
  await page.locator(".cm-content").click();
  const taken = [];
  await page.keyboard.press("Control+End");
  for (let i = 0; i < edits; i++) {
    // From the key to the first frame in which the verdict stands without the dot that says that another one is on its way. An observer
    // sees the dot also where it stands for less than a frame.
    await page.waitForFunction(() => document.querySelector("#verdict .working") === null);
    await page.evaluate(() => {
      globalThis.taken = new Promise((resolve) => {
        let began, hasWorked = false;
        addEventListener("keydown", () => (began = performance.now()), { once: true, capture: true });
        const observer = new MutationObserver(() => {
          const working = document.querySelector("#verdict .working") !== null;
          if (began === undefined || working) return void (hasWorked ||= working);
          if (!hasWorked) return;
          observer.disconnect();
          requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - began)));
        });
        observer.observe(document.querySelector("header.top"), { subtree: true, childList: true });
      });
    });
    await page.keyboard.press(i % 2 === 0 ? "Space" : "Backspace");
    taken.push(await page.evaluate(() => globalThis.taken));
    await page.waitForTimeout(150);
  }
  taken.sort((a, b) => a - b);
  const at = (share) => taken[Math.min(taken.length - 1, Math.floor(taken.length * share))].toFixed(0);
  console.log(
    `${events} events, ${edits} edits: p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, slowest ${
      at(1)
    } ms; key to verdict, 100 ms of settling included`,
  );
  console.log(
    `Chromium ${browser.version()}, ${cpus()[0].model}, ${cpus().length} ${arch()} cores, load ${loadavg()[0].toFixed(1)}`,
  );
} finally {
  await browser.close();
  await site.close();
}
