// Data of a line: hits, values, its next and previous run, log points, breakpoints, and the verdict
// while typing.
import { ownProgram, permit } from "./support/programs.ts";
import { cartLine, expect, test } from "./support/story.ts";

const PUBLISH = cartLine('publish({ phase: "open", itemCount: items');
const REPLY = cartLine("return reply(items");
const ADD = cartLine("on(addItem");
const REMOVE = cartLine("on(removeItem");
const CHARGE = cartLine("await shop.charge(");

test("lines are highlighted as they run, with hit counts, values and a meter", async ({ app }) => {
  await app.sample("shopping_cart", 19);
  const line = (n: number) => app.page.locator(`.code-line[data-line="${n}"]`);
  await expect(line(ADD).locator(".hits")).toHaveText("2×");
  await expect(line(PUBLISH)).toHaveClass(/\bran\b/);
  await expect(line(CHARGE)).toHaveClass(/\bcan-run\b/);
  await expect(line(REMOVE).locator(".note")).toContainText("PEN-2");
  await expect(line(REMOVE).locator(".note")).toContainText("→ 1");
  await expect(app.page.locator(".coverage")).toContainText("lines have run");
  await expect(app.page.locator("#state .value-row.removed")).toContainText("PEN-2");
  await line(REMOVE).locator(".note-inside").click();
  const sheet = app.page.getByRole("dialog", { name: `Values at line ${REMOVE}` });
  await expect(sheet).toContainText("message");
  await app.page.keyboard.press("Escape");
  await expect(sheet).toHaveCount(0);
});

test("commands move to the next and previous run of a line and show an expression's value at each", async ({ app }) => {
  await app.sample("shopping_cart", 19);
  await app.page.locator(`.code-line[data-line="${REPLY}"] .source`).click();
  await app.page.keyboard.press("[");
  await expect.poll(() => app.position()).toBeLessThan(19);
  const before = await app.position();
  await app.page.keyboard.press("]");
  await expect.poll(() => app.position()).toBeGreaterThan(before);
  await app.page.keyboard.press("m");
  await app.page.getByRole("menuitem", { name: "Log this" }).click();
  const log = app.page.getByRole("region", { name: `Log of line ${REPLY}` });
  await log.getByLabel("Expression to log").fill("items.length");
  await expect(log.locator("tbody tr")).toHaveCount(3);
  await expect(log.locator("tbody tr td:last-child")).toHaveText(["1", "2", "1"]);
});

test("the log of a line proposes the variable that the line declares, with its values", async ({ app }) => {
  const { page } = app;
  await app.sample("shopping_cart", 41);
  const declares = page.locator(".code-line", { hasText: /const \w+ = await/ }).first();
  await declares.locator(".source").click();
  await page.keyboard.press("m");
  await page.getByRole("menuitem", { name: "Log this" }).click();
  const field = page.getByLabel("Expression to log");
  await expect(field).toBeFocused();
  const name = /const (\w+) = await/.exec(await declares.innerText())![1]!;
  await expect(field).toHaveValue(name);
  const log = page.getByRole("region", { name: /^Log of line/ });
  await expect(log.locator("tbody tr").first()).toBeVisible();
  await expect(log.locator("tbody .failed")).toHaveCount(0);
});

test("the run continues until a condition becomes true", async ({ app }) => {
  await app.sample("shopping_cart", 1);
  await app.page.locator("#breakpoints").click();
  const panel = app.page.getByRole("dialog", { name: "Breakpoints" });
  await panel.getByRole("combobox").selectOption("when");
  await panel.getByLabel("Event, command or condition").fill("state.itemCount == 2");
  await panel.getByRole("button", { name: "Add" }).click();
  await panel.getByRole("button", { name: "Next breakpoint" }).click();
  await panel.getByRole("button", { name: "Close" }).click();
  await expect(app.page.locator("#state")).toContainText("itemCount");
  await expect(app.page.locator("#state .value-row.changed").first()).toContainText("2");
});

