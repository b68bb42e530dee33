// `temporalex ui` over a store that a worker has open: list and filter, a growing run, messages,
// closed runs, debug in follow mode.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { fileURLToPath } from "node:url";
import { expect, type Place, test } from "./support/command.ts";

const built = async (path: string) =>
  await import(
    pathToFileURL(fileURLToPath(new URL(`../../dist/ts/${path}`, import.meta.url))).href
  );

/** A store with a worker for counters, in this process. */
async function store(place: Place) {
  const [
    { open },
    { noreply, on, query, publishState, receive, reply, signal, stop, update, workflow },
  ] = await Promise.all([
    built("mod.js"),
    built("workflow/mod.js"),
  ]);
  const add = update("add");
  const done = signal("done");
  const bump = signal("bump");
  const value = query("value");
  const counter = workflow("Counter", {
    messages: { add, done, bump, value },
    queries: { value: (published: number) => published },
    run: async () =>
      await receive(0, [
        on(
          add,
          ([by]: [number], sum: number) => (publishState(sum + by), reply(sum + by, sum + by)),
        ),
        on(bump, (_: unknown, sum: number) => (publishState(sum + 1), noreply(sum + 1))),
        on(done, (_: unknown, sum: number) => stop(sum)),
      ]),
  });
  // deno-lint-ignore no-explicit-any
  const app: any = await open({
    path: join(place.cwd, "shop.sqlite"),
    workflows: [counter],
    logger: { debug() {}, info() {}, warn() {}, error() {} },
  });
  return {
    app,
    start: async (id: string) => await app.client.start(counter, { id, args: [] }),
    bump,
    done,
  };
}

const ARGS = ["ui", "--store", "shop.sqlite", "--port", "0", "--no-open", "--json"];

test("runs appear as they start and end; filters and counts select runs; an invalid query is reported", async ({ place, visit }) => {
  const { app, start, done } = await store(place);
  try {
    const first = await start("count-1");
    const { url } = await place.start(ARGS).line(({ event }) => event === "started");
    const { page } = await visit(url);
    const row = (id: string) => page.locator(".run-row:not(.head)").filter({ hasText: id });
    await expect(row("count-1")).toContainText("Running");
    await start("count-2");
    await expect(row("count-2")).toContainText("Running");
    await expect(page.locator(".status-counts")).toContainText("Running 2");
    await first.signal(done);
    await expect(row("count-1")).toContainText("Completed");
    await app.client.start("Counter", { id: "idle-1", args: [], taskQueue: "unpolled" });
    await expect(row("idle-1")).toContainText("waits for a worker of queue unpolled");
    await row("idle-1").click();
    await expect(page.locator(".run-panel .now-said")).toContainText(
      "It waits for a worker of queue unpolled",
    );
    await app.client.start("Gone", { id: "gone-1", args: [] });
    await expect(row("gone-1")).toContainText("waits for its code: no worker knows Gone");
    await page.locator("#runs-query").fill('WorkflowId = "count-2"');
    await page.keyboard.press("Enter");
    await expect(row("count-1")).toHaveCount(0);
    await expect(row("count-2")).toHaveCount(1);
    await page.locator("#runs-query").fill("Nonsense ===");
    await page.keyboard.press("Enter");
    await expect(page.locator(".runs-room [role=alert]")).toBeVisible();
  } finally {
    await app.close();
  }
});

