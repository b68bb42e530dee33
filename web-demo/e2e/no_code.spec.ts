// Panes for a run of any SDK without its code.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "./support/story.ts";

const START = Date.UTC(2026, 10, 3, 9);
const json = (value: unknown) => ({
  payloads: [{ metadata: { encoding: btoa("json/plain") }, data: btoa(JSON.stringify(value)) }],
});
type Loose = { readonly [field: string]: unknown };

/**
 * A history of the Go SDK: a timer that never fires, a slow approval, a flight that fails four
 * times.
 */
function trip(): string {
  const events: Loose[] = [];
  const add = (at: number, type: string, attributes: Loose = {}): string => {
    const field = `${
      type.toLowerCase().replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
    }EventAttributes`;
    const eventId = String(events.length + 1);
    const eventTime = new Date(START + at * 1000).toISOString();
    events.push({ eventId, eventTime, eventType: `EVENT_TYPE_${type}`, [field]: attributes });
    return eventId;
  };
  const task = (at: number) => {
    const scheduledEventId = add(at, "WORKFLOW_TASK_SCHEDULED");
    const startedEventId = add(at, "WORKFLOW_TASK_STARTED", { scheduledEventId });
    const sdkMetadata = { sdkName: "temporal-go", sdkVersion: "1.28.1" };
    add(at, "WORKFLOW_TASK_COMPLETED", {
      scheduledEventId,
      startedEventId,
      identity: "19@booking",
      sdkMetadata,
    });
  };
  const workflowType = { name: "TripBooking" };
  add(0, "WORKFLOW_EXECUTION_STARTED", {
    workflowType,
    workflowId: "trip-1",
    taskQueue: { name: "trips" },
    input: json("LIS"),
  });
  task(0);
  const startedEventId = add(1, "TIMER_STARTED", { timerId: "7", startToFireTimeout: "86400s" });
  add(7000, "WORKFLOW_EXECUTION_SIGNALED", { signalName: "approve", input: json("marta") });
  task(7000);
  add(7000, "TIMER_CANCELED", { timerId: "7", startedEventId });
  const scheduledEventId = add(7000, "ACTIVITY_TASK_SCHEDULED", {
    activityId: "11",
    activityType: { name: "BookFlight" },
    input: json({ to: "LIS" }),
    retryPolicy: { initialInterval: "2.5s", backoffCoefficient: 2 },
  });
  const started = add(7034, "ACTIVITY_TASK_STARTED", { scheduledEventId, attempt: 4 });
  const cause = { message: "no seats", applicationFailureInfo: { type: "NoSeatsError" } };
  add(7041, "ACTIVITY_TASK_FAILED", {
    scheduledEventId,
    startedEventId: started,
    failure: { message: "activity error", cause },
  });
  task(7041);
  const initiatedEventId = add(7042, "START_CHILD_WORKFLOW_EXECUTION_INITIATED", {
    workflowId: "trip-1-notify",
    workflowType: { name: "Notify" },
  });
  add(7043, "CHILD_WORKFLOW_EXECUTION_STARTED", {
    initiatedEventId,
    workflowExecution: { workflowId: "trip-1-notify", runId: "kid" },
    workflowType: { name: "Notify" },
  });
  return JSON.stringify({ events });
}

test("a failed activity shows attempts, input, failure, cause and result", async ({ app }) => {
  const { page } = app;
  await app.start();
  await app.drop([{ name: "trip.json", content: trip() }]);
  // An open run is shown at its last event.
  await app.isAt(18);
  await page.locator("[role=row]", { hasText: "BookFlight" }).click();
  const thing = page.locator("#thing");
  await expect(thing.locator("h2")).toHaveText("BookFlight");
  await expect(page.locator("#tries tbody tr")).toHaveCount(4);
  await expect(page.locator("#tries tbody tr").nth(1)).toContainText("about 1:56:");
  await expect(page.locator("#tries tbody tr").nth(1)).toContainText("2.5 s");
  await expect(page.locator("#tries tbody tr").nth(3)).toContainText("NoSeatsError no seats");
  await expect(thing).toContainText("Started in task 2, after approve.");
  await expect(thing).toContainText("Then task 3 led to Notify.");
  await thing.getByRole("button", { name: "Next event", exact: true }).click();
  await app.isAt(12);
  await expect(thing.locator("h2")).toHaveText("BookFlight");
  await thing.getByRole("button", { name: "Show all, event 13" }).click();
  await expect(thing.getByRole("tree", { name: "Event 13" })).toContainText("NoSeatsError");
});

test("the summary of a run shows its time, findings, open operations, limits and related runs", async ({ app }) => {
  const { page } = app;
  await app.start();
  await app.drop([{ name: "trip.json", content: trip() }]);
  await app.isAt(18);
  await page.locator("#go-start").click();
  await expect(page.locator("#thing .summary tbody tr").first()).toContainText("timer 1 d");
  await expect(page.locator("#findings")).toContainText(
    "BookFlight failed 4 times in 41 s. Only the last failure is recorded: no seats",
  );
  await expect(page.locator("#findings")).toContainText("The 1 d timer never fired");
  await expect(page.locator("#open-code")).toContainText("this run is from a Go worker");
  await expect(page.locator("#limits")).toContainText("18 of 51,200");
  await expect(page.locator("#links")).toContainText("Child: Notify trip-1-notify");
  await expect(page.locator("#open-now")).toContainText("No activity, timer or child");
  await page.locator("#findings").getByRole("button", { name: "event 13" }).click();
  await app.isAt(13);
  await page.locator("#go-end").click();
  await expect(page.locator("#open-now")).toContainText("Notify");
});

test("a run links to a related run that is open", async ({ app }) => {
  const { page } = app;
  const kid = [{
    eventId: "1",
    eventTime: new Date(START).toISOString(),
    eventType: "EVENT_TYPE_WORKFLOW_EXECUTION_STARTED",
    workflowExecutionStartedEventAttributes: {
      workflowType: { name: "Notify" },
      workflowId: "trip-1-notify",
      originalExecutionRunId: "kid",
      parentWorkflowExecution: { workflowId: "trip-1", runId: "r" },
    },
  }];
  await app.start();
  await app.drop([{ name: "kid.json", content: JSON.stringify({ events: kid }) }]);
  await expect(page.locator("h1")).toHaveText("Notify");
  await app.drop([{ name: "trip.json", content: trip() }]);
  await expect(page.locator("h1")).toHaveText("TripBooking");
  await page.locator("#links button", { hasText: "Notify" }).click();
  await expect(page.locator("h1")).toHaveText("Notify");
});

const folder = "../shared/fixtures/histories";

test("histories of every SDK can be opened without code", async ({ app }) => {
  test.skip(!existsSync(folder), `${folder} is not next to this project`);
  const { page } = app;
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
    /[/\\].*\.json$/.test(name)
  );
  await app.start();
  await app.drop(
    files.map((name) => ({
      name: name.replaceAll(/[/\\]/g, " "),
      content: readFileSync(join(folder, name)),
    })),
  );
  // Two of the files are equal.
  const different = new Set(files.map((name) => readFileSync(join(folder, name), "base64"))).size;
  await expect(page.locator("#opened-runs")).toHaveAccessibleName(`Opened runs: ${different}`);
  await expect(page.locator("#thing h2")).not.toBeEmpty();
});
