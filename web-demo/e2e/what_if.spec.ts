// What if: a recorded run goes on in the page with something changed, as a branch beside it.
import { expect, test } from "./support/story.ts";

test("a failed charge, a dropped message and an answer by hand are branches, and the recorded run stays as it is", async ({ app }) => {
  const { page } = app;
  await app.sample("shopping_cart");
  await page.locator("#what-if").click();
  const form = page.locator(".change-form");
  const thing = form.locator('[name="thing"]');
  const option = async (text: RegExp) => (await thing.locator("option").filter({ hasText: text }).first().getAttribute("value"))!;
  await thing.selectOption(await option(/^activity charge/i));
  await form.locator('[name="how"]').selectOption("fails");
  await form.locator('[name="text"]').fill("card declined");
  await page.locator("#run-branch").click();
  await expect(page.locator("#end-of-b")).toContainText(/failed .*card declined|card declined/, { timeout: 60_000 });
  await expect(page.locator(".what-if-said")).toContainText("First difference: event");
  await expect(page.locator(".both-steps .differs").first()).toBeVisible();

  // A second branch, of the recorded run.
  await page.locator(".branch", { hasText: "Recorded" }).click();
  await thing.selectOption(await option(/^update add_item|^update add/i));
  await form.locator('[name="how"]').selectOption("drop");
  await page.locator("#run-branch").click();
  await expect(page.locator(".branch")).toHaveCount(3);
  await expect(page.locator(".edits .dropped")).toBeVisible();
  await expect(page.locator("#end-of-b")).not.toContainText("has not run", { timeout: 60_000 });

  // Its edits can be taken back, and the way back is where it was.
  await page.locator(".edits").getByRole("button", { name: "Undo" }).click();
  await expect(page.locator(".branch")).toHaveCount(2);
  await page.locator("#what-if-back").click();
  await expect(page.locator(".open-room")).toBeVisible();
  await expect(page.locator("#verdict")).toHaveText(/Replays/);
});
