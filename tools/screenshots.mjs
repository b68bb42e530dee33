#!/usr/bin/env node
// `npm run screenshots`: pictures of the debugger's page in the states that its stories are about,
// and those that README and docs show.
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import process from "node:process";
import { launchChromium } from "./lib/chromium.mjs";
import { readCommandLine } from "./lib/command_line.mjs";
import { leaveWithParent } from "./lib/leave.mjs";
import { root } from "./lib/steps.mjs";
import { buildDemo, serveDemo } from "./demo.mjs";

const HELP =
  `usage: npm run screenshots [-- --only=NAME] [--out=FOLDER] [--widths=1440,320] [--built]

Builds the debugger's page and writes a picture of each of its states to FOLDER (default .build/screenshots), light and dark, and the
pictures of README and docs, which are 1440 pixels wide, to docs/pictures.
--only=NAME   write only pictures whose name contains NAME
--out=FOLDER  write the pictures to this folder
--widths=LIST widths of the pages in pixels (default 1440,320)
--built       do not build the page again`;

const { values } = readCommandLine(HELP, {
  only: { type: "string" },
  out: { type: "string" },
  widths: { type: "string" },
  built: { type: "boolean" },
});
leaveWithParent();

const asked = values.widths ?? "1440,320";
const widths = asked.split(",").map(Number);
if (!widths.every((width) => Number.isInteger(width) && width >= 200 && width <= 4000)) {
  console.error(`--widths needs whole numbers from 200 to 4000, got ${asked}`);
  process.exit(2);
}
const SIZES = widths.map((width) => ({ width, height: width < 600 ? 720 : 900 }));
/** From this width on, the list is not in a tab. */
const WIDE = 1000;
/** Of a picture in the documentation, 0 to 100: letters keep their edges. */
const QUALITY = 82;

const replayed = async (page) => {
  await page.locator("#verdict", { hasText: /Replays|Diverges|No code/ }).waitFor();
  // The lines are drawn in a later frame than the verdict.
  await page.waitForTimeout(500);
};

const sample = (id, event) => `#/open?run=sample:${id}${event === undefined ? "" : `&e=${event}`}`;

/** A charge that was declined, compared with the run in which it was not. */
async function decline(page) {
  await page.locator("[role=row]", { hasText: /^charge/ }).click();
  await page.locator("#change-this").click();
  await page.locator('.change-form [name="text"]').fill("card declined");
  await page.locator("#run-branch").click();
  await page.locator("#end-of-b", { hasText: "card declined" }).waitFor();
}

/**
 * `wideOnly`: its steps need the list, which a narrow screen has in a tab. `picture`: it is in the
 * documentation, light.
 */
const STATES = [
  { name: "first", hash: "" },
  { name: "open", hash: sample("shopping_cart", 19), act: replayed, picture: true },
  { name: "fibers", hash: sample("inventory", 21), act: replayed },
  { name: "diverged", hash: sample("shopping_cart_diverged"), act: replayed, picture: true },
  {
    name: "what-if",
    hash: sample("shopping_cart", 26),
    wideOnly: true,
    picture: true,
    act: async (page) => {
      await replayed(page);
      await decline(page);
    },
  },
  {
    name: "compare",
    hash: `${sample("shopping_cart", 3)}&a=sample:shopping_cart&b=sample:shopping_cart_diverged`,
    act: async (page) => {
      await page.locator("#first-difference").waitFor();
      await page.locator("#end-state-a", { hasText: ":" }).waitFor();
      await page.waitForTimeout(500);
    },
  },
  {
    name: "no-code",
    hash: sample("batch_process"),
    act: async (page) => {
      await replayed(page);
      const { readFileSync } = await import("node:fs");
      const text = readFileSync(join(root, "web-demo/samples/batch_process.json"), "utf8")
        .replaceAll(
          '"BatchProcess"',
          '"Settlement"',
        );
      await page.locator("input[type=file]:not([webkitdirectory])").first()
        .setInputFiles({
          name: "settlement.json",
          mimeType: "application/json",
          buffer: Buffer.from(text),
        });
      await page.locator("h1", { hasText: "Settlement" }).waitFor();
      await replayed(page);
    },
  },
  { name: "runs", hash: "#/runs" },
  {
    name: "keys",
    hash: sample("shopping_cart", 19),
    act: async (page) => (await replayed(page), await page.keyboard.press("?")),
  },
];

if (!values.built) await buildDemo();
const launched = await launchChromium();
if (!launched.browser) {
  console.error(`no browser: ${launched.reason}`);
  process.exit(1);
}
const out = resolve(values.out ?? join(root, ".build/screenshots"));
const pictures = join(root, "docs/pictures");
for (const folder of [out, pictures]) mkdirSync(folder, { recursive: true });
const site = await serveDemo();
try {
  for (const { name, hash, act, wideOnly = false, picture = false } of STATES) {
    if (!name.includes(values.only ?? "")) continue;
    for (const viewport of SIZES.filter(({ width }) => !wideOnly || width >= WIDE)) {
      for (const colorScheme of ["light", "dark"]) {
        const context = await launched.browser.newContext({
          viewport,
          colorScheme,
          reducedMotion: "reduce",
          serviceWorkers: "block",
          timezoneId: "UTC",
          locale: "en-GB",
        });
        const page = await context.newPage();
        await page.goto(`${site.url}${hash}`);
        await page.locator("#main").waitFor();
        await (act ?? (() => page.waitForTimeout(1500)))(page);
        const file = join(out, `${name}-${viewport.width}-${colorScheme}.png`);
        await page.screenshot({ path: file });
        console.log(file);
        if (picture && viewport.width === 1440 && colorScheme === "light") {
          const session = await context.newCDPSession(page);
          const { data } = await session.send("Page.captureScreenshot", {
            format: "webp",
            quality: QUALITY,
          });
          const bytes = Buffer.from(data, "base64");
          writeFileSync(join(pictures, `${name}.webp`), bytes);
          console.log(`docs/pictures/${name}.webp: ${Math.round(bytes.length / 1024)} KiB`);
        }
        await context.close();
      }
    }
  }
} finally {
  await launched.browser.close();
  await site.close();
}
process.exit(0);
