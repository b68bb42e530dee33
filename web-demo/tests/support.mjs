// The built page on a loopback server, a browser, and tabs that write down everything that must not happen: errors on the console, breaches
// of the policy, requests.
import assert from "node:assert/strict";
import { connectChromium, killBrowser, launchChromium, spawnChromium } from "../../tools/lib/chromium.mjs";
import { removeFolder } from "../../tools/lib/folders.mjs";
import { buildDemo, serveDemo } from "../../tools/demo.mjs";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import process from "node:process";
import { join } from "node:path";

let built;

/** Builds the page once per process, unless the suite has done so, and serves it. */
export async function site(options = {}) {
  built ??= process.env.DEMO_IS_BUILT === "1" ? Promise.resolve() : buildDemo();
  await built;
  // Not at the root: the page must not know where it lies.
  return await serveDemo({ path: "/some/where/", ...options });
}

/** A browser, or undefined: then the test has been skipped, and says why. */
export async function browser(t) {
  const launched = await launchChromium();
  if (launched.browser === undefined) t.skip(`no browser: ${launched.reason}`);
  return launched.browser;
}

/**
 * The shop's charges take as long as a test wants, so that it is in the middle of one for as long as it needs, on any machine. What ends them
 * is answered.
 */
export async function holdCharges(context) {
  let end;
  const ended = new Promise((resolve) => (end = resolve));
  await context.exposeFunction("chargesEnd", () => ended);
  await context.addInitScript((chargeMs) => {
    const { setTimeout } = globalThis;
    const hold = (run) => void globalThis.chargesEnd().then(run);
    globalThis.setTimeout = (run, ms, ...more) => ms === chargeMs ? hold(run) : setTimeout(run, ms, ...more);
  }, CHARGE_MS);
  return end;
}

/** As long as a charge takes. */
const CHARGE_MS = Number(
  /CHARGE_MS = (\d+)/.exec(readFileSync(new URL("../src/shop/activities.ts", import.meta.url), "utf8"))[1],
);

/** What a tab did that a test may want to deny. */
export class Watched {
  page;
  errors = [];
  breaches = [];
  requests = [];

  static async open(context, url) {
    const watched = new Watched();
    const page = watched.page = await context.newPage();
    page.on("console", (message) => message.type() === "error" && watched.errors.push(message.text()));
    page.on("pageerror", (error) => watched.errors.push(error.message));
    page.on("request", (request) => watched.requests.push(request.url()));
    await page.exposeFunction("tellBreach", (text) => void watched.breaches.push(text));
    await page.addInitScript(() => {
      document.addEventListener("securitypolicyviolation", (e) => {
        globalThis.tellBreach(`${e.effectiveDirective}: ${e.blockedURI} ${e.sourceFile ?? ""}`);
      });
    });
    await page.goto(url);
    return watched;
  }

  /** No error on the console, no breach of the policy, nothing asked of another origin. */
  clean(url) {
    assert.deepEqual(this.errors, []);
    assert.deepEqual(this.breaches, []);
    const { origin } = new URL(url);
    assert.deepEqual(this.requests.filter((asked) => !asked.startsWith("blob:") && new URL(asked).origin !== origin), []);
  }
}

export const text = (page, selector) => page.locator(selector).innerText();

/** Drops a file on the page, as a hand would. */
export async function drop(page, name, content) {
  const base64 = Buffer.from(content).toString("base64");
  const transfer = await page.evaluateHandle(({ name, base64 }) => {
    const data = new DataTransfer();
    data.items.add(new File([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))], name));
    return data;
  }, { name, base64 });
  await page.dispatchEvent("#main", "dragover", { dataTransfer: transfer });
  await page.dispatchEvent("#main", "drop", { dataTransfer: transfer });
}

/** A profile on disk and the browsers that use it, one after the other, each a process that can be killed. */
export class Profile {
  folder = mkdtempSync(join(tmpdir(), "temporalex-demo-"));
  #process;
  #browser;

  /** Starts a browser; answers why not when there is none. */
  async start() {
    const started = await spawnChromium(this.folder);
    if (started.process === undefined) return started.reason ?? "no browser";
    this.#process = started.process;
    this.#browser = await connectChromium(started);
    return undefined;
  }

  get context() {
    return this.#browser.contexts()[0];
  }

  /** SIGKILL, as the system does when memory runs out. */
  async kill() {
    const child = this.#process;
    if (child === undefined) return;
    this.#process = undefined;
    await killBrowser(child);
    await this.#browser.close().catch(() => {});
  }

