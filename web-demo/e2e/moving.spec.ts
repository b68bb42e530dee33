// Navigation in a run: keys, buttons, the list. Stepping back shows the same states as stepping
// forward, and the layout does not move.
import { eventsOf, expect, test } from "./support/story.ts";

const length = eventsOf("shopping_cart").length;

test("arrow keys step through the run, and stepping back shows the same states as stepping forward", async ({ app }) => {
  const { page } = app;
  await app.sample("shopping_cart");
  const look = async () => [
    await page.locator("[role=row][aria-selected=true]").innerText(),
    await page.locator(".of-why").innerText(),
    await page.locator("#said").innerText(),
  ];
  const seen: string[][] = [];
  for (let at = 1; at <= length; at++) {
    await app.isAt(at);
    seen.push(await look());
    await page.keyboard.press("ArrowRight");
  }
  await app.isAt(length);
  for (let at = length; at >= 1; at--) {
    await app.isAt(at);
    expect(await look(), `event ${at}`).toEqual(seen[at - 1]);
    await page.keyboard.press("ArrowLeft");
  }
  await app.isAt(1);
});

test("keys move to tasks, start and end, change the step unit, and play and pause", async ({ app }) => {
  const { page } = app;
  await app.sample("shopping_cart");
  const tasks = eventsOf("shopping_cart").filter(({ eventType }) =>
    /TASK_STARTED/.test(eventType) && /WORKFLOW/.test(eventType)
  )
    .map(({ eventId }) => Number(eventId));
  for (const task of tasks.slice(0, 3)) {
    await page.keyboard.press("Shift+ArrowRight");
    await app.isAt(task);
  }
  await page.keyboard.press("Shift+ArrowLeft");
  await app.isAt(tasks[1]!);
  await page.getByRole("button", { name: "Command", exact: true }).click();
  const scheduled =
    eventsOf("shopping_cart").find(({ eventType }) => /UPDATE_ACCEPTED/.test(eventType)).eventId;
  await page.locator("#go-start").click();
  await page.keyboard.press("ArrowRight");
  await app.isAt(Number(scheduled));
  // The current line, `receive` in the run, runs once; the fiber of the run continues after the
  // messages.
  await page.locator("#go-start").click();
  for (const unit of ["Line", "Fiber"]) {
    await page.getByRole("button", { name: unit, exact: true }).click();
    await page.keyboard.press("ArrowRight");
    const at = await app.position();
    expect(tasks, unit).toContain(at);
    await page.keyboard.press("ArrowLeft");
    await app.isAt(1);
  }
  await page.getByRole("button", { name: "Event", exact: true }).click();
  await page.locator("#go-end").click();
  await app.isAt(length);
  await expect(page.locator("#go-end")).toHaveAttribute("aria-disabled", "true");
  // Play at the end restarts from the beginning, and a step stops it.
  await page.locator("#main").focus();
  await page.keyboard.press("p");
  await expect(page.locator("#play")).toHaveAttribute("aria-label", "Pause");
  await expect.poll(() => app.position()).toBeGreaterThan(2);
  await page.keyboard.press("p");
  await expect(page.locator("#play")).toHaveAttribute("aria-label", "Play");
  const stopped = await app.position();
  await page.keyboard.press("ArrowLeft");
  expect(await app.position()).toBeLessThan(stopped);
});

test("the list is one tab stop; j and k move in it, a click jumps, and search and kinds filter it", async ({ app }) => {
  const { page } = app;
  await app.sample("shopping_cart");
  const current = page.locator("[role=row][aria-selected=true]");
  await page.keyboard.press("j");
  const second = await app.position();
  expect(second).toBeGreaterThan(1);
  await page.keyboard.press("j");
  await page.keyboard.press("k");
  await app.isAt(second);
  await page.locator("#events").focus();
  await page.keyboard.press("ArrowDown");
  expect(await app.position()).toBeGreaterThan(second);
  const active = await page.locator("#events").getAttribute("aria-activedescendant");
  expect(await current.getAttribute("id")).toBe(active);
  await page.keyboard.press("ArrowUp");
  await app.isAt(second);

  // With all kinds selected each event has a separate row.
  await page.getByRole("button", { name: `All ${length}` }).click();
  await expect(page.locator("#events")).toHaveAttribute("aria-rowcount", String(length));
  await page.keyboard.press("/");
  await expect(page.locator("#search")).toBeFocused();
  // The focus is in a text field now: letters are text.
  await page.keyboard.type("checkout");
  await expect(page.locator("#events")).toHaveAttribute("aria-rowcount", "1");
  await page.keyboard.press("Enter");
  await page.locator("[role=row]").first().click();
  const at = Number(
    eventsOf("shopping_cart").find(({ eventType }) => /SIGNALED/.test(eventType)).eventId,
  );
  await app.isAt(at);
  await page.locator("#search").focus();
  await page.keyboard.press("Escape");
  await expect(page.locator("#search")).toHaveValue("");
  await expect(page.locator("#events")).toHaveAttribute("aria-rowcount", String(length));
  await page.getByRole("button", { name: /^workflow task: / }).click();
  await expect(page.locator("[role=row]").filter({ hasText: "WorkflowTask" })).toHaveCount(0);
});

