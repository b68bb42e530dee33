// The console of `temporalex ui` over a store: start, published state, activities, call stack,
// columns, saved views, batch operations, task queues.
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Page } from "@playwright/test";
import { cronText } from "../src/runs/schedule_text.ts";
import { accessible } from "./support/axe.ts";
import { expect, type Place, test } from "./support/command.ts";

const built = async (path: string) =>
  await import(
    pathToFileURL(fileURLToPath(new URL(`../../dist/ts/${path}`, import.meta.url))).href
  );

/** A store with a worker for orders, and for deliveries whose activity fails and then beats. */
async function store(place: Place) {
  const [
    { open },
    {
      activities,
      defineSearchAttributeKey,
      noreply,
      on,
      publishState,
      receive,
      reply,
      signal,
      stop,
      update,
      upsertSearchAttributes,
      workflow,
    },
    { activityContext, activityInfo },
  ] = await Promise.all([
    built("mod.js"),
    built("workflow/mod.js"),
    built("activity/mod.js"),
  ]);
  const add = update("add_item");
  const note = signal("note");
  const done = signal("done");
  const customerKey = defineSearchAttributeKey("Customer", "KEYWORD");
  const order = workflow("Order", {
    messages: { add, note, done },
    run: async (customer: string) => {
      upsertSearchAttributes([{ key: customerKey, value: customer }]);
      publishState({ items: [] });
      return await receive([], [
        on(add, ([sku]: [string], list: string[]) => {
          const items = [...list, sku];
          publishState({ items });
          return reply(items.length, items);
        }),
        on(note, (_: unknown, list: string[]) => noreply(list)),
        on(done, (_: unknown, list: string[]) => stop(list)),
      ]);
    },
  });
  const acts = activities({
    startToClose: "5m",
    heartbeat: "2m",
    retry: { initialInterval: 20, maximumAttempts: 7 },
  });
  const delivery = workflow("Delivery", () => acts.drive("LIS"));
  const ending = new AbortController();
  const drive = async () => {
    if (activityInfo().attempt === 1) throw new Error("no driver for LIS");
    activityContext().heartbeat({ stop: "Coimbra" });
    await new Promise<void>((resolve) => ending.signal.addEventListener("abort", () => resolve()));
    return "delivered";
  };
  // deno-lint-ignore no-explicit-any
  const app: any = await open({
    path: join(place.cwd, "shop.sqlite"),
    workflows: [order, delivery],
    activities: { drive },
    logger: { debug() {}, info() {}, warn() {}, error() {} },
  });
  return {
    app,
    order: async (id: string, customer = "ada") =>
      await app.client.start(order, { id, args: [customer] }),
    deliver: async (id: string) => await app.client.start(delivery, { id, args: [] }),
    close: async () => {
      ending.abort();
      await app.close();
    },
  };
}

const ARGS = ["ui", "--store", "shop.sqlite", "--port", "0", "--no-open", "--json"];
const rowOf = (page: Page, id: string) =>
  page.locator(".run-row:not(.head)").filter({ hasText: id });

