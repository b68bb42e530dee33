// A user has the export of a run, of a project that this page does not know: five questions, each to its answer.
import { readFileSync } from "node:fs";
import { exported, lineOf, nextDeploy, project } from "./support/orders.ts";
import { openFolder, permit } from "./support/programs.ts";
import { type App, expect, test } from "./support/story.ts";

/** The export is dropped, its project's folder chosen, and what will run looked at. */
async function opened(app: App, how: "waiting" | "completed", files = project): Promise<void> {
  await app.start();
  await app.drop([{ name: "order-17.json", content: await exported(how) }]);
  await expect(app.page.locator("h1")).toHaveText("processOrder");
  const remove = await openFolder(app, files);
  await permit(app);
  await app.replayed();
  remove();
}

test("why does this run hang: the reason is in sight as soon as its code is there", async ({ app }) => {
  const { page } = app;
  await opened(app, "waiting");
  // An open run is shown where it stands.
  await app.isAt(15);
  await expect(page.locator("#why")).toContainText("approve");
  const line = String(lineOf(project, "await condition("));
  await expect(page.locator(".code-line.at")).toHaveAttribute("data-line", line);
  await expect(page.locator(".code-line.at")).toBeInViewport();
});

test("which deploy broke it: the place is in sight, with the edit and what repairs it", async ({ app }) => {
  const { page } = app;
  await opened(app, "completed", nextDeploy);
  await expect(page.locator("#verdict")).toHaveText(/Diverges at event 5/);
  await app.isAt(5);
  await expect(page.locator("#where-they-part")).toContainText("activity screen");
  await expect(page.locator("#where-they-part")).toContainText("activity reserve");
  await expect(page.locator(".code-line.red")).toHaveAttribute("data-line", String(lineOf(nextDeploy, "await screen(")));
  await expect(page.locator(".code-line.red")).toBeInViewport();
  await expect(page.locator("#repair")).toContainText("patched(");
  // The deploy before it is the answer's other half.
  await app.drop(Object.entries(project).map(([path, content]) => ({ name: path.replace("src/", ""), content })));
  await permit(app);
  await expect(page.locator("#verdict")).toHaveText(/Replays to the end/);
});

test("what did the customer's update contain: its values are in its row, and a click away in full", async ({ app }) => {
  const { page } = app;
  await app.start();
  await app.drop([{ name: "order-17.json", content: await exported("completed") }]);
  // Without the code. The row says it in short.
  const row = page.locator("[role=row]", { hasText: "changeAddress" });
  await expect(row).toContainText("12 St James's Square, London");
  await row.click();
  await expect(page.locator("#thing h2")).toHaveText("changeAddress");
  await expect(page.locator("#thing")).toContainText("12 St James's Square");
  // A word that somebody remembers of it leads to it, too.
  await page.keyboard.press("/");
  await page.keyboard.type("james's");
  await expect(page.locator("[role=row]", { hasText: "changeAddress" })).toBeVisible();
  await expect(page.locator("[role=row]", { hasText: "reserve" })).toHaveCount(0);
});

test("what if the payment had failed: from the payment itself", async ({ app }) => {
  const { page } = app;
  await opened(app, "completed");
  await page.locator("[role=row]", { hasText: /^pay/ }).click();
  await page.locator("#change-this").click();
  const form = page.locator(".change-form");
  // What was asked about is chosen already, and so is the first thing that one would try of it.
  await expect(form.locator('[name="thing"] option:checked')).toHaveText(/^activity pay/);
  await expect(form.locator('[name="how"] option:checked')).toHaveText("fails");
  await form.locator('[name="text"]').fill("card declined");
  await page.locator("#run-branch").click();
  // The recorded run never released a reservation: that is what the code does now, and what it asks about.
  const question = page.locator("form.asked");
  await expect(question).toContainText("release has no recorded result. It was called with");
  await question.getByRole("button", { name: "Use this result" }).click();
  await expect(page.locator("#end-of-b")).toContainText("card declined");
});

test("give me a test: a file that fails until the code replays the history next to it", async ({ app }) => {
  const { page } = app;
  await opened(app, "completed", nextDeploy);
  await page.locator("#make-test").click();
  const files = new Map<string, string>();
  page.on(
    "download",
    (download) => void download.path().then((path) => files.set(download.suggestedFilename(), readFileSync(path, "utf8"))),
  );
  await page.locator("#save-test").click();
  await expect(page.locator("#test-dialog [role=status]")).toContainText("The test fails until the code replays");
  await expect.poll(() => files.size).toBe(2);
  const [history, program] = [...files].toSorted(([a], [b]) => a < b ? -1 : 1).map(([, text]) => text);
  expect(program).toContain("processOrder");
  expect(history).toContain("reserve");
});

test("what may be sent now, and who changed the state, are a click away", async ({ app }) => {
  const { page } = app;
  await app.sample("shopping_cart", 19);
  await page.getByRole("list", { name: "Messages it accepts now" }).getByRole("button", { name: "add_item" }).click();
  const form = page.locator(".change-form");
  await expect(form.locator('[name="kind"]')).toHaveValue("update");
  await expect(form.locator('[name="name"]')).toHaveValue("add_item");
  await form.locator('[name="text"]').fill('[{ "sku": "MUG-7", "priceCents": 900 }]');
  await page.locator("#run-branch").click();
  await expect(page.locator("#end-of-b")).toContainText("completed");
  await expect(page.locator(".what-if-said")).toContainText("First difference: event");
  await expect(page.locator(".both-steps .differs").first()).toContainText("add_item");
  // Another way in begins anew.
  await page.locator("#what-if-back").click();
  await page.locator("#what-if").click();
  await expect(form.locator('[name="thing"] option:checked')).not.toHaveText(/new message/);
  await page.locator("#what-if-back").click();
  // The line at which the state got its value leads to when that was.
  await page.locator("#state .value-row", { hasText: "itemCount" }).getByRole("button", { name: /^line / }).click();
  await expect.poll(() => app.position()).toBeLessThan(19);
});
