// The console of `temporalex ui` over a Temporal server and over a store: reset with its preview,
// pause and reset of an activity, schedules, a batch; the namespaces of a server. One page for each.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Page } from "@playwright/test";
import { accessible } from "./support/axe.ts";
import { expect, type Place, test } from "./support/command.ts";

const DIST = fileURLToPath(new URL("../../dist/", import.meta.url));
const built = async (path: string) => await import(pathToFileURL(`${DIST}${path}`).href);
const { DevServer, noServer } = existsSync(DIST)
  ? await built("tests/system/interop/support/dev_server.js")
  : { DevServer: undefined, noServer: "dist is not built: node tools/build_dist.mjs" };
const logger = { debug() {}, info() {}, warn() {}, error() {} };

const rowOf = (page: Page, text: string) =>
  page.locator(".run-row:not(.head)").filter({ hasText: text });

interface Host {
  /** Arguments of `temporalex ui`. */
  readonly args: readonly string[];
  // deno-lint-ignore no-explicit-any
  readonly client: any;
  close(): Promise<void>;
}

/** Workflows for orders, for deliveries whose activity beats until the test ends, and reports. */
async function program() {
  const [{ activities, on, receive, reply, signal, stop, update, workflow }, { activityContext }] =
    await Promise.all([built("ts/workflow/mod.js"), built("ts/activity/mod.js")]);
  const add = update("add_item");
  const done = signal("done");
  const order = workflow("Order", {
    messages: { add, done },
    run: async () =>
      await receive([], [
        on(add, ([sku]: [string], list: string[]) => reply(list.length + 1, [...list, sku])),
        on(done, (_: unknown, list: string[]) => stop(list)),
      ]),
  });
  const acts = activities({ startToClose: "5m", heartbeat: "1m", retry: { initialInterval: 50 } });
  const delivery = workflow("Delivery", () => acts.drive());
  const report = workflow("Report", () => Promise.resolve("done"));
  const ending = new AbortController();
  const drive = async () => {
    activityContext().heartbeat({ stop: "Coimbra" });
    const { cancelled: canceled } = activityContext();
    await new Promise<void>((resolve, reject) => {
      ending.signal.addEventListener("abort", () => resolve());
      canceled.addEventListener("abort", () => reject(canceled.reason));
    });
  };
  const end = () => ending.abort();
  return { workflows: [order, delivery, report], activities: { drive }, order, delivery, add, end };
}

type Program = Awaited<ReturnType<typeof program>>;
const ON_PAGE = ["--port", "0", "--no-open", "--json"];

async function onServer({ workflows, activities, end }: Program): Promise<Host> {
  const server = await DevServer.start();
  const [{ GrpcService }, { Worker }, { Client }] = await Promise.all([
    built("ts/grpc/grpc_service.js"),
    built("ts/worker/mod.js"),
    built("ts/client/mod.js"),
  ]);
  const service = new GrpcService({ address: server.address });
  const worker = await Worker.create({
    ...{ service, taskQueue: "orders", workflows, activities, logger },
    heartbeatThrottle: { maximumMs: 100 },
  });
  const ended = worker.run().catch(() => {});
  return {
    args: ["ui", "--address", server.address, "--all-namespaces", ...ON_PAGE],
    client: new Client({ service, taskQueue: "orders", logger }),
    async close() {
      end();
      void worker.shutdown();
      await ended;
      service.close();
      await server.stop();
    },
  };
}

async function onStore({ workflows, activities, end }: Program, place: Place): Promise<Host> {
  const { open } = await built("ts/mod.js");
  const app = await open({
    path: join(place.cwd, "shop.sqlite"),
    ...{ taskQueue: "orders", workflows, activities, logger },
    worker: { heartbeatThrottle: { maximumMs: 100 } },
  });
  return {
    args: ["ui", "--store", "shop.sqlite", ...ON_PAGE],
    client: app.client,
    async close() {
      end();
      await app.close();
    },
  };
}

const HOSTS = [
  ["a Temporal server", onServer, noServer],
  ["a store", onStore, existsSync(DIST) ? false : noServer],
] as const;

