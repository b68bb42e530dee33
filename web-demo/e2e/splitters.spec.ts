// The borders between the list, the code and the inspector: they are dragged, moved by keys, kept
// over a reload, and reset.
import { axeFindings } from "./support/axe.ts";
import { expect, test } from "./support/story.ts";

const WIDE = { width: 1280, height: 800 };

test("splitters change the widths of the list and the inspector; a reload keeps them", async ({ app }) => {
  const { page } = app;
  await page.setViewportSize(WIDE);
  await app.sample("shopping_cart", 9);
  const width = async (column: string): Promise<number> =>
    (await page.locator(`.column.of-${column}`).boundingBox())!.width;
  const first = { events: await width("events"), why: await width("why") };
  const splitter = page.getByRole("separator", { name: "Width of the events" });
  const box = (await splitter.boundingBox())!;
  await page.mouse.move(box.x + box.width / 2, box.y + 100);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 2 + 90, box.y + 100, { steps: 3 });
  await page.mouse.up();
  await expect.poll(() => width("events")).toBe(first.events + 90);
  // A key moves the border, not the run.
  const other = page.getByRole("separator", { name: "Width of the inspector" });
  await other.focus();
  await page.keyboard.press("ArrowLeft");
  await expect.poll(() => width("why")).toBe(first.why + 24);
  await app.isAt(9);
  for (const theme of ["light", "dark"] as const) {
    await page.evaluate((name) => document.documentElement.dataset["theme"] = name, theme);
    expect(await axeFindings(page, ".work")).toEqual([]);
  }
  await page.reload();
  await app.isAt(9);
  await expect.poll(() => width("events")).toBe(first.events + 90);
  await expect.poll(() => width("why")).toBe(first.why + 24);
  await splitter.dblclick();
  await expect.poll(() => width("events")).toBe(first.events);
  await other.focus();
  await page.keyboard.press("Enter");
  await expect.poll(() => width("why")).toBe(first.why);
});

test("a width never takes the room of the code, and a narrow page has no splitters", async ({ app }) => {
  const { page } = app;
  await page.setViewportSize(WIDE);
  await page.addInitScript(() => {
    // The sandboxed frame has no storage.
    if (self === top) localStorage.setItem("temporalex.columns", '{"events":900,"why":7}');
  });
  await app.sample("shopping_cart", 9);
  const width = async (column: string): Promise<number> =>
    (await page.locator(`.column.of-${column}`).boundingBox())!.width;
  expect(await width("events")).toBeCloseTo(0.4 * WIDE.width, 0);
  expect(await width("why")).toBe(180);
  await page.setViewportSize({ width: 320, height: 640 });
  await expect(page.getByRole("separator")).toHaveCount(0);
});
