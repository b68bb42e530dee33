// The first screen: a sample plays with captions and any key stops it; with reduced motion it does
// not play.
import { expect, test } from "./support/story.ts";

test("a sample plays automatically with captions; a key stops it and continues from the current position", async ({ app }) => {
  const { page } = app;
  await page.emulateMedia({ reducedMotion: "no-preference" });
  await app.start();
  await expect(page.getByText("A sample is playing")).toBeVisible();
  await expect.poll(() => app.position()).toBeGreaterThan(3);
  await expect(page.locator(".caption")).toContainText("1 of 4");
  await page.keyboard.press("ArrowRight");
  await expect(page.locator("#opened-runs")).toHaveAttribute("aria-label", "Opened runs: 1");
  const at = await app.position();
  expect(at).toBeGreaterThan(4);
  await expect(page.locator("#play")).toHaveAttribute("aria-label", "Play");
  await expect(page).toHaveURL(new RegExp(`run=sample:shopping_cart&e=${at}$`));
  await page.goBack();
  await expect(page.getByRole("heading", { name: /Any run, step by step/ })).toBeVisible();
});

test("with reduced motion the sample does not play, and another sample can be chosen", async ({ app }) => {
  const { page } = app;
  await app.start();
  await app.isAt(25);
  await expect(page.locator("#play")).toHaveAttribute("aria-label", "Play");
  await expect(page.locator(".caption")).toContainText("3 of 4");
  await page.getByRole("button", { name: "Batch" }).click();
  await expect(page.locator(".stage-head")).toContainText("BatchProcess");
  await page.locator("#open-in-full").click();
  await expect(page.locator("h1.run-name")).toHaveText("BatchProcess");
});

test("a transport button stops the autoplay and performs its action", async ({ app }) => {
  const { page } = app;
  await app.start();
  await app.isAt(25);
  await page.locator("#go-end").click();
  await expect(page.locator("h1.run-name")).toHaveText("ShoppingCart");
  await app.isAt(41);
});