for (const [name, host, reason] of HOSTS) {
  test(`on ${name}: reset, activities, schedules, task queues, batch, namespaces`, async ({ place, visit }) => {
    test.skip(reason !== false, String(reason));
    test.slow();
    const made = await program();
    const { order, delivery, add } = made;
    const { args, client, close } = await host(made, place);
    try {
      const first = await client.start(order, { id: "order-1", args: [] });
      for (const sku of ["BOOK-1", "PEN-2"]) await first.update(add, sku);
      await client.start(delivery, { id: "delivery-1", args: [] });
      const { url } = await place.start(args).line(({ event }) => event === "started");
      const { page } = await visit(url);
      const panel = page.locator(".run-panel");

      await test.step("reset shows what is applied again, and opens the new run", async () => {
        await rowOf(page, "order-1").click();
        await panel.getByRole("button", { name: "Reset…" }).click();
        const dialog = page.locator("#reset-run");
        await expect(dialog).toContainText("Apply 1 update again: add_item");
        const tasks = dialog.getByLabel("After the workflow task");
        await tasks.selectOption({ index: 0 });
        await expect(dialog).toContainText("Apply 2 updates again: add_item, add_item");
        await accessible(page, "the dialog of a reset");
        await dialog.getByLabel("Reason").fill("wrong price");
        await dialog.getByRole("button", { name: "Reset", exact: true }).click();
        await expect(dialog).toBeHidden();
        await expect(rowOf(page, "order-1")).toHaveCount(2);
        await expect(rowOf(page, "order-1").filter({ hasText: "Terminated" })).toHaveCount(1);
        await expect(panel.locator("h2")).toHaveText("order-1");
        const again = await client.getHandle(undefined, "order-1").describe();
        expect(again.runId).not.toBe(first.runId);
      });

      await test.step("an activity is paused, unpaused and reset; its heartbeat is shown", async () => {
        await rowOf(page, "delivery-1").click();
        const activities = panel.locator(".activities");
        await expect(activities).toContainText("Coimbra");
        await activities.getByRole("button", { name: "Pause drive" }).click();
        await expect(activities.locator(".activity-head")).toContainText("paused");
        await activities.getByRole("button", { name: "Unpause drive" }).click();
        await expect(activities.getByRole("button", { name: "Pause drive" })).toBeVisible();
        await activities.getByRole("button", { name: "Reset drive" }).click();
        await expect(activities.getByRole("alert")).toHaveCount(0);
        await expect(activities).toContainText("no limit");
      });

      await test.step("a schedule is created, triggered, backfilled, edited, paused and deleted", async () => {
        await page.getByRole("link", { name: "Schedules" }).click();
        await page.getByRole("button", { name: "Create a schedule…" }).click();
        const create = page.locator("#create-schedule");
        await create.getByLabel("Schedule id").fill("nightly");
        await create.getByLabel("Workflow type").fill("Report");
        await create.getByLabel("Task queue").fill("orders");
        await create.getByLabel("Cron expressions", { exact: false }).fill("0 3 * * MON-FRI");
        await accessible(page, "the dialog of a schedule");
        await create.getByRole("button", { name: "Create", exact: true }).click();
        await expect(panel.locator("h2")).toHaveText("nightly");
        await expect(panel).toContainText("0 3 * * 1-5");
        await expect(panel.locator(".now-said li").first()).toContainText(":00:00");
        await expect(page.locator(".schedule-table")).toContainText("nightly");
        await accessible(page, "a schedule");
        const press = async (name: string) => await panel.getByRole("button", { name }).click();
        await press("Trigger…");
        await page.locator("#trigger-schedule").getByRole("button", { name: "Trigger" }).click();
        const recent = panel.getByRole("region", { name: "Recent actions" });
        await expect(recent.getByRole("listitem")).toHaveCount(1);
        await press("Backfill…");
        const backfill = page.locator("#backfill-schedule");
        await backfill.getByLabel("From").fill("2026-03-02T00:00:00");
        await backfill.getByLabel("To").fill("2026-03-04T00:00:00");
        await backfill.getByLabel("If the previous", { exact: false }).selectOption("ALLOW_ALL");
        await backfill.getByRole("button", { name: "Backfill", exact: true }).click();
        await expect(recent.getByRole("listitem")).toHaveCount(3);
        await press("Edit…");
        const edit = page.locator("#edit-schedule");
        await expect(edit.getByLabel("Cron expressions", { exact: false })).toHaveValue(
          "0 3 * * 1-5",
        );
        await edit.getByLabel("Cron expressions", { exact: false }).fill("");
        await edit.getByLabel("Intervals", { exact: false }).fill("90m");
        await edit.getByRole("button", { name: "Save" }).click();
        await expect(panel).toContainText("every 1 h 30 min");
        await press("Pause…");
        await page.locator("#pause-schedule").getByLabel("Note").fill("holidays");
        await page.locator("#pause-schedule").getByRole("button", { name: "Pause" }).click();
        await expect(panel).toContainText("It starts no workflow by itself: holidays");
        await press("Delete…");
        await page.locator("#delete-schedule").getByRole("button", { name: "Delete nightly" })
          .click();
        await expect(panel).toHaveCount(0);
        await expect(page.locator(".schedules-view")).toContainText("No schedule.");
      });

      await test.step("task queues show the worker", async () => {
        await page.getByRole("link", { name: "Task queues" }).click();
        const queue = page.getByRole("region", { name: "Task queue orders" });
        await expect(queue).toContainText("1 worker");
        await expect(queue.locator("tbody")).toContainText("activities");
      });

      await test.step("a batch cancels the runs of a filter", async () => {
        await page.getByRole("link", { name: "Runs", exact: true }).nth(1).click();
        await page.locator("#runs-query").fill("type:Order status:running");
        await page.keyboard.press("Enter");
        await expect(rowOf(page, "delivery-1")).toHaveCount(0);
        await page.getByRole("button", { name: "Batch…" }).click();
        const batch = page.locator("#batch");
        await batch.getByRole("button", { name: "Cancel 1 run" }).click();
        await expect(batch.getByRole("status")).toHaveText("1 of 1 runs processed.");
        await batch.getByRole("button", { name: "Close" }).click();
        await expect.poll(async () =>
          (await client.getHandle(undefined, "order-1").describe()).status
        ).toBe("CANCELED");
      });

      if (host === onStore) return;
      await test.step("another namespace of the server is shown", async () => {
        await page.getByLabel("Namespace").selectOption("temporal-system");
        await expect(page).toHaveURL(/namespace=temporal-system/);
        await expect(page.getByLabel("Namespace")).toHaveValue("temporal-system");
        await expect(page.locator(".runs-room")).toBeVisible();
        await expect(page.locator(".runs-room [role=alert]")).toHaveCount(0);
      });
    } finally {
      await close();
    }
  });
}
