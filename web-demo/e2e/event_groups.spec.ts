// Event groups of programs of `@temporalio/workflow`: each item of a group has a chip, and list and
// timeline filter by group.
// takes: 10 s
import { accessible } from "./support/axe.ts";
import { SHIPMENT, shipped } from "./support/shipment.ts";
import { permit } from "./support/programs.ts";
import { expect, sample, test } from "./support/story.ts";

test("items have chips for their groups; a selected group hides the others and can be cleared", async ({ app }) => {
  const { page } = app;
  await app.start();
  await app.drop([{ name: "shipment-ada.json", content: await shipped() }]);
  const rows = page.locator("#events [role=row]:not(.task)");
  const chips = page.locator("#events .group-chip");
  await expect(rows.filter({ hasText: "charge" }).locator(".group-chip")).toHaveText("Billing");
  await expect(chips.filter({ hasText: "Shipping" })).toHaveCount(5);
  const all = await rows.count();
  await accessible(page, "with groups");

  await page.locator("#event-group").selectOption({ label: "Shipping (5)" });
  await expect(rows).toHaveCount(5);
  await expect(page.locator(".tl-others")).not.toHaveCount(0);
  await expect(page.locator(".tl-item:not(.tl-others)", { hasText: "charge" })).toHaveCount(0);
  await page.getByRole("button", { name: "Show all items" }).click();
  await expect(rows).toHaveCount(all);
  await expect(page.locator(".tl-others")).toHaveCount(0);

  // Operations of a handler are in the group of its message.
  await chips.filter({ hasText: "arrived" }).first().click();
  await expect(rows).toHaveCount(2);
  await expect(page.locator("#event-group option:checked")).toHaveText(
    /^signal arrived, event \d+ \(2\)$/,
  );
  await chips.first().click();
  await expect(rows).toHaveCount(all);

  await app.drop([{ name: "workflows.ts", content: SHIPMENT }]);
  await permit(app);
  await app.replayed();
  await rows.filter({ hasText: "charge" }).click();
  await expect(page.locator("#thing .group-chip")).toHaveText("Billing");
});

test("a history without groups has no group filter", async ({ app }) => {
  await app.start();
  await app.drop([{
    name: "counter.json",
    content: sample("counter").replaceAll('"Counter"', '"Tally"'),
  }]);
  await expect(app.page.locator("#events [role=row]").first()).toBeVisible();
  await expect(app.page.locator("#event-group, .group-chip")).toHaveCount(0);
});
