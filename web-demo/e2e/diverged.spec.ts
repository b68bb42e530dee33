// Divergences: the first event at which code and history differ.
import { cartLine, expect, test } from "./support/story.ts";

const CHARGE = cartLine("await shop.charge(");

test("the divergence is red in the code, in the table and in the inspector", async ({ app }) => {
  await app.sample("shopping_cart_diverged", 24);
  await expect(app.page.locator(".code-line.red")).toHaveAttribute("data-line", String(CHARGE));
  await expect(app.page.locator(".code-line.red .parked-chip")).toContainText("history has");
  await expect(app.page.locator(".first-difference")).toContainText("chargeCard");
  await expect(app.page.locator("#where-they-part")).toBeVisible();
  await expect(app.page.locator("#what-differs")).toContainText("chargeCard");
});

test("the key d returns to the divergence", async ({ app }) => {
  await app.sample("shopping_cart_diverged", 3);
  await expect(app.page.locator("#where-they-part")).toHaveCount(0);
  await app.page.keyboard.press("d");
  await app.isAt(24);
  await expect(app.page.locator("#where-they-part")).toBeVisible();
});

test("a proposed repair is applied, and the history replays with it", async ({ app }) => {
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
  await expect(app.page.locator(".code-line.red.added")).toHaveAttribute(
    "data-line",
    String(CHARGE + 1),
  );
  // The divergence is in a line of the user's code.
  await expect(app.page.locator("#repair pre")).toHaveText(
    'if (patched("with-timer")) {\n  await sleep("10s");\n}',
  );
  await app.page.locator("#repair").getByRole("button", { name: "Apply repair" }).click();
  await expect(app.page.locator("#verdict")).toHaveText(/Replays to the end/);
});
