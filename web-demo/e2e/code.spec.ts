// The code pane: the line at which the run waits, breakpoints, the line menu, editing.
import { accessibleInBoth } from "./support/axe.ts";
import { cartLine, expect, test } from "./support/story.ts";

const RECEIVE = cartLine("const items = await");
const ADD = cartLine("on(addItem");
const CHARGING = cartLine('publish({ phase: "charging"');

test("the line of the pending await is marked with the operation that it waits for", async ({ app }) => {
  await app.sample("shopping_cart", 19);
  const at = app.page.locator(".code-line.at");
  await expect(at).toHaveCount(1);
  await expect(at).toHaveAttribute("data-line", String(RECEIVE));
  await expect(at.locator(".parked-chip")).toContainText("add_item, remove_item or checkout");
  await expect(app.page.locator(".code-line.in-block")).toHaveCount(6);
  await expect(app.page.locator("#why")).toContainText(
    "and nothing else: no timer runs, no activity is open.",
  );
});

test("a click on a line number sets a breakpoint, and the panel lists it", async ({ app }) => {
  await app.sample("shopping_cart", 19);
  const number = app.page.getByRole("button", { name: new RegExp(`^Line ${CHARGING},`) });
  await number.click();
  await expect(number).toHaveAttribute("aria-pressed", "true");
  await app.page.locator("#breakpoints").click();
  const panel = app.page.getByRole("dialog", { name: "Breakpoints" });
  await expect(panel).toContainText(`workflow.ts, line ${CHARGING}`);
  await panel.getByLabel("Event, command or condition").fill("ActivityTaskCompleted");
  await panel.getByRole("button", { name: "Add" }).click();
  await panel.getByRole("button", { name: "after: event 26" }).click();
  await panel.getByRole("button", { name: "Close" }).click();
  await app.isAt(26);
});

test("the editor loads on demand, complies with the page's policy, and its edits can be undone", async ({ app }) => {
  await app.sample("shopping_cart", 19);
  expect(app.watch.requests.filter((url) => /editor-/.test(url))).toEqual([]);
  await app.page.locator("#edit").click();
  const text = app.page.locator(".cm-content");
  await expect(text).toContainText("shop.charge(customer");
  // The editor's styles are loaded: its lines are as high as those of the code pane.
  await expect(app.page.locator(".cm-scroller")).toHaveCSS("display", "flex");
  await app.page.keyboard.press("Control+Home");
  await app.page.keyboard.type("// one line more\n");
  await expect(app.page.locator(".coverage")).toHaveText("edited:+1 line");
  await app.page.getByRole("button", { name: "Undo the edit" }).click();
  await expect(text).not.toContainText("one line more");
  await app.page.keyboard.press("Escape");
});

test("the keyboard reaches values, the menu of a line and its tabs", async ({ app }) => {
  await app.sample("shopping_cart", 19);
  const code = app.page.getByRole("grid", { name: /workflow.ts/ });
  await code.focus();
  await app.page.keyboard.press("ArrowDown");
  await expect(code).toHaveAttribute("aria-activedescendant", `line-${ADD}`);
  await app.page.keyboard.press("Enter");
  const menu = app.page.getByRole("menu", { name: `Line ${ADD}` });
  await expect(menu.getByRole("menuitem").first()).toBeFocused();
  await app.page.keyboard.press("Escape");
  await expect(menu).toHaveCount(0);
  await expect(code).toBeFocused();
  await app.page.keyboard.press("b");
  await expect(app.page.getByRole("button", { name: `Line ${ADD}, has a breakpoint` }))
    .toBeVisible();
});

test("stepping does not move any line of code", async ({ app }) => {
  await app.sample("shopping_cart", 1);
  const line = app.page.locator(`.code-line[data-line="${RECEIVE}"]`);
  await app.page.keyboard.press("Shift+ArrowRight");
  await expect(app.page.locator(".code-line.at")).toHaveCount(1);
  const before = await line.boundingBox();
  for (let i = 0; i < 12; i++) await app.page.keyboard.press("ArrowRight");
  expect(await line.boundingBox()).toEqual(before);
});

test("axe finds nothing in the code and the inspector, in light and dark colors", async ({ app }) => {
  await app.sample("shopping_cart", 26);
  await accessibleInBoth(app.page, "a run", ".work");
  await app.sample("shopping_cart_diverged", 24);
  await expect(app.page.locator("#where-they-part")).toBeVisible();
  await accessibleInBoth(app.page, "a divergence", ".work");
  await app.page.locator("#edit").click();
  await expect(app.page.locator(".cm-content")).toBeVisible();
  await accessibleInBoth(app.page, "the editor", ".of-code");
});

test("a workflow task is labeled with its number", async ({ app }) => {
  await app.sample("shopping_cart", 28);
  await expect(app.page.locator("#thing")).toContainText("Workflow task 6");
});