test("a run accepts messages from forms, its timeline grows, debug follows it, and its name confirms a termination", async ({ place, visit }) => {
  const { app, start, bump } = await store(place);
  try {
    const handle = await start("count-1");
    const { url } = await place.start(ARGS).line(({ event }) => event === "started");
    const { page } = await visit(url);
    await page.locator(".run-row", { hasText: "count-1" }).click();
    const panel = page.locator(".run-panel");
    await panel.getByRole("button", { name: "add" }).click();
    await panel.getByLabel("Arguments").fill("5");
    await panel.getByRole("button", { name: "Send add" }).click();
    await expect(panel.locator(".said")).toHaveText("5");
    await panel.getByRole("button", { name: "value", exact: true }).click();
    await panel.getByLabel("Arguments").fill("");
    await panel.getByRole("button", { name: "Query value" }).click();
    await expect(panel.locator(".said")).toHaveText("5");
    await panel.getByRole("button", { name: "bump" }).click();
    await panel.getByRole("button", { name: "Send bump" }).click();
    await expect(panel.locator(".said")).toContainText("Sent");
    await expect.poll(async () => await handle.query("value")).toBe(6);
    await panel.locator("#debug-run").click();
    const position = page.locator("#position");
    const length = async () => Number(/of ([\d,]+)/.exec(await position.innerText())?.[1]);
    await expect(position).toHaveText(/^Event (\d+) of \1/);
    const before = await length();
    await handle.signal(bump);
    await expect.poll(length).toBeGreaterThan(before);
    await expect(position).toHaveText(/^Event (\d+) of \1/);
    await page.keyboard.press("ArrowLeft");
    await handle.signal(bump);
    await expect(page.locator("#new-events")).toHaveText(/\d+ new events?/);
    await page.locator("#new-events").click();
    await expect(position).toHaveText(/^Event (\d+) of \1/);
    await page.reload();
    await expect(position).toHaveText(/^Event \d+ of \d+/);
    await page.locator("#room-runs").click();
    await page.locator(".run-row", { hasText: "count-1" }).click();
    await panel.getByRole("button", { name: "Terminate…" }).click();
    await expect(page.locator("#terminate-run")).toContainText("count-1");
    await page.keyboard.press("Escape");
    await expect(page.locator(".run-row", { hasText: "count-1" })).toContainText("Running");
    await panel.getByRole("button", { name: "Terminate…" }).click();
    await page.locator("#terminate-run").getByRole("button", { name: "Terminate count-1" }).click();
    await expect(page.locator(".run-row", { hasText: "count-1" })).toContainText("Terminated");
  } finally {
    await app.close();
  }
});

test("with --read-only the page has no forms, and the server rejects changes", async ({ place, visit }) => {
  const { app, start } = await store(place);
  try {
    await start("count-1");
    const { url } = await place.start([...ARGS, "--read-only"]).line(({ event }) =>
      event === "started"
    );
    const { page } = await visit(url);
    await page.locator(".run-row", { hasText: "count-1" }).click();
    const panel = page.locator(".run-panel");
    await expect(panel.getByRole("button", { name: "value", exact: true })).toBeVisible();
    await expect(panel.getByRole("button", { name: "bump" })).toHaveCount(0);
    await expect(panel.getByRole("button", { name: "Terminate…" })).toHaveCount(0);
    const told = await page.evaluate(async () =>
      await (await fetch("data/call/terminateWorkflowExecution", {
        method: "POST",
        body: new Uint8Array(0),
      })).json()
    );
    expect(told).toMatchObject({ code: 7, message: expect.stringContaining("--read-only") });
  } finally {
    await app.close();
  }
});

test("a continued run links to the next run, whose history is loaded from the store", async ({ place, visit }) => {
  const [{ open }, { continueAsNew, workflow }] = await Promise.all([
    built("mod.js"),
    built("workflow/mod.js"),
  ]);
  const night = workflow(
    "Night",
    (round: number) => round === 1 ? continueAsNew(2) : Promise.resolve("the end"),
  );
  // deno-lint-ignore no-explicit-any
  const app: any = await open({
    path: join(place.cwd, "shop.sqlite"),
    workflows: [night],
    logger: { debug() {}, info() {}, warn() {}, error() {} },
  });
  try {
    const handle = await app.client.start(night, { id: "night-1", args: [1] });
    await handle.result();
    const { url } = await place.start(ARGS).line(({ event }) => event === "started");
    const { page } = await visit(url);
    await page.locator(".run-row", { hasText: "ontinued" }).click();
    await page.locator("#debug-run").click();
    await page.locator("#links button", { hasText: "Next run" }).click();
    await expect(page.locator("#opened-runs")).toHaveAccessibleName("Opened runs: 2");
    await expect(page.locator("#links")).toContainText("Previous run");
    await page.locator("#main").focus();
    await page.keyboard.press("<");
    await expect(page.locator("#links")).toContainText("Next run");
  } finally {
    await app.close();
  }
});

