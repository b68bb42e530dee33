#!/usr/bin/env node
// The runs console over a store with many runs, in Chromium: each operation from the click to what
// it shows. The store has completed, failed, open and unclaimed runs of three types.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { activityContext } from "#dist/ts/activity/mod.js";
import { open } from "#dist/ts/mod.js";
import {
  activities,
  ApplicationFailure,
  defineSearchAttributeKey,
  on,
  publishState,
  query,
  receive,
  reply,
  signal,
  stop,
  update,
  upsertSearchAttributes,
  workflow,
} from "#dist/ts/workflow/mod.js";
import { buildDemo } from "../../tools/demo.mjs";
import { launchChromium } from "../../tools/lib/chromium.mjs";
import { leaveWithParent } from "../../tools/lib/leave.mjs";
import { conditions, conditionsText, optionsOf } from "./lib/tally.mjs";

const HELP = `usage: node web-demo/bench/many_runs.mjs [--runs=20000] [--no-build] [--json]

Makes a store with so many runs, opens it in \`temporalex ui\`, and measures each operation of the runs console.`;

/** Rows that are listed at once, for the last measurement. */
const MOST_ROWS = 2000;

leaveWithParent();
const options = optionsOf(HELP, { runs: 20_000 });
if (!options["no-build"]) await buildDemo();
const main = fileURLToPath(new URL("../../dist/ts/cli/main.js", import.meta.url));
const cwd = mkdtempSync(join(tmpdir(), "temporalex-many-"));
const { browser, reason } = await launchChromium();
if (browser === undefined) throw new Error(`no browser found: ${reason}`);
const rows = [];
/** Keeps a figure, and prints it at once: an operation that fails later does not hide it. */
function note(what, ms) {
  rows.push({ what, ms });
  if (!options.json) console.log(`  ${what.padEnd(52)} ${String(ms).padStart(7)} ms`);
}
let app, child;
try {
  app = await openStore();
  await fill(app.client);
  const url = await startConsole();
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  page.setDefaultTimeout(60_000);
  await measure(page, url);
  const is = conditions(browser);
  if (options.json) {
    console.log(JSON.stringify({ bench: "many runs", runs: options.runs, rows, conditions: is }));
  } else {
    console.log(conditionsText(is));
  }
} finally {
  child?.kill("SIGINT");
  await browser.close();
  await app?.close();
  rmSync(cwd, { recursive: true, force: true });
}

async function openStore() {
  const done = signal("done");
  const add = update("add_item");
  const items = query("items");
  const customer = defineSearchAttributeKey("Customer", "KEYWORD");
  const order = workflow("Order", {
    messages: { add, done, items },
    queries: { items: (published) => published },
    run: async (who) => {
      upsertSearchAttributes([{ key: customer, value: who }]);
      if (who === "unknown") {
        throw new ApplicationFailure("customer not found", { nonRetryable: true });
      }
      publishState([]);
      return await receive([], [
        on(
          add,
          ([sku], list) => (publishState([...list, sku]), reply(list.length + 1, [...list, sku])),
        ),
        on(done, (_, list) => stop(list)),
      ]);
    },
  });
  const parcel = workflow("Parcel", async (n) => n);
  const acts = activities({ startToClose: "1h", heartbeat: "1h" });
  const delivery = workflow("Delivery", () => acts.drive());
  const ending = new AbortController();
  const drive = () =>
    new Promise((resolve) => {
      activityContext().heartbeat({ stop: "Coimbra" });
      ending.signal.addEventListener("abort", resolve);
    });
  const app = await open({
    path: join(cwd, "shop.sqlite"),
    taskQueue: "orders",
    workflows: [order, parcel, delivery],
    activities: { drive },
    logger: { debug() {}, info() {}, warn() {}, error() {} },
  });
  const close = async () => {
    ending.abort();
    await app.close();
  };
  return { client: app.client, close };
}

/** Starts the runs: of ten, seven complete, one fails, one stays open, one has no worker. */
async function fill(client) {
  const began = performance.now();
  const start = async (i) => {
    const id = (name) => `${name}-${String(i).padStart(5, "0")}`;
    const which = i % 10;
    if (which < 7) {
      return void await (await client.start("Parcel", { id: id("parcel"), args: [i] })).result();
    }
    if (which === 7) {
      return void await (await client.start("Order", { id: id("lost"), args: ["unknown"] }))
        .result()
        .catch(() => {});
    }
    if (which === 8) {
      return void await client.start("Order", {
        id: id("order"),
        args: [i % 3 === 0 ? "ada" : "lin"],
      });
    }
    await client.start("Archive", { id: id("idle"), args: [], taskQueue: "unpolled" });
  };
  let next = 0;
  const work = async () => {
    while (next < options.runs - 1) await start(next++);
  };
  await Promise.all(Array.from({ length: 100 }, work));
  await client.start("Delivery", { id: "delivery-1", args: [] });
  note(`making ${options.runs} runs`, Math.round(performance.now() - began));
}

