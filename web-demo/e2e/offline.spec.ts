// Without a network: the page was opened once, and opens again.
import { expect, sample, test } from "./support/story.ts";

test.use({ serviceWorkers: "allow" });

test("the page opens, and opens histories, without a network", async ({ app, context }) => {
  const { page } = app;
  await app.start();
  await expect(page.getByText("Ready offline")).toBeVisible();
  await page.evaluate(async () => void await navigator.serviceWorker.ready);
  await context.setOffline(true);
  await page.reload();
  await expect(page.locator("#position")).toHaveText(/^Event \d+ of 41/);
  await app.drop([{ name: "billing.json", content: sample("counter").replaceAll("Counter", "Billing") }]);
  await expect(page.locator("h1.run-name")).toHaveText("Billing");
  await app.drop([{ name: "cart.json", content: sample("shopping_cart") }]);
  await app.replayed();
});
