// Related runs on one timeline: run after run, children below, and a playhead that crosses the
// boundaries of runs.
import { longChain, recorded, recordedAll } from "./support/chains.ts";
import { type App, expect, test } from "./support/story.ts";

const pieces = (app: App, row = 0) =>
  app.page.locator(`[data-chain="${row}"] > .ch-row [data-piece]`);
const name = (app: App) => app.page.locator(".run-name");
const isIn = async (app: App, file: string, event: number) => {
  await expect(name(app)).toHaveAttribute("title", new RegExp(`from ${file}\\.json$`));
  await app.isAt(event);
};
async function showChain(app: App): Promise<void> {
  await app.page.locator("#chain-switch").getByRole("button", { name: /Chain/ }).click();
  await expect(app.page.locator(".timeline.chain")).toBeVisible();
}

test("the runs of a chain share one axis: playhead and keys cross the boundary, and a click on a bar opens its run", async ({ app }) => {
  const { page } = app;
  await app.start();
  await app.drop(recordedAll("night"));
  await expect(page.locator("#chain-switch")).toContainText("Chain 4");
  await showChain(app);
  await expect(pieces(app)).toHaveCount(4);
  await expect(pieces(app).nth(1).locator("title")).toHaveText(
    /^Night, run 2 of 4: continued as new, continued as new; \d+ events in/,
  );
  // One axis: no run begins before the previous run has ended.
  const boxes = await pieces(app).evaluateAll((all) =>
    all.map((each) => each.getBoundingClientRect()).map(({ left, right }) => [left, right])
  );
  boxes.slice(1).forEach(([left], i) => expect(left!).toBeGreaterThanOrEqual(boxes[i]![1]! - 4));
  await page.locator("#go-start").click();
  await isIn(app, "night-1", 1);
  await page.locator("#playhead").focus();
  const last = Number(
    await page.locator("#position").innerText().then((text) => /of (\d+)/.exec(text)![1]),
  );
  for (let i = 1; i < last; i++) await page.keyboard.press("ArrowRight");
  await isIn(app, "night-1", last);
  await page.keyboard.press("ArrowRight");
  await isIn(app, "night-2", 1);
  await expect(page.locator("#playhead")).toHaveAttribute("aria-valuetext", /^run 2, event 1 of/);
  // The keys and buttons of the run cross the boundary, too. End moves to the end of the chain.
  await page.locator("#main").focus();
  await page.keyboard.press("ArrowLeft");
  await isIn(app, "night-1", last);
  await page.keyboard.press("Shift+ArrowRight");
  await isIn(app, "night-2", 1);
  await page.locator("#go-end").click();
  await expect(name(app)).toHaveAttribute("title", /night-4/);
  await page.locator("#go-start").click();
  await isIn(app, "night-1", 1);
  // A click on an activity's bar in another run opens that run at the start of the activity.
  const bar = page.locator("[data-chain='0'] .k-activity [data-item]").nth(2);
  await bar.click();
  await expect(name(app)).toHaveAttribute("title", /night-3/);
  await expect(page.locator("#thing, .middle, .of-code").first()).toContainText("tidy");
  await expect(page.locator("[data-chain='0'] .tl-shown")).toHaveCount(1);
  await pieces(app).nth(1).click();
  await expect(name(app)).toHaveAttribute("title", /night-2/);
  await expect(pieces(app).nth(1)).toHaveClass(/ch-current/);
  // A drag crosses the boundary.
  const at = (await pieces(app).nth(3).boundingBox())!;
  const flag = (await page.locator("#playhead").boundingBox())!;
  await page.mouse.move(flag.x + flag.width / 2, flag.y + 8);
  await page.mouse.down();
  await page.mouse.move(at.x + at.width / 2, flag.y + 8, { steps: 12 });
  await page.mouse.up();
  await expect(name(app)).toHaveAttribute("title", /night-4/);
  // A reload restores the chain; the key w toggles it.
  await page.reload();
  await expect(page.locator(".timeline.chain")).toBeVisible();
  await expect(pieces(app)).toHaveCount(4);
  await page.locator("#main").focus();
  await page.keyboard.press("w");
  await expect(page.locator(".timeline.chain")).toHaveCount(0);
  await expect(page.locator(".timeline")).toBeVisible();
});

test("a child is a row below its parent and expands to separate lanes; a click opens the child", async ({ app }) => {
  const { page } = app;
  await app.start();
  await app.drop([...recordedAll("night"), recorded("mail-2-1")]);
  await showChain(app);
  const heads = page.getByRole("list", { name: "Runs and their lanes" }).getByRole("button");
  await expect(heads).toHaveText([/Night\s*4/, /Mail/]);
  await expect(heads.nth(0)).toHaveAttribute("aria-expanded", "true");
  await expect(heads.nth(1)).toHaveAttribute("aria-expanded", "false");
  await expect(pieces(app, 1)).toHaveCount(1);
  // The child is drawn at the time when it ran: within the second run of its parent.
  const [parent, child] = [
    (await pieces(app).nth(1).boundingBox())!,
    (await pieces(app, 1).boundingBox())!,
  ];
  expect(child.x).toBeGreaterThan(parent.x);
  expect(child.x + child.width).toBeLessThan(parent.x + parent.width + 4);
  await heads.nth(1).click();
  await expect(page.locator("[data-chain='1'] .tl-lane")).not.toHaveCount(0);
  await heads.nth(1).click();
  await expect(page.locator("[data-chain='1'] .tl-lane")).toHaveCount(0);
  await expect(name(app)).toHaveText("Night");
  await pieces(app, 1).click();
  await expect(name(app)).toHaveText("Mail");
  await expect(heads.nth(1)).toHaveAttribute("aria-expanded", "true");
  await expect(heads.nth(0)).toHaveAttribute("aria-expanded", "true");
});

