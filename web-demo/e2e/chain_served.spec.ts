// A chain of runs from a store: the pages of `temporalex ui` and `temporalex debug` fetch the runs
// that a run names.
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect, type Place, test } from "./support/command.ts";

const built = async (path: string) =>
  await import(
    pathToFileURL(fileURLToPath(new URL(`../../dist/ts/${path}`, import.meta.url))).href
  );

const WORKFLOWS = `
import { continueAsNew, executeChild, sleep, workflow } from "temporalex/workflow";
export const leaf = workflow("Leaf", async () => { await sleep("1ms"); return "green"; });
export const count = workflow("Count", async (left: number) => {
  if (left === 2) await executeChild(leaf, { id: "leaf-1", args: [] });
  await sleep("1ms");
  return left > 1 ? continueAsNew(left - 1) : "done";
});
`;

/** A store with a chain of runs and a child, all ended. Returns the id of the chain's last run. */
async function chainStore(place: Place, runs: number): Promise<string> {
  place.write("workflows.ts", WORKFLOWS);
  const [{ open }, { continueAsNew, executeChild, sleep, workflow }] = await Promise.all([
    built("mod.js"),
    built("workflow/mod.js"),
  ]);
  const leaf = workflow("Leaf", async () => {
    await sleep("1ms");
    return "green";
  });
  const count = workflow("Count", async (left: number) => {
    if (left === 2) await executeChild(leaf, { id: "leaf-1", args: [] });
    await sleep("1ms");
    return left > 1 ? continueAsNew(left - 1) : "done";
  });
  const app = await open({
    path: join(place.cwd, "shop.sqlite"),
    workflows: [leaf, count],
    logger: { debug() {}, info() {}, warn() {}, error() {} },
  });
  try {
    const handle = await app.client.start(count, { id: "count-1", args: [runs] });
    await handle.result();
    return (await app.client.getHandle(undefined, "count-1").describe()).runId;
  } finally {
    await app.close();
  }
}

const SERVE = ["--store", "shop.sqlite", "--port", "0", "--no-open", "--json"];

test("ui fetches a bounded number of runs of a chain, shows how many remain, and loads them on request", async ({ place, visit }) => {
  const runId = await chainStore(place, 64);
  const { url } = await place.start(["ui", ...SERVE]).line(({ event }) => event === "started");
  const { page } = await visit(url, `#/open?run=run:${runId}/count-1`);
  await expect(page.locator("h1")).toHaveText("Count");
  await page.locator("#chain-switch").getByRole("button", { name: /Chain/ }).click();
  const note = page.locator("#chain-note");
  await expect(note).toHaveText(/^60 runs, [\d,]+ events, 1 linked run is not loaded/, {
    timeout: 60_000,
  });
  await page.locator("#fetch-more").click();
  await expect(note).toHaveText(/^65 runs, [\d,]+ events$/, { timeout: 60_000 });
  await expect(page.locator("[data-chain='0'] > .ch-row [data-piece]")).toHaveCount(64);
  await expect(page.locator("[data-chain='1'] > .ch-row [data-piece]")).toHaveCount(1);
  await page.locator("#go-start").click();
  await expect(page.locator("#playhead")).toHaveAttribute("aria-valuetext", /^run 1, event 1 of/);
});

test("debug --store fetches only the runs that its run names, and all of them use the same code", async ({ place, visit }) => {
  const runId = await chainStore(place, 4);
  const args = ["debug", ...SERVE, "-w", "count-1", "-r", runId, "--workflows", "workflows.ts"];
  const { url } = await place.start(args).line(({ event }) => event === "started");
  const app = await visit(url);
  const { page } = app;
  await app.replayed();
  await page.locator("#chain-switch").getByRole("button", { name: /Chain/ }).click();
  await expect(page.locator("#chain-note")).toHaveText(/^5 runs, [\d,]+ events$/);
  await page.locator("[data-chain='0'] > .ch-row [data-piece]").nth(1).click();
  await expect(page.locator("#playhead")).toHaveAttribute("aria-valuetext", /^run 2,/);
  await expect(page.locator("#verdict")).toHaveAttribute("data-run", /^run:.*count-1$/);
  await expect(page.locator("#verdict")).toHaveText(/Replays/);
  // The name of another workflow and the id of an unrelated run find no run.
  const asked = await fetch(
    `${url}data/linked?workflowId=count-1&runId=00000000-0000-4000-8000-000000000000`,
  );
  expect([asked.status, await asked.text()]).toEqual([
    404,
    expect.stringContaining("no history names this run"),
  ]);
});
