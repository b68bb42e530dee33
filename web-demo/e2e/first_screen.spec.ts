// The first screen: a sample plays, captions say what is seen, any key takes over; with reduced motion it stands still.
import { expect, test } from "./support/story.ts";

test("a sample plays by itself with captions; a key takes over at the position where it is", async ({ app }) => {
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

test("with reduced motion it stands still, and another sample can be chosen", async ({ app }) => {
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

test("a button of the transport takes over, and does what it says", async ({ app }) => {
  const { page } = app;
  await app.start();
  await app.isAt(25);
  await page.locator("#go-end").click();
  await expect(page.locator("h1.run-name")).toHaveText("ShoppingCart");
  await app.isAt(41);
});
