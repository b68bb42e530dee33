// The shop part of the page, in a real browser: a cart that goes on over reloads, killed tabs and killed browsers, in one tab and in two.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { dist } from "../../tools/demo.mjs";
import { browser, checkBasics, checkContrast, holdCharges, Profile, site, text, Watched } from "./support.mjs";

let served;
before(async () => (served = await site()));
after(() => served.close());

const inShop = (name, body) =>
  test(name, { timeout: 300_000 }, async (t) => {
    const launched = await browser(t);
    if (launched === undefined) return;
    try {
      await body(await launched.newContext());
    } finally {
      await launched.close();
    }
  });

/** A tab with the shop open; the first one of a context is asked before anything is kept. */
async function shop(context) {
  const tab = await Watched.open(context, served.url);
  await tab.page.waitForSelector("#shop[data-ready]");
  const ask = tab.page.locator("#open-shop");
  if (await ask.count() > 0) await ask.click();
  await ready(tab.page);
  return tab;
}

const ready = (page) => page.waitForSelector("#shop[data-open]");
const role = (page, wanted) => page.waitForSelector(`#shop[data-role=${wanted}]`);
const add = async (page, sku) => {
  await page.click(`[data-add=${sku}]`);
  await page.waitForSelector(`[data-remove=${sku}]`);
};
const items = (page) => page.locator("#items [data-remove]").evaluateAll((all) => all.map((e) => e.dataset.remove));
const published = async (page) => JSON.parse(await text(page, "#run pre"));
const phase = (page, wanted) =>
  page.waitForFunction((p) => document.querySelector("#run pre")?.textContent.includes(`"${p}"`), wanted);

inShop("nothing is kept or loaded before it is asked for, and the first load is within its budget", async (context) => {
  const loaded = new Set();
  const tab = new Watched();
  const page = tab.page = await context.newPage();
  page.on("response", (response) => loaded.add(response.url().slice(served.url.length) || "index.html"));
  // worker.wasm is loaded with the page; the engine is not.
  const core = page.waitForResponse(/worker-.*\.wasm$/);
  await page.goto(served.url);
  await page.waitForSelector("#shop[data-ready]");
  await core;
  await page.waitForLoadState("networkidle");
  assert.ok(![...loaded].some((file) => /sqlite|engine/.test(file)), [...loaded].join(" "));
  const kib = [...loaded].reduce((sum, file) => sum + gzipSync(readFileSync(join(dist, file)), { level: 9 }).length, 0) / 1024;
  assert.ok(kib > 100, `${kib} KiB`);
  assert.ok(kib < 150, `${kib} KiB`);
  const kept = await page.evaluate(async () => {
    const names = [];
    for await (const [name] of (await navigator.storage.getDirectory()).entries()) names.push(name);
    return [...names, ...Object.keys(localStorage), ...(await indexedDB.databases()).map(({ name }) => name)];
  });
  assert.deepEqual(kept, []);
  await checkBasics(page);
});

inShop(
  "a cart to its end: items, a refused one, published state, the charge, the word, the result, the debugger",
  async (context) => {
    const endCharges = await holdCharges(context);
    const tab = await shop(context);
    const { page } = tab;
    await role(page, "leader");
    assert.match(await text(page, "#role"), /this tab leads/);
    await add(page, "LAMP-3");
    await add(page, "MUG-7");
    tab.requests.length = 0;
    await page.click('[data-add="no sku"]');
    await page.waitForSelector("#shop-error:not([hidden])");
    assert.match(await text(page, "#shop-error"), /"no sku" is not a SKU/);
    await page.click("[data-remove=MUG-7]");
    await page.waitForSelector("[data-remove=MUG-7]", { state: "detached" });
    assert.equal(await page.locator("#shop-error").isHidden(), true, "an error goes with the next success");
    await page.waitForFunction(() => /"itemCount": 1/.test(document.querySelector("#run pre").textContent));
    assert.deepEqual(await published(page), { phase: "open", itemCount: 1 });
    await checkBasics(page);
    await checkContrast(page);
    await page.click("#checkout");
    await page.waitForSelector("#charging");
    assert.ok(await page.locator("[data-add=LAMP-3]").isDisabled(), "what the workflow would refuse is not offered");
    endCharges();
    await page.click("#confirm");
    await page.waitForSelector("#result");
    assert.match(await text(page, "#result"), /Bought for €42\.00/);
    await phase(page, "done");
    assert.deepEqual(await published(page), { phase: "done", totalCents: 4200 });
    await page.emulateMedia({ colorScheme: "dark" });
    await checkContrast(page);
    assert.deepEqual(tab.requests, [], "no request while it is used");

    await page.click("#debug");
    await page.waitForSelector("#session-title");
    assert.match(await text(page, "#session-title"), /^ShoppingCart\s+replays$/);
    await page.keyboard.press("End");
    assert.match(await text(page, "#outcome"), /"totalCents": 4200/);
    await page.click("#nav-shop");
    await page.click("#again");
    await phase(page, "open");
    await add(page, "PEN-2");
    await page.click("#checkout");
    await page.click("#cancel");
    await page.waitForSelector("#result");
    assert.match(await text(page, "#result"), /Cancelled/);
    tab.clean(served.url);
  },
);