test("a run is started from known types; its published state changes live; signal-with-start, call stack", async ({ place, visit }) => {
  const { order, close } = await store(place);
  try {
    await order("order-1");
    const { url } = await place.start(ARGS).line(({ event }) => event === "started");
    const { page } = await visit(url);
    await expect(rowOf(page, "order-1")).toBeVisible();
    await page.getByRole("button", { name: "Start a run…" }).click();
    const dialog = page.locator("#start-run");
    await dialog.getByLabel("Workflow type").fill("Order");
    await expect(dialog.getByLabel("Task queue")).not.toHaveValue("");
    await dialog.getByLabel("Workflow id").fill("order-2");
    await dialog.getByLabel("Arguments", { exact: false }).first().fill("grace");
    await dialog.getByRole("button", { name: "Start", exact: true }).click();
    await expect(dialog.getByRole("alert")).toContainText('quote string values: "PEN-2"');
    await dialog.getByLabel("Arguments", { exact: false }).first().fill('"grace"');
    await accessible(page, "the dialog that starts a run");
    await dialog.getByRole("button", { name: "Start", exact: true }).click();
    const panel = page.locator(".run-panel");
    await expect(panel.locator("h2")).toHaveText("order-2");
    await expect(panel.locator("#shown-state")).toContainText("items");
    await panel.getByRole("button", { name: "add_item" }).click();
    await panel.getByLabel("Arguments").fill('"BOOK-1"');
    await panel.getByRole("button", { name: "Send add_item" }).click();
    await expect(panel.locator(".said")).toHaveText("1");
    await expect(panel.locator("#shown-state")).toContainText("BOOK-1");
    await expect(panel.locator(".tl-until-text")).toHaveText("now");
    await panel.getByRole("button", { name: "Show call stack" }).click();
    await expect(panel.locator(".call-stack pre")).toContainText("receive");
    // Text for one message does not stay in the form of another.
    await panel.getByRole("button", { name: "note", exact: true }).click();
    await expect(panel.getByLabel("Arguments")).toHaveValue("");

    await page.getByRole("button", { name: "Start a run…" }).click();
    await dialog.getByLabel("Workflow type").fill("Order");
    await dialog.getByLabel("Workflow id").fill("order-3");
    await dialog.getByLabel("Arguments", { exact: false }).first().fill('"lin"');
    await dialog.getByLabel("Send a signal", { exact: false }).check();
    await expect(dialog.locator(".hint", { hasText: "declared" })).toContainText("done");
    await dialog.getByLabel("Signal", { exact: false }).nth(1).fill("done");
    await dialog.getByRole("button", { name: "Signal with start" }).click();
    await expect(rowOf(page, "order-3")).toContainText("Completed");
    await page.getByRole("button", { name: "Start a run…" }).click();
    await dialog.getByLabel("Workflow type").fill("Order");
    await dialog.getByLabel("Task queue").fill("unpolled");
    await expect(dialog.getByRole("status")).toContainText("No worker polls unpolled");
    await page.keyboard.press("Escape");
    await expect(dialog).toBeHidden();
  } finally {
    await close();
  }
});

test("a pending activity shows attempts, last failure and heartbeat; task queues show their workers; both without findings of axe", async ({ place, visit }) => {
  const { deliver, close } = await store(place);
  try {
    await deliver("delivery-1");
    const { url } = await place.start(ARGS).line(({ event }) => event === "started");
    const { page } = await visit(url);
    await rowOf(page, "delivery-1").click();
    const activities = page.locator(".run-panel .activities");
    await expect(activities).toContainText("2 of 7");
    await expect(activities).toContainText("no driver for LIS");
    await expect(activities).toContainText("Coimbra");
    await accessible(page, "the panel with an activity");
    await page.getByRole("link", { name: "Task queues" }).click();
    const queue = page.locator(".queue").first();
    await expect(queue).toContainText("1 worker");
    await expect(queue.locator("tbody tr")).toContainText("workflow tasks");
    await page.getByLabel("Name of a task queue").fill("unpolled");
    await page.keyboard.press("Enter");
    await expect(page.getByRole("region", { name: "Task queue unpolled" })).toContainText(
      "No worker polls this queue",
    );
    await accessible(page, "the task queues");
    await expect(page).toHaveURL(/view=queues/);
    await page.reload();
    await expect(queue).toContainText("1 worker");
  } finally {
    await close();
  }
});

