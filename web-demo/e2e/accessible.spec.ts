// Accessibility: axe-core finds no problem in the rooms, light and dark, wide and narrow; Tab
// visits all controls in visual order.
import { accessibleInBoth } from "./support/axe.ts";
import { expect, sample, test } from "./support/story.ts";

for (const width of [1440, 320]) {
  test(`axe-core finds nothing in light and dark colors: ${width} px`, async ({ app }) => {
    const { page } = app;
    await page.setViewportSize({ width, height: width === 320 ? 780 : 900 });
    await app.start();
    await app.isAt(25);
    await accessibleInBoth(page, "first screen");
    await app.sample("shopping_cart", 25);
    for (const pane of ["Code", "Events", "Why, state"]) {
      if (width === 320) await page.getByRole("tab", { name: pane }).click();
      await accessibleInBoth(page, `a run, ${pane}`);
      if (width !== 320) break;
    }
    await page.locator("#show-keys").click();
    await accessibleInBoth(page, "the sheet of keys");
    await page.keyboard.press("Escape");
    await app.sample("shopping_cart_diverged", 24);
    await accessibleInBoth(page, "a divergence");
    await app.drop([
      { name: "billing.json", content: sample("counter").replaceAll("Counter", "Billing") },
      { name: "broken.json", content: "{" },
    ]);
    await expect(page.locator("h1.run-name")).toHaveText("Billing");
    await expect(page.locator(".notice")).toHaveText(/broken/);
    await accessibleInBoth(page, "no code, a message");
    await page.locator("#room-runs").click();
    await accessibleInBoth(page, "runs");
    await page.locator("#room-live").click();
    await page.locator("#shop[data-ready]").waitFor();
    await accessibleInBoth(page, "live");
  });
}

test("no element is wider than a narrow screen", async ({ app }) => {
  const { page } = app;
  await page.setViewportSize({ width: 320, height: 780 });
  const isWide = () => page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
  await app.start();
  expect(await isWide()).toBe(false);
  await app.sample("shopping_cart", 19);
  expect(await isWide()).toBe(false);
  await expect(page.locator(".strip")).toBeVisible();
  const transport = (await page.locator(".transport").boundingBox())!;
  expect(Math.round(transport.y + transport.height), "the transport is at the bottom").toBe(780);
  await page.getByRole("tab", { name: "Events" }).click();
  await expect(page.locator("[role=row][aria-selected=true]")).toBeInViewport();
  await expect(page).toHaveURL(/pane=events/);
  await page.getByRole("tab", { name: "Events" }).press("ArrowRight");
  await expect(page.getByRole("tab", { name: "Why, state" })).toBeFocused();
  await expect(page.locator(".of-why")).toBeVisible();
});

test("Tab visits the controls of the page in visual order", async ({ app }) => {
  const { page } = app;
  await app.sample("shopping_cart", 19);
  await page.evaluate(() => (document.activeElement as HTMLElement).blur());
  const stops: string[] = [];
  for (let i = 0; i < 80 && !stops.includes("events"); i++) {
    await page.keyboard.press("Tab");
    stops.push(
      await page.evaluate(() =>
        document.activeElement?.id || document.activeElement?.className || ""
      ),
    );
  }
  const order = [
    "skip",
    "room-open",
    "room-runs",
    "room-live",
    "opened-runs",
    "show-keys",
    "go-start",
    "play",
    "go-end",
    "search",
    "events",
  ];
  expect(stops.filter((stop) => order.includes(stop))).toEqual(order);
});
