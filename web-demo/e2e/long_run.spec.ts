// A long run next to its code: a step changes few elements at any position, and lists are rendered
// in parts.
import { expect, test } from "./support/story.ts";

const { tallyCode, tallyHistory } = await import(
  new URL("../bench/lib/tally.mjs", import.meta.url).href
) as {
  tallyCode(): string;
  tallyHistory(events: number): string;
};

const EVENTS = 8001;
const MESSAGES = EVENTS / 4 | 0;

test("the page renders five of two thousand messages, then a hundred, and a step changes few elements", async ({ app }) => {
  await app.start();
  await app.drop([{ name: "tally.json", content: tallyHistory(EVENTS) }]);
  await expect(app.page.locator("#position")).toContainText("of 8,001");
  await app.drop([{ name: "tally.ts", content: tallyCode() }]);
  await app.page.getByRole("button", { name: "Show what will run" }).click();
  await app.page.getByRole("button", { name: "Run code" }).click();
  await expect(app.page.locator("#verdict")).toContainText("Replays");
  const messages = app.page.locator("#messages");
  await expect(messages.locator("h3")).toContainText(MESSAGES.toLocaleString("en-US"));
  await expect(messages.locator("li")).toHaveCount(5);
  // The newest messages, oldest first.
  await expect(messages.locator("li").last().locator("button")).toHaveAttribute(
    "title",
    /event 8001$/,
  );

  // DOM nodes that steps back insert, remove or change. Coverage, hits and state change with a
  // step; other lines do not.
  const touched = await app.page.evaluate(async () => {
    const nodes = new Set<Node>();
    const observer = new MutationObserver((records) => {
      for (const { target, addedNodes, removedNodes } of records) {
        for (const node of [target, ...addedNodes, ...removedNodes]) nodes.add(node);
      }
    });
    document.querySelector<HTMLElement>("#main")!.focus();
    const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    await frame();
    observer.observe(document.querySelector("#main")!, {
      subtree: true,
      childList: true,
      characterData: true,
      attributes: true,
    });
    const counts: number[] = [];
    for (let i = 0; i < 5; i++) {
      document.querySelector("#main")!.dispatchEvent(
        new KeyboardEvent("keydown", { key: "ArrowLeft", bubbles: true }),
      );
      await frame();
      counts.push(nodes.size);
      nodes.clear();
    }
    return counts;
  });
  expect(Math.min(...touched)).toBeGreaterThan(0);
  expect(Math.max(...touched)).toBeLessThan(200);

  await messages.getByRole("button", { name: /^Show earlier/ }).click();
  await expect(messages.locator("li")).toHaveCount(100);
  await messages.getByRole("button", { name: /^Show earlier/ }).click();
  await expect(messages.locator("li")).toHaveCount(1100);
  await messages.getByRole("button", { name: "Show newest only" }).click();
  await expect(messages.locator("li")).toHaveCount(5);
});