test("a button fires a manual timer of a run", async ({ place, visit }) => {
  const [{ open }, { timer, workflow }] = await Promise.all([
    built("mod.js"),
    built("workflow/mod.js"),
  ]);
  const buff = workflow("Buff", async () => {
    await timer("expire", "10ms");
    return "over";
  });
  const logger = { debug() {}, info() {}, warn() {}, error() {} };
  // deno-lint-ignore no-explicit-any
  const app: any = await open({
    path: join(place.cwd, "shop.sqlite"),
    workflows: [buff],
    logger,
    serve: true,
  });
  try {
    await app.served;
    await app.client.start(buff, { id: "buff-1", timers: "manual" });
    const { url } = await place.start(ARGS).line(({ event }) => event === "started");
    const { page } = await visit(url);
    const row = page.locator(".run-row:not(.head)").filter({ hasText: "buff-1" });
    await row.click();
    await page.getByRole("button", { name: /^Fire timer/ }).click();
    await expect(row).toContainText("Completed");
    await expect(page.getByRole("button", { name: /^Fire timer/ })).toHaveCount(0);
  } finally {
    await app.close();
  }
});

test("for a run that failed in an activity, the list shows the cause and not the wrapper error", async ({ place, visit }) => {
  const [{ open }, { activities, workflow }] = await Promise.all([
    built("mod.js"),
    built("workflow/mod.js"),
  ]);
  const acts = activities({ startToClose: "10s", retry: { maximumAttempts: 1 } });
  const flight = workflow("Flight", () => acts.book("LIS"));
  const logger = { debug() {}, info() {}, warn() {}, error() {} };
  const book = () => {
    throw new Error("no seats to LIS");
  };
  // deno-lint-ignore no-explicit-any
  const app: any = await open({
    path: join(place.cwd, "shop.sqlite"),
    workflows: [flight],
    activities: { book },
    logger,
  });
  try {
    await (await app.client.start(flight, { id: "flight-1", args: [] })).result().catch(() => {});
    const { url } = await place.start(ARGS).line(({ event }) => event === "started");
    const { page } = await visit(url);
    await expect(page.locator(".run-row:not(.head)").filter({ hasText: "flight-1" })).toContainText(
      "no seats to LIS",
    );
  } finally {
    await app.close();
  }
});

test("two hundred runs are listed with the total number, and more on request", async ({ place, visit }) => {
  const { app, start } = await store(place);
  try {
    for (let i = 0; i < 230; i++) await start(`count-${i}`);
    const { url } = await place.start(ARGS).line(({ event }) => event === "started");
    const { page } = await visit(url);
    const list = page.locator(".run-row:not(.head)");
    await expect(list).toHaveCount(200);
    await expect(page.locator(".runs-further")).toContainText("200 of 230 runs");
    await page.getByRole("button", { name: "Show 30 more" }).click();
    await expect(list).toHaveCount(230);
    await expect(page.locator(".runs-further")).toHaveCount(0);
  } finally {
    await app.close();
  }
});

test("the address contains filter, range and panel; an id or type:NAME is a filter", async ({ place, visit }) => {
  const { app, start } = await store(place);
  try {
    await start("order-1");
    await start("order-2");
    await start("parcel-1");
    const { url } = await place.start(ARGS).line(({ event }) => event === "started");
    const { page } = await visit(url);
    const list = page.locator(".run-row:not(.head)");
    await expect(list).toHaveCount(3);
    const field = page.locator("#runs-query");
    await field.fill("order type:Counter");
    await page.keyboard.press("Enter");
    await expect(list).toHaveCount(2);
    await page.getByRole("button", { name: "24 h" }).click();
    await list.filter({ hasText: "order-2" }).click();
    await expect(page.locator(".run-panel")).toContainText("order-2");
    await expect(page).toHaveURL(/#\/runs\?.*q=order/);
    await page.reload();
    await expect(field).toHaveValue("order type:Counter");
    await expect(list).toHaveCount(2);
    await expect(page.getByRole("button", { name: "24 h" })).toHaveAttribute(
      "aria-pressed",
      "true",
    );
    await expect(page.locator(".run-panel")).toContainText("order-2");
    await field.fill("status:completed");
    await page.keyboard.press("Enter");
    await expect(page.locator(".run-list, .runs-room .say").first()).toBeVisible();
    await expect(list).toHaveCount(0);
    await page.goBack();
    await expect(field).toHaveValue("order type:Counter");
    await expect(list).toHaveCount(2);
  } finally {
    await app.close();
  }
});
