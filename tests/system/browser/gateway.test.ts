// runtime: node
// A tab behind `temporalex gateway`, on the embedded engine served by `temporalex dev`.
// tests/system/interop has the same on a real server.
import { tmpdir } from "node:os";
import { startCommand } from "../../unit/cli/support/process.ts";
import { tabSuite } from "../../unit/gateway/support/in_tab.ts";

tabSuite("temporalex dev", async () => {
  const server = startCommand(["dev", "--port", "0", "--json"], tmpdir());
  const { address } = await server.line("ready", ({ event }) => event === "ready");
  return { address: String(address), stop: async () => void await server.end("SIGINT") };
});
