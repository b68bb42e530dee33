// Compare shows two runs or branches side by side.
import { accessible } from "./support/axe.ts";
import { type App, eventsOf, expect, sample, test } from "./support/story.ts";

/**
 * Runs a branch of the open run in which the first activity fails with a message, or returns a JSON
 * value.
 */
async function branch({ page }: App, how: "fails" | "returns", text: string): Promise<void> {
  await page.locator(".branch", { hasText: "Recorded" }).click();
  const things = page.locator('.change-form [name="thing"]');
  const activity = things.locator("option").filter({ hasText: /^activity/ }).first();
  await things.selectOption((await activity.getAttribute("value"))!);
  await page.locator('.change-form [name="how"]').selectOption(how);
  await page.locator('.change-form [name="text"]').fill(text);
  await page.locator("#run-branch").click();
  await expect(page.locator(".what-if-said")).toContainText("First difference", {
    timeout: 60_000,
  });
}

test("comparing two branches shows where they differ, how each ends and the state at a step; keys and address work", async ({ app }) => {
  const { page } = app;
  await app.sample("shopping_cart");
  await page.locator("#what-if").click();
  await branch(app, "fails", "card declined");
  await branch(app, "returns", '"receipt by hand"');
  await page.locator("#compare").click();
  // The selected branch is B at first; the other branch then replaces the recorded run.
  await expect(page.locator("#side-b")).toHaveValue("sample:shopping_cart~2");
  await page.locator("#side-a").selectOption("sample:shopping_cart~1");
  const first = page.locator("#first-difference");
  await expect(first).toHaveText(
    /^First difference: activity .* failed \(event \d+\) in A, activity .* completed/,
  );
  await expect(page.locator("#both-ends td").nth(0)).toContainText("card declined");
  await expect(page.locator("#both-ends td").nth(1)).not.toContainText("card declined");
  await expect(page.locator(".compared .differs.current")).toHaveCount(1);
  await expect(page.locator(".compared .current td").nth(0)).toContainText("card declined");
  await expect(page.locator(".compared .differs", { hasText: "receipt by hand" })).not.toHaveCount(
    0,
  );
  await expect(page.locator("#end-state-a")).toContainText(/event \d+: /);

  // Equal rows are folded; a click expands a fold.
  const rows = await page.locator(".compared tbody tr").count();
  await page.locator(".compared .fold button").first().click();
  expect(await page.locator(".compared tbody tr").count()).toBeGreaterThan(rows);
  // Keys: step by step, from difference to difference, and back to the run.
  await page.locator("h1.run-name").click();
  await page.keyboard.press("k");
  await expect(page.locator(".compared .current")).not.toHaveClass(/differs/);
  await page.keyboard.press("n");
  await expect(page.locator(".compared .differs.current td").nth(0)).toContainText("card declined");
  await expect.poll(() => new URL(page.url()).hash).toContain(
    "a=sample:shopping_cart%7E1&b=sample:shopping_cart%7E2",
  );
  await accessible(page, "a comparison");
  await page.keyboard.press("x");
  await expect(page.locator(".what-if-room")).toBeVisible();
  await expect.poll(() => new URL(page.url()).hash).not.toContain("a=sample");
  // A reload restores the comparison of the open runs; branches are lost.
  await page.keyboard.press("x");
  await expect(page.locator("#both-ends")).toBeVisible();
  await page.reload();
  await expect(page.locator(".compare-side").nth(1)).toContainText("a reload deletes branches");
});

test("two open runs are compared: by address, after a reload, swapped, and with a dropped run", async ({ app }) => {
  const { page } = app;
  await app.start(
    "#/open?run=sample:shopping_cart&e=3&a=sample:shopping_cart&b=sample:shopping_cart_diverged",
  );
  // Both have one type and one id: their names tell them apart.
  await expect(page.locator(".compare-facts thead")).toContainText("Shopping cart, changed code");
  await expect(page.locator("#side-a option:checked")).toHaveText(
    "Shopping cart (sample), recorded",
  );
  const first = page.locator("#first-difference");
  await expect(first).toHaveText(/^First difference: |^A and B are equal/);
  const text = await first.innerText();
  expect(text).toMatch(/event \d+/);
  await page.reload();
  await expect(first).toHaveText(text);
  await page.locator("#swap-sides").click();
  await expect(page.locator("#side-a")).toHaveValue("sample:shopping_cart_diverged");
  await page.goBack();
  await expect(page.locator("#side-a")).toHaveValue("sample:shopping_cart");

  // A dropped copy of the run with one changed value: one difference, named by its events. Closing
  // returns to the run.
  const events = eventsOf("shopping_cart");
  const at = events.findIndex(({ activityTaskCompletedEventAttributes: done }) =>
    done !== undefined
  );
  const other = sample("shopping_cart").replace(
    events[at].activityTaskCompletedEventAttributes.result.payloads[0].data,
    btoa('"another receipt"'),
  );
  await page.locator("#compare-back").click();
  await app.drop([{ name: "other.json", content: other }]);
  await expect(page.locator("#opened-runs")).toHaveText(/3/);
  await page.locator("#compare").click();
  await page.locator("#side-b").selectOption({
    label: await page.locator("#side-b option").first().innerText(),
  });
  await expect(first).toContainText("has another value in B");
  await expect(first).toContainText(`event ${at + 1}`);
  await expect(page.locator(".compared .differs").first()).toContainText("another receipt");
});

test("a branch exists until the page closes; an address of a lost branch shows this", async ({ app }) => {
  await app.start(
    "#/open?run=sample:shopping_cart&e=1&a=sample:shopping_cart&b=sample:shopping_cart~2",
  );
  await expect(app.page.locator(".compare-side").nth(1)).toContainText("a reload deletes branches");
});
