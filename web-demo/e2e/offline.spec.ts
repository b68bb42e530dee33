// Offline: a page that was loaded once loads again without a network.
import { expect, sample, test } from "./support/story.ts";
import { ownProgram, permit } from "./support/programs.ts";

test.use({ serviceWorkers: "allow" });

test("offline, the page loads and opens histories, also with an empty browser cache", async ({ app }) => {
  const { page } = app, context = page.context();
  await app.start();
  await expect(page.getByText("Ready offline")).toBeVisible();
  await page.evaluate(async () => void await navigator.serviceWorker.ready);
  await (await context.newCDPSession(page)).send("Network.clearBrowserCache");
  await context.setOffline(true);
  await page.reload();
  await expect(page.locator("#position")).toHaveText(/^Event \d+ of 41/);
  await app.drop([{
    name: "billing.json",
    content: sample("counter").replaceAll("Counter", "Billing"),
  }]);
  await expect(page.locator("h1.run-name")).toHaveText("Billing");
  await app.drop([{ name: "cart.json", content: sample("shopping_cart") }]);
  await app.replayed();
});

test("offline, code runs in its sandbox, also with an empty browser cache", async ({ app }) => {
  const { page } = app, context = page.context();
  await app.start();
  await expect(page.getByText("Ready offline")).toBeVisible();
  await page.evaluate(async () => void await navigator.serviceWorker.ready);
  await (await context.newCDPSession(page)).send("Network.clearBrowserCache");
  await context.setOffline(true);
  await page.reload();
  const { history, code } = ownProgram();
  await app.drop([{ name: "tally.json", content: history }]);
  await expect(page.locator("#verdict")).toHaveText(/No code/);
  await app.drop([{ name: "tally.ts", content: code }]);
  await permit(app);
  await expect(page.locator("#verdict")).toHaveText(/Replays/);
  // Offline, the frame's origin is opaque as well.
  const frames = await page.locator("iframe").evaluateAll((all) =>
    (all as HTMLIFrameElement[]).map((
      frame,
    ) => [frame.contentDocument, frame.getAttribute("sandbox")])
  );
  expect(frames.length).toBeGreaterThan(0);
  for (const frame of frames) expect(frame).toEqual([null, "allow-scripts"]);
});
