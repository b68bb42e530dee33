// Code that replays a history with other values: differences that replay does not compare are shown
// at the row, at the line and next to the verdict.
// takes: 10 s
import { accessible } from "./support/axe.ts";
import { CHANGED, subscribed, SUBSCRIPTION } from "./support/subscription.ts";
import { permit } from "./support/programs.ts";
import { type App, expect, test } from "./support/story.ts";

async function beside(app: App, code: string): Promise<void> {
  await app.start();
  await app.drop([{ name: "subscription-ada.json", content: await subscribed() }]);
  await expect(app.page.locator("#verdict")).toHaveText(/No code/);
  await app.drop([{ name: "workflows.ts", content: code }]);
  await permit(app);
}

test("changed durations, arguments and options are named; the verdict stays, and a click on it selects the change", async ({ app }) => {
  await beside(app, CHANGED);
  const { page } = app;
  await expect(page.locator("#verdict")).toHaveText("Replays 3 values differ");
  const section = page.locator("#changed-values");
  // The position is the end of the run: the task that started the timer.
  await expect(section).toContainText("The duration in the code is 1 s; in history it is 30 d.");
  await expect(section).toContainText(
    "Running workflows keep the old value. New ones use the new value.",
  );
  await expect(page.locator("#events [role=row]", { hasText: "timer 30 d" }).locator(".code-says"))
    .toHaveText("≠ 1 s");
  await expect(page.locator(".code-line", { hasText: "await sleep" }).locator(".code-says"))
    .toHaveText("≠ history: 30 d");
  await expect(page.locator("#commands .changed")).toHaveText("≠");

  await accessible(page, "with changed values");

  await page.locator("#verdict").click();
  await expect(section.locator(".differences")).toContainText("maximum attempts35");
  await expect(section.locator(".differences")).toContainText("input[1].cents13001200");
  await expect(page.locator("#events [role=row]", { hasText: "charge" }).locator(".code-says"))
    .toHaveText("≠");
  await section.getByRole("button", { name: "30 d" }).click();
  await expect(page.locator("#thing")).toContainText("timer", { ignoreCase: true });
});

test("unchanged code has no note", async ({ app }) => {
  await beside(app, SUBSCRIPTION);
  await expect(app.page.locator("#verdict")).toHaveText("Replays to the end");
  await expect(app.page.locator("#commands")).toBeVisible();
  await expect(app.page.locator(".code-says, #changed-values")).toHaveCount(0);
});
