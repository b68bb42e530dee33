// Share and Test: files that are saved, and that do what they say.
import { readFileSync } from "node:fs";
import { expect, test } from "./support/story.ts";

test("a history is saved without its values; a divergence as a test with its history", async ({ app }) => {
  const { page } = app;
  await app.sample("shopping_cart");
  await page.locator("#share").click();
  const saving = page.waitForEvent("download");
  await page.locator("#save-redacted").click();
  await expect(page.locator("#share-dialog [role=status]")).toContainText(/it replays as before|goes another way/, {
    timeout: 60_000,
  });
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
