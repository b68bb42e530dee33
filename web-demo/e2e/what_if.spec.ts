// What if: a recorded run goes on in the page with something changed, as a branch beside it.
import { readFileSync } from "node:fs";
import type { Page } from "@playwright/test";
import { expect, test } from "./support/story.ts";

/** Chooses a thing of the form by the beginning of its name, and what happens to it. */
async function change(page: Page, thing: RegExp, how?: string): Promise<void> {
  const list = page.locator('.change-form [name="thing"]');
  await list.selectOption((await list.locator("option").filter({ hasText: thing }).first().getAttribute("value"))!);
  if (how !== undefined) await page.locator('.change-form [name="how"]').selectOption(how);
}

const field = (page: Page, name: string) => page.locator(`.change-form [name="${name}"]`);

test("a failed charge, a dropped message and a result by hand are branches, and the recorded run stays as it is", async ({ app }) => {
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

test("a message comes later, is another one, and a run is asked to cancel or terminated", async ({ app }) => {
  const { page } = app;
  await app.sample("shopping_cart");
  await page.locator("#what-if").click();
  const recorded = page.locator(".branch", { hasText: "Recorded" });

  // The first item comes behind the second: the second is the first in what is charged for.
  await change(page, /^update add_item/, "move");
  await field(page, "after").fill("99");
  await page.locator("#run-branch").click();
  await expect(field(page, "after")).toBeFocused();
  await expect(field(page, "after")).toHaveAccessibleDescription(/enter the id of an event, 1 to \d+/);
  const [first, second] = await field(page, "thing").locator("option").filter({ hasText: /^update add_item/ }).allInnerTexts();
  const eventOf = (text: string | undefined) => Number(/event (\d+)/.exec(text ?? "")![1]);
  expect(eventOf(second)).toBeGreaterThan(eventOf(first));
  await field(page, "after").fill(String(eventOf(second) + 1));
  await field(page, "after").press("Enter");
  await expect(page.locator(".edits")).toContainText(`after event ${eventOf(second) + 1}`);
  await expect(page.locator(".both-steps .differs").first()).toBeVisible({ timeout: 60_000 });
  const accepted = page.locator(".both-steps tbody tr:not(.fold) td:nth-child(2)").filter({ hasText: "accepted" });
  await expect(accepted.first()).toContainText(/add_item/);

  // Another message in its place: a name is asked for beside its field, values are JSON.
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

  // A request to cancel needs no name, a termination ends the run with its reason.
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
  await expect(page.locator("#end-of-b")).toHaveText("B terminated enough of it", { timeout: 60_000 });
});

test("a branch is taken away as a test, with the recorded history", async ({ app }) => {
  const { page } = app;
  await app.sample("shopping_cart");
  await page.locator("#what-if").click();
  const things = page.locator('.change-form [name="thing"]');
  const activity = things.locator("option").filter({ hasText: /^activity/ }).first();
  await things.selectOption((await activity.getAttribute("value"))!);
  await page.locator('.change-form [name="how"]').selectOption("fails");
  await page.locator('.change-form [name="text"]').fill("card declined");
  await page.locator("#run-branch").click();
  await expect(page.locator(".what-if-said")).toContainText("First difference", { timeout: 60_000 });
  await page.locator("#make-test").click();
  await expect(page.locator('#test-dialog [name="of"]')).toHaveValue("1");
  const saved: { name: string; text: string }[] = [];
  page.on("download", async (download) => {
    saved.push({ name: download.suggestedFilename(), text: readFileSync(await download.path(), "utf8") });
  });
  await page.locator("#save-test").click();
  await expect(page.locator("#test-dialog [role=status]")).toContainText("expects the result that the branch has");
  await expect.poll(() => saved.map(({ name }) => name).sort()).toEqual(["cart.branch-1.history.json", "cart.branch-1.test.mjs"]);
  const { text } = saved.find(({ name }) => name.endsWith(".mjs"))!;
  expect(text).toContain('import { runBranch, stepsOf } from "temporalex/what-if";');
  expect(text).toContain('"message": "card declined"');
  expect(text).toContain('"outcome": "failed"');
  // The recorded run is still there to choose.
  await page.locator('#test-dialog [name="of"]').selectOption("0");
  await expect(page.locator("#test-dialog")).toContainText("a test that replays it");
});
