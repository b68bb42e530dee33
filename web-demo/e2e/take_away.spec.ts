// Share and Test: files that are saved, and that do what they say.
import { readFileSync } from "node:fs";
import { expect, test } from "./support/story.ts";

test("a history is saved without its values; a divergence as a test with its history", async ({ app }) => {
  const { page } = app;
  await app.sample("shopping_cart");
  await page.locator("#share").click();
  const saving = page.waitForEvent("download");
  await page.locator("#save-redacted").click();
  await expect(page.locator("#share-dialog [role=status]:not(#link-said)")).toContainText(
    /it replays as before|goes another way/,
    {
      timeout: 60_000,
    },
  );
  if (await page.locator("#save-redacted").innerText() !== "Save without values") await page.locator("#save-redacted").click();
  const redacted = readFileSync(await (await saving).path(), "utf8");
  expect(redacted).toContain("eventType");
  expect(redacted).not.toContain(btoa('{"customer":"ada"}'));
  await page.keyboard.press("Escape");

  await app.sample("shopping_cart_diverged");
  await page.locator("#make-test").click();
  const names: string[] = [];
  page.on("download", (download) => names.push(download.suggestedFilename()));
  await page.locator("#save-test").click();
  await expect(page.locator("#test-dialog [role=status]")).toContainText("It fails until the code replays", { timeout: 60_000 });
  await expect.poll(() => names.toSorted().map((name) => name.replace(/^.*?\./, ""))).toEqual(["history.json", "test.mjs"]);
});

test("the timeline is saved as a drawing that stands alone: names and times, no values", async ({ app }) => {
  const { page } = app;
  await app.sample("shopping_cart");
  await page.locator("#share").click();
  const saving = page.waitForEvent("download");
  await page.locator("#save-drawing").click();
  const saved = await saving;
  expect(saved.suggestedFilename()).toMatch(/\.svg$/);
  const text = readFileSync(await saved.path(), "utf8");
  for (const name of ["ShoppingCart", "add_item", "messages", "Completed"]) expect(text).toContain(name);
  expect(text).not.toMatch(/class=|<script|<style|href=|url\(|var\(/);
  expect(text).not.toContain("ada");
  // As any program that reads such files sees it.
  const drawn = await page.context().newPage();
  await drawn.goto("about:blank");
  const { width, colours } = await drawn.evaluate(async (svg) => {
    const image = new Image();
    image.src = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = image.naturalWidth;
    canvas.height = image.naturalHeight;
    const context = canvas.getContext("2d")!;
    context.drawImage(image, 0, 0);
    const pixels = new Uint32Array(context.getImageData(0, 0, canvas.width, canvas.height).data.buffer);
    return { width: image.naturalWidth, colours: new Set(pixels).size };
  }, text);
  expect(width).toBe(1380);
  expect(colours).toBeGreaterThan(50);
});
