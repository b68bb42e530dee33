// The address contains the position. Back and Forward move between positions. A reload restores the
// state.
import { expect, sample, test } from "./support/story.ts";

const after = async (ms: number) => await new Promise((resolve) => setTimeout(resolve, ms));

test("the address contains run, position and pane; a burst of steps is one history entry", async ({ app }) => {
  const { page } = app;
  await app.sample("shopping_cart", 7);
  await app.isAt(7);
  // After a pause, a step is a separate history entry.
  await after(1200);
  for (let i = 0; i < 5; i++) await page.keyboard.press("ArrowRight");
  await app.isAt(12);
  await expect(page).toHaveURL(/#\/open\?run=sample:shopping_cart&e=12$/);
  await page.goBack();
  await app.isAt(7);
  await page.goForward();
  await app.isAt(12);
});

test("a reload restores the open runs, the current run and its position, in this browser only", async ({ app, watch }) => {
  const { page } = app;
  await app.start();
  await app.drop([
    { name: "mine.json", content: sample("counter").replaceAll("Counter", "Billing") },
    { name: "cart.json", content: sample("shopping_cart") },
  ]);
  await expect(page.locator("#opened-runs")).toHaveAttribute("aria-label", "Opened runs: 2");
  await page.locator("#go-start").click();
  await page.keyboard.press("ArrowRight");
  await app.isAt(2);
  await expect(page).toHaveURL(/run=[0-9a-f]{16}&e=2$/);
  watch.requests.length = 0;
  await page.reload();
  await expect(page.locator("h1.run-name")).toHaveText("Billing");
  await app.isAt(2);
  await expect(page.locator("#opened-runs")).toHaveAttribute("aria-label", "Opened runs: 2");
  expect(watch.requests.filter((url) => url.includes("mine")), "it came from this browser").toEqual(
    [],
  );
});

test("a link to a history that this browser does not have shows what to do", async ({ app }) => {
  await app.start("#/open?run=0123456789abcdef&e=3");
  await expect(app.page.locator(".notice")).toHaveText(
    /is not in this browser.*Open the file again/,
  );
});

test("rooms have addresses, and Back returns to the previous room", async ({ app }) => {
  const { page } = app;
  await app.sample("counter");
  await page.locator("#room-runs").click();
  await expect(page).toHaveURL(/#\/runs/);
  await expect(page.locator("#room-runs")).toHaveAttribute("aria-current", "page");
  await page.goBack();
  await expect(page.locator("h1.run-name")).toHaveText("Counter");
});