  async remove() {
    await this.kill();
    await removeFolder(this.folder);
  }
}

/** The commonest mistakes of a page, checked by hand: controls without a name, ids that stand for two things, labels that point nowhere. */
export async function checkBasics(page) {
  const found = await page.evaluate(() => {
    const problems = [];
    const shown = (e) => e.checkVisibility({ visibilityProperty: true });
    const name = (e) =>
      e.getAttribute("aria-label") ??
        (e.getAttribute("aria-labelledby")?.split(" ").map((id) => document.getElementById(id)?.textContent ?? "").join(" ") ||
          undefined) ??
        (e.labels?.length > 0 ? [...e.labels].map((l) => l.textContent).join(" ") : undefined) ?? e.textContent ?? "";
    for (const e of document.querySelectorAll("button, a[href], input, select, textarea, [role=listbox], [tabindex='0']")) {
      if (!shown(e) || e.getAttribute("aria-hidden") === "true") continue;
      const isText = e.matches("pre, ol");
      if (!isText && name(e).trim() === "") problems.push(`no name: ${e.outerHTML.slice(0, 120)}`);
    }
    const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
    for (const id of new Set(ids.filter((id, i) => ids.indexOf(id) !== i))) problems.push(`two elements have the id ${id}`);
    for (const attribute of ["aria-labelledby", "aria-activedescendant", "aria-describedby", "for"]) {
      for (const e of document.querySelectorAll(`[${attribute}]`)) {
        if (!shown(e)) continue;
        for (const id of e.getAttribute(attribute).split(" ")) {
          if (document.getElementById(id) === null) problems.push(`${attribute} names ${id}, which is not there`);
        }
      }
    }
    for (const e of document.querySelectorAll("[tabindex]")) {
      if (e.tabIndex > 0) problems.push(`tabindex ${e.tabIndex} on ${e.id}`);
    }
    const levels = [...document.querySelectorAll("h1, h2, h3, h4")].filter(shown).map((e) => Number(e.tagName[1]));
    if (levels.filter((l) => l === 1).length !== 1) problems.push("there is not one h1");
    levels.forEach((level, i) =>
      i > 0 && level > levels[i - 1] + 1 && problems.push(`h${levels[i - 1]} is followed by h${level}`)
    );
    if (document.documentElement.lang === "") problems.push("the page has no language");
    for (const landmark of ["header", "nav", "main", "footer"]) {
      if (document.querySelectorAll(`body > ${landmark}, body > header > ${landmark}`).length !== 1) {
        problems.push(`not one ${landmark}`);
      }
    }
    if (document.documentElement.scrollWidth > innerWidth) {
      problems.push(`the page is ${document.documentElement.scrollWidth} wide`);
    }
    return problems;
  });
  assert.deepEqual(found, []);
}

/** Contrast of the texts in sight against what is behind them: the least of each pair of colours below 4.5 (3 for large ones). */
export async function checkContrast(page) {
  const low = await page.evaluate(() => {
    const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
    const rgba = (colour) => {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = colour;
      canvas.fillRect(0, 0, 1, 1);
      return [...canvas.getImageData(0, 0, 1, 1).data];
    };
    const light = ([r, g, b]) => {
      const [x, y, z] = [r, g, b].map((c) => c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4);
      return 0.2126 * x + 0.7152 * y + 0.0722 * z;
    };
    const behind = (e) => {
      for (let at = e; at !== null; at = at.parentElement) {
        const colour = rgba(getComputedStyle(at).backgroundColor);
        if (colour[3] === 255) return colour;
      }
      return [255, 255, 255, 255];
    };
    const found = new Set();
    for (const e of document.querySelectorAll("body *")) {
      const own = [...e.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim() !== "");
      if (!own || !e.checkVisibility() || e.closest(".hidden, :disabled, [aria-disabled=true]") !== null) continue;
      const style = getComputedStyle(e);
      const [a, b] = [light(rgba(style.color)), light(behind(e))].sort((x, y) => y - x);
      const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.6 && Number(style.fontWeight) >= 700);
      const ratio = (a + 0.05) / (b + 0.05);
      if (ratio < (large ? 3 : 4.5)) found.add(`${e.tagName.toLowerCase()}.${e.className}: ${ratio.toFixed(2)}`);
    }
    return [...found];
  });
  assert.deepEqual(low, []);
}