test("the verdict updates while typing; code with a syntax error keeps the last verdict", async ({ app }) => {
  await app.sample("shopping_cart", 24);
  await app.page.locator("#edit").click();
  await expect(app.page.locator(".cm-content")).toBeFocused();
  await app.page.keyboard.press("Home");
  await app.page.keyboard.insertText('await sleep("10s"); ');
  await app.page.keyboard.press("Control+Home");
  await app.page.keyboard.insertText('import { sleep } from "temporalex/workflow"; ');
  await expect(app.page.locator("#verdict")).toHaveText(/Diverges/);
  await expect(app.page.locator("#where-they-part")).toContainText("timer");
  await app.page.keyboard.insertText("const const ");
  await expect(app.page.locator(".not-parsed")).toHaveText("not parsed, line 1");
  await expect(app.page.locator("#where-they-part")).toContainText("timer");
  await app.page.getByRole("button", { name: "Undo the edit" }).click();
  await expect(app.page.locator("#verdict")).toHaveText(/Replays to the end/);
});

test("at 320 px a value is a button that opens a bottom sheet", async ({ app }) => {
  await app.page.setViewportSize({ width: 320, height: 700 });
  await app.sample("shopping_cart", 26);
  const button = app.page.locator(`.code-line[data-line="${REMOVE}"] .note-inside`);
  await button.click();
  const box =
    (await app.page.getByRole("dialog", { name: `Values at line ${REMOVE}` }).boundingBox())!;
  expect(box.x).toBe(0);
  expect(box.width).toBe(320);
  expect(Math.round(box.y + box.height)).toBe(700);
});

test("a step over a task stops at a breakpoint inside the task, in both directions", async ({ app }) => {
  await app.sample("shopping_cart", 23);
  await app.page.locator("#breakpoints").click();
  const panel = app.page.getByRole("dialog", { name: "Breakpoints" });
  await panel.getByLabel("Event, command or condition").fill("ActivityTaskCompleted");
  await panel.getByRole("button", { name: "Add" }).click();
  await panel.getByRole("button", { name: "Close" }).click();
  await app.page.locator("#main").focus();
  await app.page.keyboard.press("Shift+ArrowRight");
  await app.isAt(26);
  await app.page.keyboard.press("Shift+ArrowRight");
  await app.isAt(28);
  await app.page.keyboard.press("Shift+ArrowLeft");
  await app.isAt(26);
});

test("calls that the guard replaces or rejects are marked at their lines with the reason", async ({ app }) => {
  const { history, code } = ownProgram();
  const lines = code.split("\n");
  const at = lines.findIndex((line) => line.includes("await receive")) + 1;
  const note = () => app.page.locator(`.code-line[data-line="${at}"] .note`);
  const opened = async (statement: string) => {
    await app.drop([{ name: "tally.json", content: history }]);
    await app.drop([{
      name: "tally.ts",
      content: lines.toSpliced(at - 1, 0, statement).join("\n"),
    }]);
    await permit(app);
    await app.replayed();
    await app.page.locator("#playhead").focus();
    await app.page.keyboard.press("End");
  };
  await app.start();
  await opened("  const began = Date.now();");
  await expect(note()).toContainText(/Date\.now\(\): \d{4}-\d\d-\d\dT/);
  await note().locator(".note-inside").click();
  const sheet = app.page.getByRole("dialog", { name: `Values at line ${at}` });
  await expect(sheet).toContainText("This is the time of the workflow task");
  await app.page.keyboard.press("Escape");
  await opened('  fetch("https://example.com");');
  await expect(app.page.locator("#verdict")).toHaveText(/Fails/);
  await expect(note()).toContainText("fetch()");
});

test("a thrown value that has no stack is at its line, as in the terminal", async ({ app }) => {
  const { history, code } = ownProgram();
  const lines = code.split("\n");
  const at = lines.findIndex((line) => line.includes("await receive")) + 1;
  const broken = lines.toSpliced(at - 1, 0, '  if (Date.now() > 0) throw "a text";').join("\n");
  await app.start();
  await app.drop([{ name: "tally.json", content: history }]);
  await app.drop([{ name: "tally.ts", content: broken }]);
  await permit(app);
  await app.replayed();
  await expect(app.page.locator("#verdict")).toHaveText(/Fails/);
  await expect(app.page.locator(".code-line.red")).toHaveAttribute("data-line", String(at));
  await expect(app.page.locator("#where-they-part")).toContainText('the string "a text"');
});
