// A user has an exported run of a project that is unknown to the page: questions and how the page
// solves them.
import { readFileSync } from "node:fs";
import { exported, lineOf, nextDeploy, project } from "./support/orders.ts";
import { openFolder, permit } from "./support/programs.ts";
import { type App, expect, test } from "./support/story.ts";

/** Drops the export, chooses the folder of its project and views the code before it runs. */
async function opened(app: App, how: "waiting" | "completed", files = project): Promise<void> {
  await app.start();
  await app.drop([{ name: "order-17.json", content: await exported(how) }]);
  await expect(app.page.locator("h1")).toHaveText("processOrder");
  const remove = await openFolder(app, files);
  await permit(app);
  await app.replayed();
  remove();
}

test("why does this run hang: the page shows the reason when the code is opened", async ({ app }) => {
  const { page } = app;
  await opened(app, "waiting");
  // An open run is shown at its last event.
  await app.isAt(15);
  await expect(page.locator("#why")).toContainText("approve");
  const line = String(lineOf(project, "await condition("));
  await expect(page.locator(".code-line.at")).toHaveAttribute("data-line", line);
  await expect(page.locator(".code-line.at")).toBeInViewport();
});

test("which deploy broke it: the page shows the line, the edit and a repair", async ({ app }) => {
  const { page } = app;
  await opened(app, "completed", nextDeploy);
  await expect(page.locator("#verdict")).toHaveText(/Diverges at event 5/);
  await app.isAt(5);
  await expect(page.locator("#where-they-part")).toContainText("activity screen");
  await expect(page.locator("#where-they-part")).toContainText("activity reserve");
  await expect(page.locator(".code-line.red")).toHaveAttribute(
    "data-line",
    String(lineOf(nextDeploy, "await screen(")),
  );
  await expect(page.locator(".code-line.red")).toBeInViewport();
  await expect(page.locator("#repair")).toContainText("patched(");
  // The previous deploy still replays the history.
  await app.drop(
    Object.entries(project).map(([path, content]) => ({ name: path.replace("src/", ""), content })),
  );
  await permit(app);
  await expect(page.locator("#verdict")).toHaveText(/Replays to the end/);
});

test("what did the customer's update contain: the row shows the values, and a click shows them in full", async ({ app }) => {
  const { page } = app;
  await app.start();
  await app.drop([{ name: "order-17.json", content: await exported("completed") }]);
  // Without code: the row shows a short form.
  const row = page.locator("[role=row]", { hasText: "changeAddress" });
  await expect(row).toContainText("12 St James's Square, London");
  await row.click();
  await expect(page.locator("#thing h2")).toHaveText("changeAddress");
  await expect(page.locator("#thing")).toContainText("12 St James's Square");
  // A search for a word of the value finds it as well.
  await page.keyboard.press("/");
  await page.keyboard.type("james's");
  await expect(page.locator("[role=row]", { hasText: "changeAddress" })).toBeVisible();
  await expect(page.locator("[role=row]", { hasText: "reserve" })).toHaveCount(0);
});

test("what if the payment had failed: a branch starts from the payment", async ({ app }) => {
  const { page } = app;
  await opened(app, "completed");
  await page.locator("[role=row]", { hasText: /^pay/ }).click();
  await page.locator("#change-this").click();
  const form = page.locator(".change-form");
  // The form has the payment and its most likely change preselected.
  await expect(form.locator('[name="thing"] option:checked')).toHaveText(/^activity pay/);
  await expect(form.locator('[name="how"] option:checked')).toHaveText("fails");
  await form.locator('[name="text"]').fill("card declined");
  await page.locator("#run-branch").click();
  // The recorded run never released a reservation: the branch does, and the page asks for the
  // result.
  const question = page.locator("form.asked");
  await expect(question).toContainText("release has no recorded result. It was called with");
  await question.getByRole("button", { name: "Use this result" }).click();
  await expect(page.locator("#end-of-b")).toContainText("card declined");
});

test("give me a test: the page saves a test that fails until the code replays the saved history", async ({ app }) => {
  const { page } = app;
  await opened(app, "completed", nextDeploy);
  await page.locator("#make-test").click();
  const files = new Map<string, string>();
  page.on(
    "download",
    (download) =>
      void download.path().then((path) =>
        files.set(download.suggestedFilename(), readFileSync(path, "utf8"))
      ),
  );
  await page.locator("#save-test").click();
  await expect(page.locator("#test-dialog [role=status]")).toContainText(
    "The test fails until the code replays",
  );
  await expect.poll(() => files.size).toBe(2);
  const [history, program] = [...files].toSorted(([a], [b]) => a < b ? -1 : 1).map(([, text]) =>
    text
  );
  expect(program).toContain("processOrder");
  expect(history).toContain("reserve");
});

test("a click shows the messages that the run accepts now, and the line that changed the state", async ({ app }) => {
  const { page } = app;
  await app.sample("shopping_cart", 19);
  await page.getByRole("list", { name: "Messages it accepts now" }).getByRole("button", {
    name: "add_item",
  }).click();
  const form = page.locator(".change-form");
  await expect(form.locator('[name="kind"]')).toHaveValue("update");
  await expect(form.locator('[name="name"]')).toHaveValue("add_item");
  await form.locator('[name="text"]').fill('[{ "sku": "MUG-7", "priceCents": 900 }]');
  await page.locator("#run-branch").click();
  await expect(page.locator("#end-of-b")).toContainText("completed");
  await expect(page.locator(".what-if-said")).toContainText("First difference: event");
  await expect(page.locator(".both-steps .differs").first()).toContainText("add_item");
  // Opening the form in another way resets it.
  await page.locator("#what-if-back").click();
  await page.locator("#what-if").click();
  await expect(form.locator('[name="thing"] option:checked')).not.toHaveText(/new message/);
  await page.locator("#what-if-back").click();
  // The line that changed the state links to the event of the change.
  await page.locator("#state .value-row", { hasText: "itemCount" }).getByRole("button", {
    name: /^line /,
  }).click();
  await expect.poll(() => app.position()).toBeLessThan(19);
});
