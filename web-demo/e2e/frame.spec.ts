// The frame of the page: a sample opens, is replayed, and responds to navigation.
import { expect, test } from "./support/story.ts";

test("a sample opens, is replayed, and responds to navigation", async ({ app }) => {
  await app.sample("shopping_cart");
  await expect(app.page.locator("#verdict")).toHaveText(/Replays to the end/);
  await app.page.getByRole("button", { name: "One event forward" }).click();
  await app.isAt(2);
});
