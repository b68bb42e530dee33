// `temporalex ui --address`: the server goes away and comes back.
import { expect, test } from "./support/command.ts";

test("a stopped server is reported and sending is disabled; the page continues when the server is back", async ({ place, visit }) => {
  const dev = ["dev", "--db-filename", "dev.sqlite", "--json"];
  const first = place.start([...dev, "--port", "0"]);
  const { address } = await first.line(({ address }) => address !== undefined) as unknown as {
    address: string;
  };
  const call = [
    "workflow",
    "start",
    "--address",
    address,
    "--type",
    "Idle",
    "--task-queue",
    "unpolled",
    "--workflow-id",
    "idle-1",
    "--output",
    "jsonl",
  ];
  await place.start(call).line(({ workflowId }) => workflowId === "idle-1");
  const ui = ["ui", "--address", address, "--port", "0", "--no-open", "--json"];
  const { url } = await place.start(ui).line(({ event }) => event === "started");
  const { page } = await visit(url);
  await page.locator(".run-row", { hasText: "idle-1" }).click();
  const terminate = page.locator(".run-panel").getByRole("button", { name: "Terminate…" });
  await expect(terminate).toBeEnabled();
  const gone = page.locator(".runs-room [role=alert]", { hasText: "The server cannot be reached" });
  await expect(gone).toHaveCount(0);

  await first.end("SIGKILL");
  await expect(gone).toBeVisible({ timeout: 60_000 });
  await expect(terminate).toBeDisabled();
  await expect(page.locator(".run-row", { hasText: "idle-1" }), "what was there stays in sight")
    .toBeVisible();

  const port = address.slice(address.lastIndexOf(":") + 1);
  await place.start([...dev, "--port", port]).line(({ address }) => address !== undefined);
  await expect(gone).toHaveCount(0, { timeout: 60_000 });
  await expect(terminate).toBeEnabled();
});
