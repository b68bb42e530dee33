// Ways to open histories: drop, file dialog, paste, address, several at once. A file that is not a
// history is rejected with advice.
import { readFileSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { eventsOf, expect, sample, test } from "./support/story.ts";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const runName = "h1.run-name";

test("a dropped history opens and is replayed; JSON, gzip and protobuf show the same run", async ({ app }) => {
  await app.start();
  await app.drop([{ name: "cart.json", content: sample("shopping_cart") }]);
  await expect(app.page.locator(runName)).toHaveText("ShoppingCart");
  await app.replayed();
  await app.isAt(1);
  await app.drop([{ name: "cart.json.gz", content: gzipSync(sample("counter")) }]);
  await expect(app.page.locator(runName)).toHaveText("Counter");
  const { readHistoryFile } = await import(
    pathToFileURL(here("../../dist/ts/debug/mod.js")).href
  ) as {
    readHistoryFile(bytes: Uint8Array): Promise<{ readonly bytes: Uint8Array }>;
  };
  const { bytes } = await readHistoryFile(new TextEncoder().encode(sample("inventory")));
  await app.drop([{ name: "inventory.bin", content: bytes }]);
  await expect(app.page.locator(runName)).toHaveText("Inventory");
  await app.replayed();
});

test("a run that is opened in two ways at once is listed once and replayed", async ({ app }) => {
  const { page } = app;
  let asked = 0;
  let release = () => {};
  const held = new Promise<void>((resolve) => release = resolve);
  await page.route(/sample_histories/, async (route) => {
    asked++;
    await held;
    await route.continue();
  });
  // The first screen requests its sample; then the address requests the same run.
  await app.start();
  await page.evaluate(() => location.hash = "#/open?run=sample:shopping_cart&e=3");
  // Both requests are in flight.
  await expect.poll(() => asked).toBe(1);
  await page.waitForTimeout(500);
  release();
  await app.replayed("sample:shopping_cart");
  await app.isAt(3);
  await expect(page.locator("#opened-runs")).toHaveAttribute("aria-label", "Opened runs: 1");
});

test("several dropped files become a list of open runs that can be switched and closed", async ({ app }) => {
  const { page } = app;
  await app.start();
  const broken = { name: "broken.json", content: "{" };
  await app.drop([
    { name: "a.json", content: sample("counter") },
    broken,
    { name: "b.json", content: sample("inventory") },
    { name: "c.json", content: sample("onboarding") },
  ]);
  await expect(page.locator(".notice")).toHaveText(/broken\.json cannot be opened/);
  await expect(page.locator("#opened-runs")).toHaveAttribute("aria-label", "Opened runs: 3");
  await expect(page.locator(runName)).toHaveText("Counter");
  await page.locator("#opened-runs").click();
  await page.locator("#runs-menu").getByRole("button", { name: /^Inventory/ }).click();
  await expect(page.locator(runName)).toHaveText("Inventory");
  await page.locator("#opened-runs").click();
  await page.getByRole("button", { name: "Close b.json" }).click();
  await expect(page.locator("#opened-runs")).toHaveAttribute("aria-label", "Opened runs: 2");
  await expect(page.locator(runName)).toHaveText("Counter");
});

test("a file with several histories opens each of them", async ({ app }) => {
  await app.start();
  const list = [JSON.parse(sample("counter")), JSON.parse(sample("inventory"))];
  await app.drop([{ name: "all.json", content: JSON.stringify(list) }]);
  await expect(app.page.locator("#opened-runs")).toHaveAttribute("aria-label", "Opened runs: 2");
  await expect(app.page.locator(runName)).toHaveText("Counter");
});

test("a history opens from the file dialog, from a paste anywhere, and from a paste into the dialog", async ({ app }) => {
  const { page } = app;
  await app.start();
  await page.locator("input[type=file]").first().setInputFiles({
    name: "counter.json",
    mimeType: "application/json",
    buffer: Buffer.from(sample("counter")),
  });
  await expect(page.locator(runName)).toHaveText("Counter");
  await page.evaluate((text) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", text);
    document.body.dispatchEvent(
      new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }),
    );
  }, sample("onboarding"));
  await expect(page.locator(runName)).toHaveText("Onboarding");
  await page.locator("#opened-runs").click();
  await page.locator("#runs-menu").getByRole("button", { name: "Paste", exact: true }).click();
  await page.locator("#paste-text").fill(sample("inventory"));
  await page.getByRole("button", { name: "Open", exact: true }).click();
  await expect(page.locator(runName)).toHaveText("Inventory");
});