async function startConsole() {
  child = spawn(
    process.execPath,
    [main, "ui", "--store", "shop.sqlite", "--port", "0", "--no-open", "--json"],
    { cwd, stdio: ["ignore", "pipe", "inherit"] },
  );
  for await (const line of createInterface({ input: child.stdout })) {
    const { event, url } = JSON.parse(line);
    if (event === "started") return url;
  }
  throw new Error("temporalex ui has ended");
}

async function measure(page, url) {
  const list = page.locator(".run-row:not(.head)");
  const row = (text) => list.filter({ hasText: text });
  const panel = page.locator(".run-panel");
  const field = page.locator("#runs-query");
  const button = (of, name) => of.getByRole("button", { name, exact: true });
  const timed = async (what, work) => {
    const began = performance.now();
    try {
      await work();
    } catch (error) {
      throw new Error(`${what}: ${error.message}`, { cause: error });
    }
    note(what, Math.round(performance.now() - began));
  };
  const filter = async (text) => {
    await field.fill(text);
    await page.keyboard.press("Enter");
  };
  const count = (n) =>
    page.waitForFunction(
      (n) => document.querySelectorAll(".run-row:not(.head)").length === n,
      n,
    );
  const all = options.runs.toLocaleString("en-US");

  await timed("opening the page: first rows and counts", async () => {
    await page.goto(url);
    await page.locator(".runs-further", { hasText: `200 of ${all} runs` }).waitFor();
  });
  await timed("200 more rows", async () => {
    await page.locator(".runs-further button").click();
    await count(400);
  });
  await timed("status:failed", async () => {
    await filter("status:failed");
    await row("lost-").first().waitFor();
    await row("parcel-").first().waitFor({ state: "detached" });
  });
  await timed("type:Delivery", async () => {
    await filter("type:Delivery");
    await row("delivery-1").waitFor();
  });
  const middle = `parcel-${String(10 * Math.floor(options.runs / 20)).padStart(5, "0")}`;
  await timed("a plain id", async () => {
    await filter(middle);
    await row(middle).waitFor();
  });
  await timed("a query with a search attribute and ORDER BY", async () => {
    await filter('Customer = "ada" AND ExecutionStatus = "Running" ORDER BY StartTime ASC');
    await row("order-").first().waitFor();
    await row("parcel-").first().waitFor({ state: "detached" });
  });
  await timed("saving a view", async () => {
    await page.getByRole("button", { name: "Save view…" }).click();
    await page.locator("#save-view").getByLabel("Name").fill("ada");
    await page.locator("#save-view").getByRole("button", { name: "Save" }).click();
    await page.getByLabel("Saved view").waitFor();
  });
  await timed("a column for a search attribute", async () => {
    await page.getByRole("button", { name: "Columns…" }).click();
    await page.locator("#choose-columns").getByLabel("Customer").check();
    await button(page.locator("#choose-columns"), "Done").click();
    await page.getByRole("columnheader", { name: "Customer" }).waitFor();
  });
  await timed("a reload with filter and columns", async () => {
    await page.reload();
    await row("order-").first().waitFor();
  });
  await filter("type:Order status:running");
  const id = `order-${String(10 * Math.floor((options.runs - 10) / 10) + 8).padStart(5, "0")}`;
  await timed("opening a run's panel", async () => {
    await row(id).click();
    await panel.locator("h2", { hasText: id }).waitFor();
    await button(panel, "add_item").waitFor();
  });
  await timed("an update, to its result", async () => {
    await button(panel, "add_item").click();
    await panel.getByLabel("Arguments").fill('"BOOK-1"');
    await panel.getByRole("button", { name: "Send add_item" }).click();
    await panel.locator(".said", { hasText: "1" }).waitFor();
  });
  await timed("a query, to its result", async () => {
    await button(panel, "items").click();
    await panel.getByLabel("Arguments").fill("");
    await panel.getByRole("button", { name: "Query items" }).click();
    await panel.locator(".said", { hasText: "BOOK-1" }).waitFor();
  });
  await timed("the call stack", async () => {
    await panel.getByRole("button", { name: "Show call stack" }).click();
    await panel.locator(".call-stack pre", { hasText: "receive" }).waitFor();
  });
  await timed("the run in the debugger", async () => {
    await panel.locator("#debug-run").click();
    await page.locator("#position", { hasText: /^Event \d+ of \d+/ }).waitFor();
  });
  await page.locator("#room-runs").click();
  await row(id).click();
  await timed("a reset with its preview, to the new run", async () => {
    await panel.getByRole("button", { name: "Reset…" }).click();
    const dialog = page.locator("#reset-run");
    await dialog.getByText("again: add_item").waitFor();
    await dialog.getByLabel("Reason").fill("wrong price");
    await button(dialog, "Reset").click();
    await dialog.waitFor({ state: "hidden" });
    await panel.locator("h2", { hasText: id }).waitFor();
  });
  await timed("a cancellation, to the list", async () => {
    await filter(`id:${id}`);
    await row("Running").first().waitFor();
    await row("Running").first().click();
    await panel.getByRole("button", { name: /^Cancel/ }).first().click();
    const dialog = page.locator("dialog[open]");
    if (await dialog.count() > 0) {
      await dialog.getByRole("button", { name: /^(Cancel|Request)/ }).last().click();
    }
    await row("Canceled").first().waitFor();
  });
  await timed("starting a run, to its panel", async () => {
    await page.getByRole("button", { name: "Start a run…" }).click();
    const dialog = page.locator("#start-run");
    await dialog.getByLabel("Workflow type").fill("Order");
    await dialog.getByLabel("Workflow id").fill("new-1");
    await dialog.getByLabel("Arguments", { exact: false }).first().fill('"grace"');
    await button(dialog, "Start").click();
    await panel.locator("h2", { hasText: "new-1" }).waitFor();
  });
  await timed("a signal with start, to the list", async () => {
    await page.getByRole("button", { name: "Start a run…" }).click();
    const dialog = page.locator("#start-run");
    await dialog.getByLabel("Workflow type").fill("Order");
    await dialog.getByLabel("Workflow id").fill("new-2");
    await dialog.getByLabel("Arguments", { exact: false }).first().fill('"grace"');
    await dialog.getByLabel("Send a signal", { exact: false }).check();
    await dialog.getByLabel("Signal", { exact: false }).nth(1).fill("done");
    await dialog.getByRole("button", { name: "Signal with start" }).click();
    await dialog.waitFor({ state: "hidden" });
    await filter("id:new-2");
    await row("Completed").waitFor();
  });
  await timed("a termination, to the list", async () => {
    await filter("id:new-1");
    await row("new-1").click();
    await panel.getByRole("button", { name: "Terminate…" }).click();
    await page.locator("#terminate-run").getByRole("button", { name: "Terminate new-1" }).click();
    await page.locator("#terminate-run").waitFor({ state: "hidden" });
    await row("Terminated").waitFor();
  });
  await filter("type:Delivery");
  await row("delivery-1").click();
  const acts = panel.locator(".activities");
  await timed("pausing an activity", async () => {
    await acts.getByRole("button", { name: "Pause drive" }).click();
    await acts.locator(".activity-head", { hasText: "paused" }).waitFor();
  });
  await timed("unpausing it", async () => {
    await acts.getByRole("button", { name: "Unpause drive" }).click();
    await acts.getByRole("button", { name: "Pause drive" }).waitFor();
  });
  await timed("a batch: a signal to the open runs of ada", async () => {
    await filter('WorkflowType = "Order" AND Customer = "ada"');
    await row("order-").first().waitFor();
    await row("delivery").first().waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Batch…" }).click();
    const batch = page.locator("#batch");
    await batch.getByLabel("Operation").selectOption("signal");
    await batch.getByRole("textbox", { name: "Signal" }).fill("done");
    const send = batch.getByRole("button", { name: /^Signal [\d,]+ run/ });
    rows.push({ what: `  (${await send.innerText()})`, ms: 0 });
    await send.click();
    await batch.getByRole("status").filter({ hasText: "runs processed." }).waitFor();
    await batch.getByRole("button", { name: "Close" }).click();
  });
  await timed("schedules: creating one", async () => {
    await page.getByRole("link", { name: "Schedules" }).click();
    await page.getByRole("button", { name: "Create a schedule…" }).click();
    const create = page.locator("#create-schedule");
    await create.getByLabel("Schedule id").fill("nightly");
    await create.getByLabel("Workflow type").fill("Parcel");
    await create.getByLabel("Task queue").fill("orders");
    await create.getByLabel("Cron expressions", { exact: false }).fill("0 3 * * MON-FRI");
    await button(create, "Create").click();
    await panel.locator("h2", { hasText: "nightly" }).waitFor();
  });
  await timed("schedules: a trigger, to its action", async () => {
    await panel.getByRole("button", { name: "Trigger…" }).click();
    await page.locator("#trigger-schedule").getByRole("button", { name: "Trigger" }).click();
    await panel.getByRole("region", { name: "Recent actions" }).getByRole("listitem").first()
      .waitFor();
  });
  await timed("task queues with their workers", async () => {
    await page.getByRole("link", { name: "Task queues" }).click();
    await page.getByRole("region", { name: "Task queue orders" }).getByText("1 worker").waitFor();
  });
  await page.getByRole("link", { name: "Runs", exact: true }).nth(1).click();
  await filter("");
  await page.locator(".runs-further").waitFor();
  for (let shown = 200; shown + 200 < options.runs && shown < MOST_ROWS; shown += 200) {
    await page.locator(".runs-further button").click();
    await count(shown + 200);
  }
  await timed(`with ${await list.count()} rows: a filter by id`, async () => {
    await filter(middle);
    await count(1);
  });
}
