// `temporalex ui --workflows`: each run opens next to its code, which is read again at each save;
// with a fixed port an open page finds the next start of the command.
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect, type Place, test } from "./support/command.ts";

const code = (step: string) =>
  `import { activities, on, receive, signal, stop, workflow } from "temporalex/workflow";
const steps = activities<{ first(): string; second(): string }>({ startToClose: "10s" });
const done = signal("done");
export const order = workflow("Order", {
  messages: { done },
  run: async () => {
    await steps.${step}();
    return await receive(0, [on(done, (_, n) => stop(n))]);
  },
});
`;

const built = async (path: string) =>
  await import(
    pathToFileURL(fileURLToPath(new URL(`../../dist/ts/${path}`, import.meta.url))).href
  );

async function store(place: Place) {
  place.write("package.json", "{}");
  place.write("order.ts", code("first"));
  const { open } = await built("mod.js");
  const app = await open({
    path: join(place.cwd, "shop.sqlite"),
    workflows: [pathToFileURL(join(place.cwd, "order.ts"))],
    activities: { first: () => "1", second: () => "2" },
    logger: { debug() {}, info() {}, warn() {}, error() {} },
  });
  return { app, start: async (id: string) => await app.client.start("Order", { id, args: [] }) };
}

const freePort = async (): Promise<number> => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
};

const ARGS = ["ui", "--store", "shop.sqlite", "--no-open", "--json"];

test("with --workflows a run opens next to its code, and each save updates the verdict", async ({ place, visit }) => {
  const { app, start } = await store(place);
  try {
    const handle = await start("order-1");
    await start("order-2");
    const command = place.start([...ARGS, "--port", "0", "--workflows", "order.ts"]);
    const { url } = await command.line(({ event }) => event === "started");
    const { page } = await visit(url);
    await page.locator(".run-row", { hasText: "order-1" }).click();
    await page.locator("#debug-run").click();
    const verdict = page.locator("#verdict");
    await expect(verdict).toHaveText(/Replays/);
    await expect(page.locator(".of-code")).toContainText("steps.first()");
    place.write("order.ts", code("second"));
    await expect(verdict).toHaveText(/Diverges/);
    place.write("order.ts", "export const = 1;\n");
    await expect(verdict).toHaveText(/Not parsed, line 1/);
    expect((await command.line(({ event }) => event === "refused")).problems[0]).toMatchObject({
      line: 1,
    });
    place.write("order.ts", code("first"));
    await expect(verdict).toHaveText(/Replays/);
    // The run grows while its code is next to it.
    await handle.signal("done");
    await expect(page.locator("#position")).toHaveText(/^Event (\d+) of \1/);
    await expect(page.locator("body")).toContainText("Completed");
    await expect(verdict).toHaveText(/Replays/);
    // Another run of the list has the same code.
    await page.locator("#room-runs").click();
    await page.locator(".run-row", { hasText: "order-2" }).click();
    await page.locator("#debug-run").click();
    await expect(verdict).toHaveText(/Replays/);
    // The address of a run opens it with its code.
    await page.reload();
    await expect(verdict).toHaveText(/Replays/);
  } finally {
    await app.close();
  }
});

test("with a fixed port an open page continues after a restart of the server", async ({ place, visit }) => {
  const { app, start } = await store(place);
  try {
    await start("order-1");
    const args = [...ARGS, "--port", String(await freePort())];
    const env = { XDG_STATE_HOME: place.cwd, HOME: place.cwd, LOCALAPPDATA: place.cwd };
    const first = place.start(args, env);
    const { url } = await first.line(({ event }) => event === "started");
    const { page, watch } = await visit(url);
    const list = page.locator(".run-row:not(.head)");
    await expect(list).toHaveCount(1);
    await first.end();
    const gone = page.locator(".runs-room [role=alert]", {
      hasText: "The server cannot be reached",
    });
    await expect(gone).toBeVisible({ timeout: 60_000 });
    await start("order-2");
    const second = await place.start(args, env).line(({ event }) => event === "started");
    expect(second.url).toBe(url);
    await expect(list).toHaveCount(2, { timeout: 60_000 });
    await expect(gone).toHaveCount(0);
    // The browser reports the calls that did not reach a server; other errors are not expected.
    for (const bad of watch.taken()) {
      expect(bad).toMatch(/^console: .*net::ERR_(?:CONNECTION|EMPTY|INCOMPLETE)_\w+/);
    }
  } finally {
    await app.close();
  }
});