test("search attributes become columns, filters are saved as views, and a batch ends the runs of a filter", async ({ place, visit }) => {
  const { app, order, close } = await store(place);
  try {
    for (const [id, customer] of [["order-1", "ada"], ["order-2", "lin"], ["parcel-1", "lin"]]) {
      await order(id!, customer);
    }
    const { url } = await place.start(ARGS).line(({ event }) => event === "started");
    const { page } = await visit(url);
    await expect(rowOf(page, "parcel-1")).toBeVisible();
    await page.getByRole("button", { name: "Columns…" }).click();
    const columns = page.locator("#choose-columns");
    await columns.getByLabel("Customer").check();
    await columns.getByLabel("Events").uncheck();
    await accessible(page, "the dialog of columns");
    await columns.getByRole("button", { name: "Done" }).click();
    await expect(page.getByRole("columnheader", { name: "Customer" })).toBeVisible();
    await expect(page.getByRole("columnheader", { name: "Events" })).toHaveCount(0);
    await expect(rowOf(page, "order-2")).toContainText("lin");
    const field = page.locator("#runs-query");
    await field.fill("order");
    await page.keyboard.press("Enter");
    await expect(rowOf(page, "parcel-1")).toHaveCount(0);
    await page.getByRole("button", { name: "Save view…" }).click();
    await page.locator("#save-view").getByLabel("Name").fill("orders");
    await page.locator("#save-view").getByRole("button", { name: "Save" }).click();
    await field.fill("");
    await page.keyboard.press("Enter");
    await expect(rowOf(page, "parcel-1")).toHaveCount(1);
    await page.reload();
    await page.getByLabel("Saved view").selectOption("orders");
    await expect(field).toHaveValue("order");
    await expect(rowOf(page, "parcel-1")).toHaveCount(0);
    await expect(page.getByRole("columnheader", { name: "Customer" })).toBeVisible();

    await page.getByRole("button", { name: "Batch…" }).click();
    const batch = page.locator("#batch");
    await expect(batch).toContainText('WorkflowId STARTS_WITH "order"');
    await batch.getByLabel("Operation").selectOption("signal");
    await batch.getByRole("textbox", { name: "Signal" }).fill("note");
    await batch.getByRole("button", { name: "Signal 2 runs" }).click();
    await expect(batch.getByRole("status")).toHaveText("2 of 2 runs processed.");
    await batch.getByRole("button", { name: "Close" }).click();
    await page.getByRole("button", { name: "Batch…" }).click();
    await batch.getByLabel("Operation").selectOption("terminate");
    await accessible(page, "the dialog of a batch");
    await batch.getByRole("button", { name: "Terminate 2 runs" }).click();
    await expect(batch.getByRole("status")).toHaveText("2 of 2 runs processed.");
    await batch.getByRole("button", { name: "Close" }).click();
    await expect(rowOf(page, "order-1")).toContainText("Terminated");
    const events = await (await app.client.getHandle(undefined, "order-1")).historyJson();
    expect(events).toContain('"note"');
    const other = await app.client.getHandle(undefined, "parcel-1").describe();
    expect(other.status).toBe("RUNNING");
  } finally {
    await close();
  }
});

test("calendars are written as cron expressions", () => {
  const all = (start: number, end: number) => [{ start, end, step: 1 }];
  const at = (start: number) => all(start, start);
  const calendar = {
    second: at(0),
    minute: [{ start: 0, end: 59, step: 15 }],
    hour: at(12),
    dayOfMonth: all(1, 31),
    month: [{ start: "JANUARY", end: "DECEMBER", step: 1 }] as const,
    year: [],
    dayOfWeek: [{ start: "MONDAY", end: "FRIDAY", step: 1 }] as const,
  };
  const weekdays = { ...calendar, month: [...calendar.month], dayOfWeek: [...calendar.dayOfWeek] };
  expect(cronText(weekdays)).toBe("*/15 12 * * 1-5");
  expect(cronText({ ...weekdays, second: at(30) })).toBe("30 */15 12 * * 1-5 *");
  expect(cronText({ ...weekdays, minute: at(5), year: at(2027) })).toBe(
    "0 5 12 * * 1-5 2027",
  );
});