test("retries, cron runs and resets are labeled, and a reset run starts at its reset point", async ({ app }) => {
  const { page } = app;
  const titles = async () => await pieces(app).locator("title").allTextContents();
  await app.start();
  await app.drop(recordedAll("flaky"));
  await showChain(app);
  await expect(pieces(app)).toHaveCount(3);
  expect((await titles()).map((text) => /: (.*?);/.exec(text)![1])).toEqual([
    "started, failed",
    "attempt 2, failed",
    "attempt 3, completed",
  ]);
  await app.drop(recordedAll("tick"));
  await expect(name(app)).toHaveText("Tick");
  await expect(pieces(app)).toHaveCount(4);
  expect((await titles()).slice(1)).toEqual(
    [/: cron,/, /: cron,/, /: cron,/].map((text) => expect.stringMatching(text)),
  );
  await app.drop(recordedAll("ship"));
  await expect(name(app)).toHaveText("Ship");
  await expect(pieces(app)).toHaveCount(2);
  expect((await titles())[1]).toMatch(/reset, (?:completed|running);/);
  // Events before the reset point belong to the first run: a step back from the first new event
  // leads there.
  await page.locator("#go-end").click();
  await expect(name(app)).toHaveAttribute("title", /ship-2/);
  await page.locator("#playhead").focus();
  for (let i = 0; i < 60 && !/ship-1/.test(await name(app).getAttribute("title") ?? ""); i++) {
    await page.keyboard.press("ArrowLeft");
  }
  await expect(name(app)).toHaveAttribute("title", /ship-1/);
  expect(await app.position()).toBeGreaterThan(4);
  await page.keyboard.press("ArrowRight");
  await expect(name(app)).toHaveAttribute("title", /ship-2/);
  // The run of the reset, which replaced the fourth run.
  expect(await app.position()).toBe(4);
});

test("referenced runs that are not open are counted; at 320 px the chain has a switch and fits", async ({ app }) => {
  const { page } = app;
  await page.setViewportSize({ width: 320, height: 640 });
  await app.start();
  await app.drop([recorded("night-2")]);
  await page.locator("#chain-switch").click();
  await expect(page.locator("#chain-switch")).toHaveAttribute("aria-pressed", "true");
  await expect(page.locator("#chain-note")).toHaveText(
    /^1 run, \d+ events; 3 linked runs are not open: drop their histories here$/,
  );
  await app.drop([recorded("night-1"), recorded("night-3"), recorded("mail-2-1")]);
  await expect(pieces(app)).toHaveCount(3);
  await expect(page.locator("#chain-note")).toContainText("4 runs");
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(320);
  await pieces(app).nth(0).click();
  await expect(name(app)).toHaveAttribute("title", /night-1/);
  await page.locator("#chain-switch").click();
  await expect(page.locator(".timeline.chain")).toHaveCount(0);
});

test("in a chain of fifty runs, a drag over all runs shows each and draws the timeline only once", async ({ app }) => {
  const { page } = app;
  await app.start();
  await app.drop(longChain(50));
  await expect(page.locator("#chain-switch")).toContainText("Chain 50", { timeout: 30_000 });
  await showChain(app);
  await expect(pieces(app)).toHaveCount(50);
  const took = await page.evaluate(async () => {
    const flag = document.querySelector<HTMLElement>("#playhead")!;
    const axis = document.querySelector<HTMLElement>(".tl-axis")!.getBoundingClientRect();
    const frame = () => new Promise(requestAnimationFrame);
    const names = new Set<string>(), drawn = new Set<Node>();
    const observer = new MutationObserver((records) => {
      for (const { addedNodes } of records) for (const node of addedNodes) drawn.add(node);
    });
    const at = (type: string, x: number) =>
      new PointerEvent(type, {
        bubbles: true,
        clientX: x,
        clientY: axis.top + 8,
        button: 0,
        pointerId: 1,
      });
    flag.dispatchEvent(at("pointerdown", axis.left + 190));
    const chain = document.querySelector(".timeline.chain")!;
    observer.observe(chain, { subtree: true, childList: true });
    for (let i = 0; i < 100; i++) {
      dispatchEvent(at("pointermove", axis.left + 190 + (axis.width - 280) * i / 99));
      await frame();
      await frame();
      names.add(document.querySelector(".run-name")!.getAttribute("title")!);
    }
    dispatchEvent(at("pointerup", axis.right));
    return { drawn: drawn.size, isKept: chain.isConnected, runs: names.size };
  });
  expect(took).toEqual({ drawn: 0, isKept: true, runs: 50 });
});
