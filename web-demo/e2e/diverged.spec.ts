// Where code and history part.
import { expect, test } from "./support/story.ts";

test("the place is red in the code, in the table and in the inspector", async ({ app }) => {
  await app.sample("shopping_cart_diverged", 24);
  await expect(app.page.locator(".code-line.red")).toHaveAttribute("data-line", "70");
  await expect(app.page.locator(".code-line.red .parked-chip")).toContainText("history has");
  await expect(app.page.locator(".first-difference")).toContainText("chargeCard");
  await expect(app.page.locator("#where-they-part")).toBeVisible();
  await expect(app.page.locator("#what-differs")).toContainText("chargeCard");
});

test("d comes back to it", async ({ app }) => {
  await app.sample("shopping_cart_diverged", 3);
  await expect(app.page.locator("#where-they-part")).toHaveCount(0);
  await app.page.keyboard.press("d");
  await app.isAt(24);
  await expect(app.page.locator("#where-they-part")).toBeVisible();
});
