// A link that contains a history: made on request, after the page has shown its length, and opened
// by the linked page.
import { deflateRawSync } from "node:zlib";
import { expect, sample, test } from "./support/story.ts";

test("a link contains the history, by default without values; its length is shown, and another browser opens it", async ({ app, browser, watch }) => {
  const { page } = app;
  await app.sample("shopping_cart");
  await page.locator("#share").click();
  await page.locator("#link-redacted").click();
  await expect(page.locator("#link-said")).toHaveText(
    /^The link \([\d,]+ characters\) contains the whole history without its values\.$/,
  );
  const redacted = await page.locator("#link").inputValue();
  const length = Number(
    /\(([\d,]+) characters\)/.exec(await page.locator("#link-said").innerText())![1]!.replaceAll(
      ",",
      "",
    ),
  );
  expect(redacted.length).toBe(length);
  expect(redacted).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/some\/where\/#zip=[\w-]+&e=1$/);
  await page.locator("#link-as-is").click();
  await expect(page.locator("#link-said")).toContainText(
    "with all values. Anyone with the link can read them.",
  );
  const whole = await page.locator("#link").inputValue();
  // The history was not sent: the page requests only its own files.
  expect(watch.requests.filter((asked) => asked.includes("zip") || asked.length > 500)).toEqual([]);
  const opened = async (link: string) => {
    const context = await browser.newContext();
    const other = await context.newPage();
    await other.goto(link);
    await expect(other.locator("h1")).toHaveText("ShoppingCart");
    await expect(other.locator("#verdict")).toHaveText(/Replays/);
    await expect(other).toHaveURL(/#\/open\?run=[0-9a-f]{16}&e=/);
    await other.locator("#go-end").click();
    const text = await other.locator(".of-events").innerText();
    await context.close();
    return text;
  };
  expect(await opened(whole)).toContain("BOOK-1");
  expect(await opened(redacted)).not.toContain("BOOK-1");
});

test("truncated, changed, oversized and foreign links are rejected with a message", async ({ app }) => {
  const { page } = app;
  const link = (bytes: Uint8Array) => `#zip=${Buffer.from(bytes).toString("base64url")}`;
  const whole = link(deflateRawSync(sample("counter")));
  const notice = page.locator(".notice").last();
  const tell = async (hash: string, wanted: RegExp) => {
    await page.goto("about:blank");
    await app.start(hash);
    await expect(notice).toContainText(wanted);
  };
  await tell(
    whole.slice(0, whole.length / 2),
    /the link is incomplete; some programs cut long links/,
  );
  await tell(`${whole}%20and more`, /the link contains invalid characters/);
  await tell(
    link(deflateRawSync(new Uint8Array(80 * 1024 * 1024))),
    /larger than the limit of 64 MiB/,
  );
  await tell(link(deflateRawSync("a letter")), /cannot be opened/);
  await page.goto("about:blank");
  await app.start(whole);
  await expect(page.locator("h1")).toHaveText("Counter");
});