test("an address on the page's own origin opens a history; other origins get no request", async ({ app, site }) => {
  const { page } = app;
  await page.route(
    /\/some\/where\/given\.json$/,
    (route) => route.fulfill({ body: sample("counter"), contentType: "application/json" }),
  );
  await app.start(`#history=${encodeURIComponent(`${site.url}given.json`)}`);
  await expect(page.locator(runName)).toHaveText("Counter");
  await page.evaluate(() => (location.hash = "#history=https%3A%2F%2Fexample.invalid%2Fa.json"));
  await expect(page.locator(".notice")).toHaveText(
    /was not fetched: this page sends no requests to other origins.*temporalex debug FILE/,
  );
});

test("a file that is not a history is rejected with advice, and the next file opens", async ({ app }) => {
  const { page } = app;
  await app.start();
  const refused = async (name: string, content: string | Uint8Array, words: RegExp) => {
    await app.drop([{ name, content }]);
    await expect(page.locator(".notice").filter({ hasText: words })).toHaveText(/cannot be opened/);
    await page.getByRole("button", { name: "Close this message" }).click();
    await expect(page.locator(".notice")).toHaveCount(0);
  };
  await refused(
    "noise.bin",
    Buffer.from([0, 255, 3, 7, 9, 200, 1]),
    /noise\.bin.*neither JSON nor a protobuf history.*temporal workflow show/,
  );
  await refused("cut.json", sample("counter").slice(0, 900), /not valid JSON.*truncated/);
  await refused("empty.json", "", /the file is empty/);
  await refused("page.html", "<!doctype html><p>Sign in", /web page/);
  await refused(
    "<img src=x onerror=alert(1)>.json",
    '{"a":1}',
    /<img src=x onerror=alert\(1\)>\.json.*no "events"/,
  );
  const damaged = JSON.parse(sample("shopping_cart"));
  damaged.events.splice(0, 1);
  await refused(
    "tail.json",
    JSON.stringify(damaged),
    /starts with event 2.*the beginning is missing/,
  );
  // A value that looks like markup is shown as text.
  await app.drop([{
    name: "evil.json",
    content: sample("shopping_cart").replaceAll('"BOOK-1"', '"<b id=evil>x</b>"'),
  }]);
  await app.replayed();
  await page.locator("#go-end").click();
  await app.isAt(eventsOf("shopping_cart").length);
  await expect(page.locator("#evil")).toHaveCount(0);
});

test("a history with missing events opens up to the gap with a notice, also after a reload", async ({ app }) => {
  const { page } = app;
  const events = eventsOf("shopping_cart").filter(({ eventId }) =>
    Number(eventId) <= 12 || Number(eventId) > 15
  );
  await app.start();
  await app.drop([{ name: "cart.json", content: JSON.stringify({ events }) }]);
  const notice = page.locator(".notice");
  await expect(notice).toContainText(
    "cart.json is damaged: events[12] has the id 16, after 12: events are missing between them.",
  );
  await expect(notice).toContainText("Only the events before the gap are shown");
  await app.replayed();
  await expect(page.locator("#position")).toHaveText(/of 12$/);
  await page.reload();
  await expect(notice).toContainText("is damaged");
  await expect(page.locator("#position")).toHaveText(/of 12$/);
});

test("a history of a workflow without code opens", async ({ app }) => {
  await app.start();
  await app.drop([{
    name: "billing.json",
    content: sample("counter").replaceAll("Counter", "Billing"),
  }]);
  await expect(app.page.locator(runName)).toHaveText("Billing");
  await expect(app.page.locator("#verdict")).toHaveText("No code");
  await app.isAt(eventsOf("counter").length);
  await app.page.locator("#go-start").click();
  await app.isAt(1);
});

test("histories of other SDKs open: each fixture of the server's formats", async ({ app }) => {
  const folder = here("../../tests/unit/compat/histories");
  const { readdirSync } = await import("node:fs");
  const files = readdirSync(folder).filter((name) => name.endsWith(".json")).slice(0, 12);
  expect(files.length).toBeGreaterThan(5);
  await app.start();
  await app.drop(
    files.map((name) => ({ name, content: readFileSync(`${folder}/${name}`, "utf8") })),
  );
  await expect(app.page.locator("#opened-runs")).toHaveAttribute(
    "aria-label",
    `Opened runs: ${files.length}`,
  );
  await expect(app.page.locator(".notice")).toHaveCount(0);
});
