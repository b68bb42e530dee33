// The frame: a sample opens, is replayed, and is moved in.
import { expect, test } from "./support/story.ts";

test("a sample is opened, replayed and moved in", async ({ app }) => {
  await app.sample("shopping_cart");
  await expect(app.page.locator("#verdict")).toHaveText(/Replays to the end/);
  await app.page.getByRole("button", { name: "One event forward" }).click();
  await app.isAt(2);
});
