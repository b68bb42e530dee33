// Related runs: continued as new, retried, reset, a child. The page relates them by run ids,
// whichever history has the link.
import { expect, test } from "./support/story.ts";

type Loose = { readonly [field: string]: unknown };
function history(
  started: Loose,
  ...more: readonly (readonly [type: string, attributes: Loose])[]
): string {
  const events = [["WORKFLOW_EXECUTION_STARTED", started] as const, ...more].map((
    [type, attributes],
    i,
  ) => ({
    eventId: String(i + 1),
    eventTime: "2026-11-03T09:00:00Z",
    eventType: `EVENT_TYPE_${type}`,
    [
      `${
        type.toLowerCase().replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
      }EventAttributes`
    ]: attributes,
  }));
  return JSON.stringify({ events });
}
const run = (name: string, runId: string, more: Loose = {}) => ({
  ...{
    workflowType: { name },
    workflowId: name.toLowerCase(),
    originalExecutionRunId: runId,
    firstExecutionRunId: "one",
  },
  ...more,
});

test("keys move along a chain of runs and to parent and child; the list names each relation", async ({ app }) => {
  const { page } = app;
  const next = (newExecutionRunId: string) => ({
    newExecutionRunId,
    workflowType: { name: "Night" },
  });
  const child = {
    ...{ initiatedEventId: "0", workflowType: { name: "Mail" } },
    workflowExecution: { workflowId: "mail", runId: "kid" },
  };
  await app.start();
  await app.drop([
    // Its history does not name the previous run; the previous run names it.
    {
      name: "two.json",
      content: history(run("Night", "two"), ["CHILD_WORKFLOW_EXECUTION_STARTED", child]),
    },
    {
      name: "one.json",
      content: history(run("Night", "one"), ["WORKFLOW_EXECUTION_CONTINUED_AS_NEW", next("two")]),
    },
    { name: "mail.json", content: history(run("Mail", "kid")) },
    { name: "other.json", content: history(run("Other", "o")) },
  ]);
  const name = page.locator(".run-name");
  await expect(page.locator("#opened-runs")).toHaveAccessibleName("Opened runs: 4");
  await expect(name).toHaveAttribute("title", /two\.json/);
  await page.locator("#opened-runs").click();
  await expect(page.locator("#runs-menu li", { hasText: "one.json" })).toContainText(
    "previous run of this chain",
  );
  await expect(page.locator("#runs-menu li", { hasText: "mail.json" })).toContainText(
    "child of this run",
  );
  await expect(page.locator("#runs-menu li", { hasText: "other.json" })).not.toContainText(
    /this (?:run|chain)/,
  );
  await page.keyboard.press("Escape");
  await page.locator("#main").focus();
  await page.keyboard.press("<");
  await expect(name).toHaveAttribute("title", /one\.json/);
  await page.keyboard.press("<");
  await page.keyboard.press(">");
  await expect(name).toHaveAttribute("title", /two\.json/);
  await page.keyboard.press("_");
  await expect(name).toHaveAttribute("title", /mail\.json/);
  await page.keyboard.press("^");
  await expect(name).toHaveAttribute("title", /two\.json/);
});
