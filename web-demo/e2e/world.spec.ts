// "World" in the room "Live": a hundred patrols with their tables, which continue after reloads and
// killed browsers.
import { Profile } from "./support/shop.ts";
import { expect, test } from "./support/story.ts";
import type { Page } from "@playwright/test";

async function openWorld(page: Page, url: string): Promise<void> {
  await page.goto(`${url}#/live`);
  await page.locator("#live-world").click();
  await page.locator("#open-world").click();
  await expect(page.locator("#world-counts")).toHaveText(/^100 patrols/);
}

/** Clicks a cell of the map with a tool. */
async function use(page: Page, tool: string, x: number, y: number): Promise<void> {
  await page.locator(`.tools input[value=${tool}]`).check();
  const box = (await page.locator("#map").boundingBox())!;
  await page.locator("#map").click({
    position: { x: (x + 0.5) / 48 * box.width, y: (y + 0.5) / 24 * box.height },
  });
}

test("a threat is defeated, a spell is canceled as a group, and a patrol opens in the debugger", async ({ context, site }) => {
  const page = await context.newPage();
  await openWorld(page, site.url);
  const counts = page.locator("#world-counts");
  await use(page, "spell", 24, 12);
  await expect(counts).toHaveText(/[1-9]\d* poisoned/);
  await use(page, "threat", 24, 12);
  await expect(counts).toHaveText(/[1-9]\d* fight/, { timeout: 60_000 });
  await page.locator("#end-spells").click();
  await expect(counts).toHaveText(/ 0 poisoned/);
  await expect(counts).toHaveText(/; 1 threats beaten/, { timeout: 60_000 });
  await expect(page.locator("#world-error")).toHaveCount(0);

  await page.locator(".tools input[value=look]").check();
  for (let n = 0; n < 40 && await page.locator("#entity-title").count() === 0; n++) {
    await page.locator("#map").press("ArrowLeft");
    await page.locator("#map").press("Enter");
  }
  await expect(page.locator("#entity-title")).toHaveText(/^Entity \d+/);
  await page.locator("#world .goods button").first().click();
  await expect(page.locator("h1.run-name")).toHaveText(/Patrol|Poison|Ward/);
});

test("patrols and poison continue after the browser is killed", async ({ site }) => {
  const profile = new Profile();
  try {
    await profile.start();
    const page = await profile.context.newPage();
    await openWorld(page, site.url);
    await use(page, "spell", 24, 12);
    await expect(page.locator("#world-counts")).toHaveText(/[1-9]\d* poisoned/);
    await profile.kill();
    await profile.start();
    const again = await profile.context.newPage();
    await openWorld(again, site.url);
    await expect(again.locator("#world-counts")).toHaveText(/[1-9]\d* poisoned/);
    await again.locator("#end-spells").click();
    await expect(again.locator("#world-counts")).toHaveText(/ 0 poisoned/);
  } finally {
    await profile.remove();
  }
});

test("poison with manual timers waits until its button is pressed, also after a reload", async ({ context, site }) => {
  const page = await context.newPage();
  await openWorld(page, site.url);
  const counts = page.locator("#world-counts");
  await page.locator("#by-hand").check();
  await use(page, "spell", 24, 12);
  await expect(counts).toHaveText(/[1-9]\d* poisoned/);
  await page.reload();
  await openWorld(page, site.url);
  await page.locator(".tools input[value=look]").check();
  // Its target keeps walking: the test inspects the patrols nearby, one after the other.
  const fire = page.getByRole("button", { name: /^Fire timer tick of spell-/ });
  for (let n = 0; n < 60 && await fire.count() === 0; n++) {
    await use(page, "look", 20 + n % 9, 8 + Math.floor(n / 9));
    await page.waitForTimeout(50);
  }
  await fire.first().waitFor();
  const title = await page.locator("#entity-title").innerText();
  const npc = Number(/\d+/.exec(title)![0]);
  expect(npc).toBeGreaterThanOrEqual(0);
  // A tick is one round of the poison: its history grows by one round, and the next timer has a
  // button of the same name.
  const label = await fire.first().getAttribute("aria-label");
  const next = page.getByRole("button", { name: label!, exact: true });
  // The list is drawn again while the entity acts, so the button is found again at each attempt.
  const fired = await next.elementHandle();
  await next.click();
  await fired!.waitForElementState("hidden");
  await expect(next).toBeVisible();
  await expect(page.locator("#world-error")).toHaveCount(0);
  await page.locator("#world .goods li").filter({ has: next }).getByRole("button", {
    name: /debugger/,
  }).click();
  await expect(page.locator("h1.run-name")).toHaveText("Poison");
  await expect(page.locator(".event-row", { hasText: /^timer tick1 s/ })).toHaveCount(2);
});
