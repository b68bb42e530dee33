// The Runs room is readable at every width, light and dark, and axe-core finds no problem in the
// list and in the panel of a run.
import { accessibleInBoth } from "./support/axe.ts";
import { expect, test } from "./support/command.ts";
import { storeOfRuns } from "./support/runs_store.ts";

test("list and run are readable from 320 to 1920 px, light and dark, and axe-core finds no problem", async ({ place, visit }) => {
  test.slow();
  const { app } = await storeOfRuns(place);
  try {
    const { url } = await place.start([
      "ui",
      "--store",
      "shop.sqlite",
      "--port",
      "0",
      "--no-open",
      "--json",
    ])
      .line(({ event }) => event === "started");
    const { page } = await visit(url);
    for (const width of [320, 1280, 1920]) {
      const at = `${width} px`;
      await page.setViewportSize({ width, height: width === 320 ? 780 : 900 });
      await page.goto(url);
      await expect(page.locator(".run-row", { hasText: "order-1" })).toBeVisible();
      const isWide = () => page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
      expect(await isWide(), `the list, ${at}`).toBe(false);
      await accessibleInBoth(page, `the list, ${at}`);
      await page.locator(".run-row", { hasText: "order-1" }).click();
      await expect(page.locator(".run-panel")).toBeInViewport();
      expect(await isWide(), `a run, ${at}`).toBe(false);
      // The panel is narrow on every page, and the playhead is on its line.
      const [flag, line] = [
        page.locator(".run-panel .tl-flag"),
        page.locator(".run-panel .tl-now"),
      ];
      const [of, its] = [(await flag.boundingBox())!, (await line.boundingBox())!];
      expect(its.x >= of.x - 2 && its.x <= of.x + of.width + 2, `the playhead, ${at}`).toBe(true);
      await accessibleInBoth(page, `a run, ${at}`);
    }
  } finally {
    await app.close();
  }
});
