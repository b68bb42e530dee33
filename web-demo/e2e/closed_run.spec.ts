// A closed run without code opens at its end, with its failure or result and the story of the run.
import { expect, test } from "./support/story.ts";

const START = Date.UTC(2026, 10, 3, 9);
type Loose = { readonly [field: string]: unknown };

/** A history from pairs of a second and an event. */
function historyOf(...events: readonly (readonly [number, string, Loose])[]): string {
  return JSON.stringify({
    events: events.map(([second, type, attributes], i) => ({
      eventId: String(i + 1),
      eventTime: new Date(START + second * 1000).toISOString(),
      eventType: `EVENT_TYPE_${type}`,
      [
        `${
          type.toLowerCase().replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
        }EventAttributes`
      ]: attributes,
    })),
  });
}

const seats = { message: "no seats", applicationFailureInfo: { type: "NoSeatsError" } };
const kid = { workflowId: "trip-1-notify", runId: "kid" };

const failed = (): string =>
  historyOf(
    [0, "WORKFLOW_EXECUTION_STARTED", {
      workflowType: { name: "Trip" },
      workflowId: "trip-1",
      originalExecutionRunId: "first",
    }],
    [1, "ACTIVITY_TASK_SCHEDULED", { activityId: "1", activityType: { name: "book" } }],
    [2, "ACTIVITY_TASK_STARTED", { scheduledEventId: "2", attempt: 4 }],
    [40, "ACTIVITY_TASK_FAILED", {
      scheduledEventId: "2",
      startedEventId: "3",
      failure: { message: "activity error", cause: seats },
    }],
    [41, "START_CHILD_WORKFLOW_EXECUTION_INITIATED", {
      workflowId: kid.workflowId,
      workflowType: { name: "Notify" },
    }],
    [42, "CHILD_WORKFLOW_EXECUTION_STARTED", {
      initiatedEventId: "5",
      workflowExecution: kid,
      workflowType: { name: "Notify" },
    }],
    [44, "WORKFLOW_EXECUTION_FAILED", {
      failure: { message: "booking failed", cause: seats },
      newExecutionRunId: "second",
    }],
  );

const retry = (): string =>
  historyOf([45, "WORKFLOW_EXECUTION_STARTED", {
    workflowType: { name: "Trip" },
    workflowId: "trip-1",
    originalExecutionRunId: "second",
    continuedExecutionRunId: "first",
    attempt: 2,
  }], [46, "WORKFLOW_TASK_SCHEDULED", {}]);

const child = (): string =>
  historyOf([42, "WORKFLOW_EXECUTION_STARTED", {
    workflowType: { name: "Notify" },
    workflowId: kid.workflowId,
    originalExecutionRunId: kid.runId,
    parentWorkflowExecution: { workflowId: "trip-1", runId: "first" },
  }], [43, "WORKFLOW_TASK_SCHEDULED", {}]);

test("a failed run opens at its end with its story, its failure chain and solid bars", async ({ app }) => {
  const { page } = app;
  await app.start();
  await app.drop([{ name: "trip.json", content: failed() }]);
  await app.isAt(7);
  const thing = page.locator("#thing");
  await expect(thing.locator(".thing-end")).toHaveText("failed");
  const sentences = thing.locator("#findings > .findings li");
  await expect(sentences.first()).toContainText("Trip ended after 44 s: 1 activity and 1 child");
  await expect(sentences.nth(1)).toContainText(
    "The run failed with booking failed, caused by NoSeatsError: no seats",
  );
  await expect(sentences.filter({ hasText: "book failed 4 times" })).toHaveCount(1);
  expect(await sentences.count()).toBeLessThanOrEqual(5);
  await expect(thing.locator(".failure")).toContainText("NoSeatsError");
  await expect(page.locator(".tl-svg .tl-ink").first()).toBeAttached();
  // Recorded bars stay solid before and after the position.
  await page.locator("#go-start").click();
  await app.isAt(1);
  await expect(page.locator(".tl-svg .tl-pencil")).toHaveCount(0);
  await expect(thing.locator("#findings")).toContainText("What happened");
});

test("the child, the retry and the failed run open from each other with one click", async ({ app }) => {
  const { page } = app;
  await app.start();
  await app.drop([
    { name: "trip.json", content: failed() },
    { name: "retry.json", content: retry() },
    { name: "child.json", content: child() },
  ]);
  await expect(page.locator("#opened-runs")).toHaveAccessibleName("Opened runs: 3");
  await app.isAt(7);
  await page.locator("#findings").getByRole("button", { name: "Retried as" }).click();
  await app.isAt(2);
  await page.locator("#findings").getByRole("button", { name: "Previous run" }).click();
  await app.isAt(7);
  await page.locator("[role=row]", { hasText: "Notify" }).click();
  await page.getByRole("button", { name: "Open child run" }).click();
  await expect(page.locator("h1")).toHaveText("Notify");
  await page.locator("#findings").getByRole("button", { name: "Parent" }).click();
  await expect(page.locator("h1")).toHaveText("Trip");
});
