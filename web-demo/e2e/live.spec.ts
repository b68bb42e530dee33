// The room "Live": a cart that continues after reloads, killed tabs and killed browsers, in one tab
// and in two.
import { readFileSync } from "node:fs";
import { holdCharges, Profile, Shop } from "./support/shop.ts";
import { expect, test, Watch } from "./support/story.ts";

test("a cart runs to its end: items, a rejected item, published state, charge, confirmation, result, debugger", async ({ context, site, watch }) => {
  await watch.follow(context);
  const endCharges = await holdCharges(context);
  const shop = await Shop.open(context, site.url);
  const { page } = shop;
  await shop.role("leader");
  await expect(page.locator("#role")).toHaveText(/this tab leads/);
  await shop.add("LAMP-3");
  await shop.add("MUG-7");
  // The workflow has published both items: everything that it needs is loaded.
  await shop.published({ phase: "open", itemCount: 2 });
  watch.requests.length = 0;
  await page.locator('[data-add="no sku"]').click();
  await expect(page.locator("#shop-error")).toHaveText(/"no sku" is not a SKU/);
  await page.locator("[data-remove=MUG-7]").click();
  await expect(page.locator("[data-remove=MUG-7]")).toHaveCount(0);
  await expect(page.locator("#shop-error"), "an error goes with the next success").toBeHidden();
  await shop.published({ phase: "open", itemCount: 1 });
  await page.locator("#checkout").click();
  await page.locator("#charging").waitFor();
  await expect(page.locator("[data-add=LAMP-3]"), "what the workflow would refuse is not offered")
    .toBeDisabled();
  endCharges();
  await page.locator("#confirm").click();
  await expect(page.locator("#result")).toHaveText(/Bought for €42\.00/);
  await shop.published({ phase: "done", totalCents: 4200 });
  expect(watch.requests, "no request while it is used").toEqual([]);

  await page.locator("#debug").click();
  await expect(page.locator("h1.run-name")).toHaveText("ShoppingCart");
  await expect(page.locator("#verdict")).toHaveText(/Replays/);
  await page.locator("#room-live").click();
  await page.locator("#again").click();
  await shop.published({ phase: "open", itemCount: 0 });
  await shop.add("PEN-2");
  await page.locator("#checkout").click();
  await page.locator("#cancel").click();
  await expect(page.locator("#result")).toHaveText(/Canceled/);
});

test("a cart continues after a reload in every phase", async ({ context, site, watch }) => {
  await watch.follow(context);
  const endCharges = await holdCharges(context);
  const shop = await Shop.open(context, site.url);
  const { page } = shop;
  const reload = async () => {
    await Promise.all([page.waitForEvent("load"), page.locator("#reload").click()]);
    await shop.ready();
  };
  await shop.add("LAMP-3");
  await reload();
  await page.locator("[data-remove=LAMP-3]").waitFor();
  await shop.add("BOOK-1");
  await shop.has(["LAMP-3", "BOOK-1"]);
  await page.locator("#checkout").click();
  await page.locator("#charging").waitFor();
  await page.reload();
  await page.locator("#charging").waitFor();
  endCharges();
  await page.locator("#confirm").waitFor();
  await shop.published({ phase: "confirming", totalCents: 6100 });
  await page.reload();
  await page.locator("#confirm").click();
  await page.locator("#result").waitFor();
  await page.reload();
  await expect(page.locator("#result")).toHaveText(/Bought for €61\.00/);
});

