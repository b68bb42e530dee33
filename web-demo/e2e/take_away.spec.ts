// Share and Test: the saved files open and run as documented.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import type { Page } from "@playwright/test";
import { accessibleInBoth } from "./support/axe.ts";
import { expect, test } from "./support/story.ts";

test("a history is saved without its values; a divergence is saved as a test with its history", async ({ app }) => {
  const { page } = app;
  await app.sample("shopping_cart");
  await page.locator("#share").click();
  const saving = page.waitForEvent("download");
  await page.locator("#save-redacted").click();
  await expect(page.locator("#share-dialog [role=status]:not(#link-said)")).toContainText(
    /replays as before|takes another path/,
    {
      timeout: 60_000,
    },
  );
  if (await page.locator("#save-redacted").innerText() !== "Save without values") {
    await page.locator("#save-redacted").click();
  }
  const redacted = readFileSync(await (await saving).path(), "utf8");
  expect(redacted).toContain("eventType");
  expect(redacted).not.toContain(btoa('{"customer":"ada"}'));
  await page.keyboard.press("Escape");

  await app.sample("shopping_cart_diverged");
  await page.locator("#make-test").click();
  const names: string[] = [];
  page.on("download", (download) => names.push(download.suggestedFilename()));
  await page.locator("#save-test").click();
  await expect(page.locator("#test-dialog [role=status]")).toContainText(
    "The test fails until the code replays",
    {
      timeout: 60_000,
    },
  );
  await expect.poll(() => names.toSorted().map((name) => name.replace(/^.*?\./, ""))).toEqual([
    "history.json",
    "test.mjs",
  ]);
});

test("the timeline is saved as a self-contained drawing with names and times but no values", async ({ app }) => {
  const { page } = app;
  await app.sample("shopping_cart");
  await page.locator("#share").click();
  const saving = page.waitForEvent("download");
  await page.locator("#save-drawing").click();
  const saved = await saving;
  expect(saved.suggestedFilename()).toMatch(/\.svg$/);
  const text = readFileSync(await saved.path(), "utf8");
  for (const name of ["ShoppingCart", "add_item", "messages", "Completed"]) {
    expect(text).toContain(name);
  }
  expect(text).not.toMatch(/class=|<script|<style|href=|url\(|var\(/);
  expect(text).not.toContain("ada");
  // Parsed as an independent program would parse it.
  const drawn = await page.context().newPage();
  await drawn.goto("about:blank");
  const { width, colors } = await drawn.evaluate(async (svg) => {
    const image = new Image();
    image.src = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = image.naturalWidth;
    canvas.height = image.naturalHeight;
    const context = canvas.getContext("2d")!;
    context.drawImage(image, 0, 0);
    const pixels = new Uint32Array(
      context.getImageData(0, 0, canvas.width, canvas.height).data.buffer,
    );
    return { width: image.naturalWidth, colors: new Set(pixels).size };
  }, text);
  expect(width).toBe(1380);
  expect(colors).toBeGreaterThan(50);
});

const unfold = (file: Page, open: boolean) =>
  file.evaluate(
    (open) => document.querySelectorAll("details").forEach((one) => (one.open = open)),
    open,
  );

test("a report is one self-contained file, readable from disk, wide and narrow, dark and light, with and without values", async ({ app, browser }) => {
  const { page } = app;
  await app.sample("shopping_cart_diverged");
  await page.locator("#share").click();
  const saved = async (button: string) => {
    const saving = page.waitForEvent("download");
    await page.locator(button).click();
    const download = await saving;
    expect(download.suggestedFilename()).toMatch(/\.report\.html$/);
    const path = test.info().outputPath(`${button.slice(1)}.html`);
    await download.saveAs(path);
    return path;
  };
  const asIs = await saved("#report-as-is");
  const said = page.locator("#share-dialog [role=status]:not(#link-said)");
  await expect(said).toHaveText("Saved a report with all values.");
  const redacted = await saved("#report-redacted");
  await expect(said).toContainText("Saved a report.");

  const context = await browser.newContext();
  const seen: string[] = [];
  context.on("request", (request) => seen.push(request.url()));
  context.on("console", (message) => seen.push(message.text()));
  context.on("weberror", (error) => seen.push(error.error().message));
  const file = await context.newPage();
  try {
    for (const path of [asIs, redacted]) {
      const address = pathToFileURL(path).href;
      const text = readFileSync(path, "utf8");
      expect(text).toContain("default-src 'none'");
      expect(text).not.toMatch(/<script|javascript:|url\(|https?:/i);
      await file.setViewportSize({ width: 1280, height: 900 });
      await file.goto(address);
      await expect(file.locator("h1")).toContainText("ShoppingCart");
      await expect(file.locator(".parting")).toContainText(
        "In task 5 your code calls activity charge where history has activity chargeCard",
      );
      await expect(file.locator(".l.at")).toContainText("await shop.charge(");
      await expect(file.locator("svg.tl:visible")).toHaveCount(1);
      // The style sheet is applied, or the policy has blocked it.
      expect(
        await file.evaluate(() =>
          getComputedStyle(document.querySelector("section")!).borderTopWidth
        ),
      ).toBe("1px");
      for (const width of [1280, 320]) {
        await file.setViewportSize({ width, height: 780 });
        await accessibleInBoth(file, `${width} px`);
        expect(await file.evaluate(() => document.documentElement.scrollWidth <= innerWidth))
          .toBe(true);
        // The other file has the same elements.
        if (path === redacted) break;
        await unfold(file, true);
        await accessibleInBoth(file, `unfolded, ${width} px`);
        expect(await file.evaluate(() => document.documentElement.scrollWidth <= innerWidth))
          .toBe(true);
        await unfold(file, false);
      }
      expect(seen.splice(0)).toEqual([address]);
    }
    await file.goto(pathToFileURL(asIs).href);
    const row = file.locator(".row", { hasText: "chargeCard" }).first();
    await expect(row.getByText("BOOK-1").last()).toBeHidden();
    await row.locator("summary").click();
    await expect(row.locator("pre").first()).toContainText("ada");
    for (const secret of ["ada", "BOOK-1", "PEN-2"]) {
      expect(readFileSync(asIs, "utf8")).toContain(secret);
      expect(readFileSync(redacted, "utf8")).not.toMatch(new RegExp(`\\b${secret}\\b`));
    }
  } finally {
    await context.close();
  }
});