inShop("it goes on after a reload, in every phase", async (context) => {
  const endCharges = await holdCharges(context);
  const tab = await shop(context);
  const { page } = tab;
  const reload = async () => {
    await Promise.all([page.waitForEvent("load"), page.click("#reload")]);
    await ready(page);
  };
  await add(page, "LAMP-3");
  await reload();
  await page.waitForSelector("[data-remove=LAMP-3]");
  await add(page, "BOOK-1");
  assert.deepEqual(await items(page), ["LAMP-3", "BOOK-1"]);
  await page.click("#checkout");
  await page.waitForSelector("#charging");
  await page.reload();
  await page.waitForSelector("#charging");
  endCharges();
  await page.waitForSelector("#confirm");
  assert.deepEqual(await published(page), { phase: "confirming", totalCents: 6100 });
  await page.reload();
  await page.click("#confirm");
  await page.waitForSelector("#result");
  await page.reload();
  await page.waitForSelector("#result");
  assert.match(await text(page, "#result"), /Bought for €61\.00/);
  tab.clean(served.url);
});

inShop(
  "two tabs: one leads, both see the same cart, and when the leader's tab is killed the other goes on in the middle of the charge",
  async (context) => {
    const endCharges = await holdCharges(context);
    const first = await shop(context);
    await role(first.page, "leader");
    const second = await shop(context);
    await role(second.page, "follower");
    assert.match(await text(second.page, "#role"), /another tab leads/);
    await add(second.page, "LAMP-3");
    await first.page.waitForSelector("[data-remove=LAMP-3]");
    await add(first.page, "PEN-2");
    await second.page.waitForSelector("[data-remove=PEN-2]");
    await second.page.click("#checkout");
    await first.page.waitForSelector("#charging");
    // The renderer of the leading tab dies, as when memory runs out.
    const crashed = new Promise((resolve) => first.page.once("crash", resolve));
    const session = await context.newCDPSession(first.page);
    session.send("Page.crash").catch(() => {});
    await crashed;
    await role(second.page, "leader");
    endCharges();
    await second.page.click("#confirm");
    await second.page.waitForSelector("#result");
    assert.match(await text(second.page, "#result"), /Bought for €69\.50/);
    // Nothing came twice: the history is one run's, and it replays.
    await second.page.click("#debug");
    await second.page.waitForSelector("#session-title");
    assert.match(await text(second.page, "#session-title"), /replays/);
    second.clean(served.url);
  },
);

test("a browser that is killed loses nothing: the cart is there in the next one", { timeout: 300_000 }, async (t) => {
  const profile = new Profile();
  try {
    const reason = await profile.start();
    if (reason !== undefined) return t.skip(`no browser: ${reason}`);
    await holdCharges(profile.context);
    const before = await shop(profile.context);
    await add(before.page, "LAMP-3");
    await add(before.page, "MUG-7");
    await before.page.click("#checkout");
    await before.page.waitForSelector("#charging");
    await profile.kill();
    assert.equal(await profile.start(), undefined, "the next browser starts");
    const tab = await Watched.open(profile.context, served.url);
    await tab.page.click("#confirm");
    await tab.page.waitForSelector("#result");
    assert.match(await text(tab.page, "#result"), /Bought for €54\.00/);
    tab.clean(served.url);
  } finally {
    await profile.remove();
  }
});

inShop("the store goes out as a file and comes in again, elsewhere; garbage does not", async (context) => {
  const tab = await shop(context);
  const { page } = tab;
  await add(page, "BULB-1");
  const downloading = page.waitForEvent("download");
  await page.click("#export");
  const file = readFileSync(await (await downloading).path());
  assert.equal(file.subarray(0, 15).toString(), "SQLite format 3");

  await page.setInputFiles("#import-file", {
    name: "noise.sqlite",
    mimeType: "application/octet-stream",
    buffer: Buffer.alloc(4096, 7),
  });
  await page.waitForFunction(() => document.querySelector("#replace") !== null || !document.querySelector("#shop-error").hidden);
  if (await page.locator("#replace").count() > 0) await page.click("#replace");
  await page.waitForSelector("#shop-error:not([hidden])");
  assert.match(await text(page, "#shop-error"), /NotAStoreError/);
  assert.deepEqual(await items(page), ["BULB-1"], "what was there is there");

  // Another visitor: nothing there, so nothing is asked.
  const elsewhere = await context.browser().newContext();
  const other = await shop(elsewhere);
  await add(other.page, "MUG-7");
  await other.page.setInputFiles("#import-file", { name: "shop.sqlite", mimeType: "application/x-sqlite3", buffer: file });
  await other.page.click("#replace");
  await other.page.waitForSelector("[data-remove=BULB-1]");
  assert.deepEqual(await items(other.page), ["BULB-1"]);
  await add(other.page, "PEN-2");
  assert.deepEqual(await items(other.page), ["BULB-1", "PEN-2"]);
  tab.clean(served.url);
  other.clean(served.url);
});

inShop("where the browser keeps no files the page says so", async (context) => {
  const tab = new Watched();
  const page = tab.page = await context.newPage();
  await page.addInitScript(() => {
    const refuse = () => Promise.reject(new DOMException("no files here", "SecurityError"));
    if (typeof StorageManager !== "undefined") StorageManager.prototype.getDirectory = refuse;
    Object.defineProperty(globalThis, "isSecureContext", { value: false });
  });
  await page.goto(served.url);
  await page.click("#open-shop");
  await page.waitForSelector("#shop-error:not([hidden])");
  assert.match(await text(page, "#shop-error"), /The shop cannot be opened. StoreUnavailableError: .*secure/);
  assert.equal(await text(page, "#open-shop"), "Try again");
  // The other part does not need any.
  await page.click("#nav-debugger");
  await page.waitForSelector("#debugger[data-ready]");
});