test("two tabs show the same cart; when the leading tab is killed, the other tab continues during the charge", async ({ context, site, watch }) => {
  await watch.follow(context);
  const endCharges = await holdCharges(context);
  const first = await Shop.open(context, site.url);
  await first.role("leader");
  const second = await Shop.open(context, site.url);
  await second.role("follower");
  await expect(second.page.locator("#role")).toHaveText(/another tab leads/);
  await second.add("LAMP-3");
  await first.page.locator("[data-remove=LAMP-3]").waitFor();
  await first.add("PEN-2");
  await second.page.locator("[data-remove=PEN-2]").waitFor();
  await second.page.locator("#checkout").click();
  await first.page.locator("#charging").waitFor();
  // The renderer of the leading tab crashes, as it does when memory runs out.
  const crashed = first.page.waitForEvent("crash");
  const session = await context.newCDPSession(first.page);
  session.send("Page.crash").catch(() => {});
  await crashed;
  await second.role("leader");
  endCharges();
  await second.page.locator("#confirm").click();
  await expect(second.page.locator("#result")).toHaveText(/Bought for €69\.50/);
  // No event was recorded twice: the history is of one run, and it replays.
  await second.page.locator("#debug").click();
  await expect(second.page.locator("#verdict")).toHaveText(/Replays/);
});

test("a killed browser loses no data: the next one shows the cart", async ({ site }) => {
  const profile = new Profile();
  try {
    await profile.start();
    await holdCharges(profile.context);
    const before = await Shop.open(profile.context, site.url);
    await before.add("LAMP-3");
    await before.add("MUG-7");
    await before.page.locator("#checkout").click();
    await before.page.locator("#charging").waitFor();
    await profile.kill();
    await profile.start();
    const watch = new Watch(new URL(site.url).origin);
    await watch.follow(profile.context);
    const after = await Shop.open(profile.context, site.url);
    await after.page.locator("#confirm").click();
    await expect(after.page.locator("#result")).toHaveText(/Bought for €54\.00/);
    watch.clean();
  } finally {
    await profile.remove();
  }
});

test("the store can be exported as a file and imported elsewhere; invalid files are rejected", async ({ browser, context, site, watch }) => {
  await watch.follow(context);
  const shop = await Shop.open(context, site.url);
  const { page } = shop;
  await shop.add("BULB-1");
  const downloading = page.waitForEvent("download");
  await page.locator("#export").click();
  const file = readFileSync(await (await downloading).path());
  expect(file.subarray(0, 15).toString()).toBe("SQLite format 3");

  await page.locator("#import-file").setInputFiles({
    name: "noise.sqlite",
    mimeType: "application/octet-stream",
    buffer: Buffer.alloc(4096, 7),
  });
  await page.locator("#replace, #shop-error:not([hidden])").first().waitFor();
  if (await page.locator("#replace").count() > 0) await page.locator("#replace").click();
  await expect(page.locator("#shop-error")).toHaveText(/NotAStoreError/);
  await shop.has(["BULB-1"]);

  // Another visitor: the import replaces their store after they confirm it.
  const elsewhere = await browser.newContext();
  const other = await Shop.open(elsewhere, site.url);
  await other.add("MUG-7");
  await other.page.locator("#import-file").setInputFiles({
    name: "shop.sqlite",
    mimeType: "application/x-sqlite3",
    buffer: file,
  });
  await other.page.locator("#replace").click();
  await other.page.locator("[data-remove=BULB-1]").waitFor();
  await other.has(["BULB-1"]);
  await other.add("PEN-2");
  await other.has(["BULB-1", "PEN-2"]);
  await elsewhere.close();
});

test("without storage the page reports it, and the other rooms work", async ({ page, site }) => {
  await page.addInitScript(() => {
    const refuse = () => Promise.reject(new DOMException("no files here", "SecurityError"));
    if (typeof StorageManager !== "undefined") StorageManager.prototype.getDirectory = refuse;
    Object.defineProperty(globalThis, "isSecureContext", { value: false });
  });
  await page.goto(`${site.url}#/live`);
  await page.locator("#open-shop").click();
  await expect(page.locator("#shop-error")).toHaveText(
    /The shop cannot be opened. StoreUnavailableError: .*secure/,
  );
  await expect(page.locator("#open-shop")).toHaveText("Try again");
  await page.locator("#room-open").click();
  await expect(page.locator("#position")).toHaveText(/^Event \d+ of 41/);
});
