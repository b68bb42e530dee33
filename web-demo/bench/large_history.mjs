#!/usr/bin/env node
// A history of 51,200 events in Chromium: opening it, stepping, jumping, scrubbing, scrolling,
// memory. Figures come from a trace of the page's main thread (the DevTools protocol's Tracing), so
// that they are of script, style, layout and paint, and not of this script's round trips. The
// opening is measured by the clock.
import { buildDemo, serveDemo } from "../../tools/demo.mjs";
import { launchChromium } from "../../tools/lib/chromium.mjs";
import { leaveWithParent } from "../../tools/lib/leave.mjs";
import { longest, mainThread } from "./lib/main_thread.mjs";
import {
  conditions,
  conditionsText,
  figures,
  optionsOf,
  tallyCode,
  tallyHistory,
} from "./lib/tally.mjs";

const HELP =
  `usage: node web-demo/bench/large_history.mjs [--events=51200] [--steps=200] [--jumps=40] [--code] [--no-build] [--json]

Opens a history of so many events in Chromium and steps, jumps, scrubs and scrolls in it. Prints what the main thread took for each, the
longest task of each part, and the memory of the page afterwards. --code: with its code beside it, replayed.`;

leaveWithParent();
const options = optionsOf(HELP, { events: 51_200, steps: 200, jumps: 40, code: false });
if (!options["no-build"]) await buildDemo();
const site = await serveDemo();
const { browser, reason } = await launchChromium();
if (browser === undefined) throw new Error(`there is no browser: ${reason}`);
try {
  const context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    reducedMotion: "reduce",
  });
  const page = await context.newPage();
  const cdp = await context.newCDPSession(page);
  await page.goto(site.url);
  await page.locator("#main").waitFor();
  await page.locator("#position").waitFor();
  const rows = [];
  const note = (what, value, unit, target) =>
    rows.push({ what, value: Math.round(10 * value) / 10, unit, target });

  const drop = async (name, text) => {
    const data = await page.evaluateHandle(([name, text]) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([text], name));
      return transfer;
    }, [name, text]);
    await page.evaluate((data) => {
      performance.mark("dropped");
      document.querySelector("#main").dispatchEvent(
        new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }),
      );
    }, data);
  };
  const frames = () =>
    page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));

  // Opening: from the drop to the frame that has the run's name and its position.
  const text = tallyHistory(options.events);
  const all = JSON.parse(text).events.length.toLocaleString("en-US");
  await page.evaluate((all) => {
    const look = () => {
      if (document.querySelector("#position")?.textContent.includes(`of ${all}`) !== true) return;
      observer.disconnect();
      requestAnimationFrame(() => setTimeout(() => (globalThis.openedAt = performance.now())));
    };
    const observer = new MutationObserver(look);
    observer.observe(document.body, { subtree: true, childList: true, characterData: true });
  }, all);
  await drop("tally.json", text);
  await page.waitForFunction(() => globalThis.openedAt !== undefined, undefined, {
    timeout: 120_000,
  });
  note(
    "first useful paint after the drop",
    await page.evaluate(() =>
      globalThis.openedAt - performance.getEntriesByName("dropped").at(-1).startTime
    ),
    "ms",
    1000,
  );
  if (options.code) {
    await drop("tally.ts", tallyCode());
    await page.getByRole("button", { name: "Show what will run" }).click();
    await page.getByRole("button", { name: "Run code" }).click();
    await page.locator("#verdict", { hasText: "Replays" }).waitFor({ timeout: 120_000 });
  }
  await page.waitForTimeout(1500);

  /** What the main thread did while `work` ran. */
  const traced = async (work) => {
    const events = [];
    const collect = ({ value }) => events.push(...value);
    cdp.on("Tracing.dataCollected", collect);
    const categories = [
      "toplevel",
      "devtools.timeline",
      "blink.user_timing",
      "disabled-by-default-devtools.timeline",
    ];
    await cdp.send("Tracing.start", {
      transferMode: "ReportEvents",
      traceConfig: { includedCategories: categories },
    });
    await work();
    await frames();
    const complete = new Promise((resolve) => cdp.once("Tracing.tracingComplete", resolve));
    await cdp.send("Tracing.end");
    await complete;
    cdp.off("Tracing.dataCollected", collect);
    return mainThread(events);
  };
  /**
   * Presses the keys, each within a separate trace mark. Returns for each press the time until the
   * next one.
   */
  const presses = async (keys) => {
    const { tasks, counted, marks } = await traced(async () => {
      for (const [i, key] of keys.entries()) {
        await page.evaluate((i) => void performance.mark(`bench ${i}`), i);
        await page.keyboard.press(key);
        await frames();
      }
      await page.evaluate((i) => void performance.mark(`bench ${i}`), keys.length);
    });
    const ofEach = (parts) =>
      keys.map((_, i) => {
        const [from, to] = [marks.get(`bench ${i}`), marks.get(`bench ${i + 1}`)];
        return parts.filter(({ ts }) => ts >= from && ts < to).reduce(
          (sum, { dur }) => sum + dur,
          0,
        ) / 1000;
      });
    return { counted: figures(ofEach(counted)), whole: figures(ofEach(tasks)) };
  };

  await page.evaluate(() => document.querySelector("#main").focus());
  // The run is open, and is shown where it stands: at its end, where a row down is no step.
  const steps = await presses(
    Array.from({ length: options.steps }, (_, i) => i % 4 === 3 ? "j" : "k"),
  );
  note("script and layout of a step, p50", steps.counted.p50, "ms", undefined);
  note("script and layout of a step, p99", steps.counted.p99, "ms", 16);
  note("whole tasks of a step, p50", steps.whole.p50, "ms", undefined);
  note("whole tasks of a step, p99", steps.whole.p99, "ms", undefined);
  await page.evaluate(() => document.querySelector("#playhead").focus());
  const jumps = await presses(
    Array.from({ length: options.jumps }, (_, i) => i % 2 === 0 ? "End" : "Home"),
  );
  note("script and layout of a jump, most", jumps.counted.most, "ms", 100);
  note("whole tasks of a jump, p50", jumps.whole.p50, "ms", undefined);
  note("whole tasks of a jump, most", jumps.whole.most, "ms", undefined);

  // The playhead is dragged over most of the width and back.
  const flag = await page.locator("#playhead").boundingBox();
  const scrubbed = await traced(async () => {
    await page.mouse.move(flag.x + flag.width / 2, flag.y + flag.height / 2);
    await page.mouse.down();
    for (let i = 0; i < 120; i++) {
      await page.mouse.move(300 + 900 * Math.abs(60 - i) / 60, flag.y + flag.height / 2);
      await frames();
    }
    await page.mouse.up();
  });
  note("scrubbing, longest task", longest(scrubbed.tasks), "ms", 50);
  await page.evaluate(() => document.querySelector("#main").focus());
  const list = page.locator("#events");
  const box = await list.boundingBox();
  const scrolled = await traced(async () => {
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    for (let i = 0; i < 120; i++) {
      await page.mouse.wheel(0, i % 3 === 2 ? 40_000 : 400);
      await frames();
    }
  });
  note("scrolling, longest task", longest(scrolled.tasks), "ms", 50);

  await cdp.send("HeapProfiler.enable");
  await cdp.send("HeapProfiler.collectGarbage");
  const { usedSize } = await cdp.send("Runtime.getHeapUsage");
  note("memory of the page's heap", usedSize / 2 ** 20, "MiB", 300);

  const is = conditions(browser);
  if (options.json) {
    console.log(
      JSON.stringify({
        bench: "large history",
        events: options.events,
        code: options.code,
        rows,
        conditions: is,
      }),
    );
  } else {
    console.log(`${all} events${options.code ? ", with code" : ", without code"}`);
    for (const { what, value, unit, target } of rows) {
      const wanted = target === undefined
        ? ""
        : value < target
        ? `  (under ${target})`
        : `  OVER ${target}`;
      console.log(`  ${what.padEnd(36)} ${value.toFixed(1).padStart(8)} ${unit}${wanted}`);
    }
    console.log(conditionsText(is));
  }
} finally {
  await browser.close();
  await site.close();
}
