// What if: the page continues a recorded run with a change, as a branch next to the run.
import { readFileSync } from "node:fs";
import type { Page } from "@playwright/test";
import { expect, test } from "./support/story.ts";

/** Chooses an item of the form by the beginning of its name, and the change to make. */
async function change(page: Page, thing: RegExp, how?: string): Promise<void> {
  const list = page.locator('.change-form [name="thing"]');
  await list.selectOption(
    (await list.locator("option").filter({ hasText: thing }).first().getAttribute("value"))!,
  );
  if (how !== undefined) await page.locator('.change-form [name="how"]').selectOption(how);
}

const field = (page: Page, name: string) => page.locator(`.change-form [name="${name}"]`);

test("a failed charge, a dropped message and a manual result become branches, and the recorded run is unchanged", async ({ app }) => {
  const { page } = app;
  await app.sample("shopping_cart");
  await page.locator("#what-if").click();
  const form = page.locator(".change-form");
  const thing = form.locator('[name="thing"]');
  const option = async (text: RegExp) =>
    (await thing.locator("option").filter({ hasText: text }).first().getAttribute("value"))!;
  await thing.selectOption(await option(/^activity charge/i));
  await form.locator('[name="how"]').selectOption("fails");
  await form.locator('[name="text"]').fill("card declined");
  await page.locator("#run-branch").click();
  await expect(page.locator("#end-of-b")).toContainText(/failed .*card declined|card declined/, {
    timeout: 60_000,
  });
  await expect(page.locator(".what-if-said")).toContainText("First difference: event");
  await expect(page.locator(".both-steps .differs").first()).toBeVisible();

  // A second branch of the recorded run.
  await page.locator(".branch", { hasText: "Recorded" }).click();
  await thing.selectOption(await option(/^update add_item|^update add/i));
  await form.locator('[name="how"]').selectOption("drop");
  await page.locator("#run-branch").click();
  await expect(page.locator(".branch")).toHaveCount(3);
  await expect(page.locator(".edits .dropped")).toBeVisible();
  await expect(page.locator("#end-of-b")).not.toContainText("has not run", { timeout: 60_000 });

  // Its edits can be undone, and the way back is unchanged.
  await page.locator(".edits").getByRole("button", { name: "Undo" }).click();
  await expect(page.locator(".branch")).toHaveCount(2);
  await page.locator("#what-if-back").click();
  await expect(page.locator(".open-room")).toBeVisible();
  await expect(page.locator("#verdict")).toHaveText(/Replays/);
});

test("a branch can delay or replace a message, request cancellation, or terminate the run", async ({ app }) => {
  const { page } = app;
  await app.sample("shopping_cart");
  await page.locator("#what-if").click();
  const recorded = page.locator(".branch", { hasText: "Recorded" });

  // The first item arrives after the second: the charge lists the second item first.
  await change(page, /^update add_item/, "move");
  await field(page, "after").fill("99");
  await page.locator("#run-branch").click();
  await expect(field(page, "after")).toBeFocused();
  await expect(field(page, "after")).toHaveAccessibleDescription(
    /enter the id of an event, 1 to \d+/,
  );
  const [first, second] = await field(page, "thing").locator("option").filter({
    hasText: /^update add_item/,
  }).allInnerTexts();
  const eventOf = (text: string | undefined) => Number(/event (\d+)/.exec(text ?? "")![1]);
  expect(eventOf(second)).toBeGreaterThan(eventOf(first));
  await field(page, "after").fill(String(eventOf(second) + 1));
  await field(page, "after").press("Enter");
  await expect(page.locator(".edits")).toContainText(`after event ${eventOf(second) + 1}`);
  await expect(page.locator(".both-steps .differs").first()).toBeVisible({ timeout: 60_000 });
  const accepted = page.locator(".both-steps tbody tr:not(.fold) td:nth-child(2)").filter({
    hasText: "accepted",
  });
  await expect(accepted.first()).toContainText(/add_item/);

  // Another message replaces it: a hint next to the field asks for a name; values are JSON.
  await recorded.click();
  await change(page, /^update add_item/, "replace");
  await expect(field(page, "name")).toHaveValue("add_item");
  await field(page, "name").fill("");
  await page.locator("#run-branch").click();
  await expect(field(page, "name")).toHaveAccessibleDescription(/enter the name of an update/);
  await field(page, "name").fill("remove_item");
  await field(page, "text").fill("{not json");
  await page.locator("#run-branch").click();
  await expect(field(page, "text")).toHaveAccessibleDescription(/invalid JSON/);
  await field(page, "text").fill('["nothing"]');
  await page.locator("#run-branch").click();
  await expect(page.locator(".edits")).toContainText("→ remove_item");
  await expect(page.locator("#end-of-b")).not.toContainText("has not run", { timeout: 60_000 });

  // A cancellation request has no name; a termination closes the run with its reason.
  await recorded.click();
  await change(page, /^a new message/);
  await field(page, "kind").selectOption("cancel");
  await expect(field(page, "name")).toHaveCount(0);
  await field(page, "after").fill(String(eventOf(first) + 1));
  await page.locator("#run-branch").click();
  await expect(page.locator(".both-steps")).toContainText("requested", { timeout: 60_000 });
  await recorded.click();
  await change(page, /^a new message/);
  await field(page, "kind").selectOption("terminate");
  await field(page, "after").fill(String(eventOf(first) + 1));
  await field(page, "text").fill("enough of it");
  await page.locator("#run-branch").click();
  await expect(page.locator("#end-of-b")).toHaveText("B terminated enough of it", {
    timeout: 60_000,
  });
});

test("a branch is saved as a test with the recorded history", async ({ app }) => {
  const { page } = app;
  await app.sample("shopping_cart");
  await page.locator("#what-if").click();
  const things = page.locator('.change-form [name="thing"]');
  const activity = things.locator("option").filter({ hasText: /^activity/ }).first();
  await things.selectOption((await activity.getAttribute("value"))!);
  await page.locator('.change-form [name="how"]').selectOption("fails");
  await page.locator('.change-form [name="text"]').fill("card declined");
  await page.locator("#run-branch").click();
  await expect(page.locator(".what-if-said")).toContainText("First difference", {
    timeout: 60_000,
  });
  await page.locator("#make-test").click();
  await expect(page.locator('#test-dialog [name="of"]')).toHaveValue("1");
  const saved: { name: string; text: string }[] = [];
  page.on("download", async (download) => {
    saved.push({
      name: download.suggestedFilename(),
      text: readFileSync(await download.path(), "utf8"),
    });
  });
  await page.locator("#save-test").click();
  await expect(page.locator("#test-dialog [role=status]")).toContainText(
    "expects the result that the branch has",
  );
  await expect.poll(() => saved.map(({ name }) => name).sort()).toEqual([
    "cart.branch-1.history.json",
    "cart.branch-1.test.mjs",
  ]);
  const { text } = saved.find(({ name }) => name.endsWith(".mjs"))!;
  expect(text).toContain('import { runBranch, stepsOf } from "temporalex/what-if";');
  expect(text).toContain('"message": "card declined"');
  expect(text).toContain('"outcome": "failed"');
  // The recorded run can still be selected.
  await page.locator('#test-dialog [name="of"]').selectOption("0");
  await expect(page.locator("#test-dialog")).toContainText("a test that replays it");
});