test("shortcuts do not act while the user types, selects text or uses browser shortcuts", async ({ app }) => {
  const { page } = app;
  await app.sample("shopping_cart", 5);
  const taken = (init: { readonly [field: string]: string | boolean }) =>
    page.evaluate((given) => {
      const event = new KeyboardEvent("keydown", { bubbles: true, cancelable: true, ...given });
      document.getElementById("main")!.dispatchEvent(event);
      return event.defaultPrevented;
    }, init);
  expect(await taken({ key: "ArrowRight" })).toBe(true);
  for (const key of ["Home", "End", " ", "PageUp", "PageDown", "Tab", "Escape", "q"]) {
    expect(await taken({ key }), key).toBe(false);
  }
  for (const modifier of ["ctrlKey", "metaKey", "altKey"]) {
    expect(await taken({ key: "ArrowRight", [modifier]: true }), modifier).toBe(false);
  }
  const at = await app.position();
  await page.locator("#search").focus();
  await page.keyboard.type("p?dj");
  await page.keyboard.press("ArrowLeft");
  await app.isAt(at);
  await expect(page.locator("dialog[open]")).toHaveCount(0);
  // Outside of the run, letters have no effect.
  await page.locator("#room-runs").focus();
  await page.keyboard.press("j");
  await app.isAt(at);
});

test("the key ? opens the list of shortcuts, and Escape closes it", async ({ app }) => {
  const { page } = app;
  await app.sample("shopping_cart");
  await page.locator("#main").focus();
  await page.keyboard.press("?");
  await expect(page.locator("#keys")).toContainText("Step forward");
  await expect(page.locator("#keys li", { hasText: "Zoom in" }).locator("kbd")).toHaveText([
    "+",
    "=",
  ]);
  await expect(page.locator("#keys li", { hasText: "One task back" }).locator("kbd")).toHaveText([
    "Shift",
    "←",
  ]);
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Escape");
  await expect(page.locator("#keys")).not.toBeVisible();
  await app.isAt(1);
});

test("a key or a click moves to the divergence", async ({ app }) => {
  const { page } = app;
  await app.sample("shopping_cart_diverged");
  const said = await page.locator("#verdict").innerText();
  const at = Number(/Diverges at event (\d+)/.exec(said)![1]);
  await page.locator("#main").focus();
  await page.keyboard.press("d");
  await app.isAt(at);
  await page.locator("#go-start").click();
  await page.locator("#verdict").click();
  await app.isAt(at);
});

test("stepping does not move the layout: all panes keep their positions at each event", async ({ app }) => {
  const { page } = app;
  await app.sample("shopping_cart");
  const places = () =>
    page.evaluate(() =>
      [...document.querySelectorAll(
        ".top, #verdict, .transport, .transport button, #position, .column, #events",
      )].map(
        (element) => {
          const { x, y, width, height } = element.getBoundingClientRect();
          return `${element.className} ${element.id} ${
            [x, y, width, height].map((n) => n.toFixed(1)).join(" ")
          }`;
        },
      )
    );
  const before = await places();
  expect(before.length).toBeGreaterThan(10);
  for (let at = 2; at <= length; at++) {
    await page.keyboard.press("ArrowRight");
    await app.isAt(at);
    expect(await places(), `event ${at}`).toEqual(before);
  }
});

test("with fifty thousand events only visible rows are rendered, and the list scrolls to the end", async ({ app }) => {
  const { page } = app;
  const all = eventsOf("counter");
  const signal = all.find(({ eventType }) => /SIGNALED/.test(eventType));
  const many = [...all.slice(0, 4), ...Array.from({ length: 51_196 }, () => signal)].map((
    event,
    i,
  ) => ({
    ...event,
    eventId: String(i + 1),
  }));
  await app.start();
  await app.drop([{
    name: "long.json",
    content: JSON.stringify({ events: many }).replaceAll('"Counter"', '"Long"'),
  }]);
  // An open run is shown at its last event.
  await expect(page.locator("#position")).toHaveText("Event 51,200 of 51,200");
  await page.locator("#go-start").click();
  await expect(page.locator("#position")).toHaveText("Event 1 of 51,200");
  await page.locator("#go-end").click();
  await expect(page.locator("#position")).toHaveText("Event 51,200 of 51,200");
  await expect(page.locator("[role=row][aria-selected=true]")).toHaveAttribute(
    "data-event",
    "51200",
  );
  expect(await page.locator("[role=row]").count()).toBeLessThan(120);
  await page.keyboard.press("ArrowLeft");
  await expect(page.locator("#position")).toHaveText("Event 51,199 of 51,200");
});

test("g goes to an event by its number, and a search finds the item of an event number", async ({ app }) => {
  const { page } = app;
  await app.sample("shopping_cart", 2);
  await page.keyboard.press("g");
  const dialog = page.getByRole("dialog", { name: "Go to event" });
  await expect(dialog.getByRole("textbox")).toBeFocused();
  await page.keyboard.type("99");
  await expect(dialog).toContainText("This run has no event 99.");
  await page.keyboard.press("Enter");
  await expect(dialog).toBeVisible();
  await dialog.getByRole("textbox").fill("26");
  await expect(dialog).toContainText(/Activity|Timer|Workflow/);
  await page.keyboard.press("Enter");
  await app.isAt(26);
  await expect(dialog).toHaveCount(0);
  await page.keyboard.press("/");
  await page.keyboard.type("3");
  await page.keyboard.press("Enter");
  await app.isAt(3);
});
