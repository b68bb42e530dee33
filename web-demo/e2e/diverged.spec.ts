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

test("a repair is put in, and the history replays with it", async ({ app }) => {
  await app.sample("shopping_cart", 24);
  await app.page.locator("#edit").click();
  await expect(app.page.locator(".cm-content")).toBeFocused();
  await app.page.keyboard.press("Home");
  await app.page.keyboard.insertText('await sleep("10s");\n    ');
  await app.page.keyboard.press("Control+Home");
  await app.page.keyboard.insertText('import { sleep } from "temporalex/workflow";\n');
  await expect(app.page.locator("#verdict")).toHaveText(/Diverges/);
  await expect(app.page.locator("#where-they-part")).toContainText("starts a timer of 10 s");
  await app.page.keyboard.press("Escape");
  await expect(app.page.locator(".code-line.red.added")).toHaveAttribute("data-line", "71");
  // In the user's own line.
  await expect(app.page.locator("#repair pre")).toHaveText('if (patched("with-timer")) {\n  await sleep("10s");\n}');
  await app.page.locator("#repair").getByRole("button", { name: "Apply repair" }).click();
  await expect(app.page.locator("#verdict")).toHaveText(/Replays to the end/);
});
