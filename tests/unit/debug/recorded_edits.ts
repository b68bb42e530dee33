// Histories of the programs whose values are edited, recorded with the original code.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { readHistoryFile } from "../../../ts/debug/mod.ts";
import { TestEnvironment } from "../../../ts/testing/mod.ts";
import { NATIVE, PROGRAM } from "./value_edits.ts";

/** The source of each workflow. */
export const EDITED_SOURCES: { readonly [workflow: string]: string } = {
  Order: PROGRAM,
  Failing: PROGRAM,
  Renewal: PROGRAM,
  Native: NATIVE,
};

/** Runs each workflow once; returns its history as bytes. */
export async function recordEditHistories(): Promise<{ [workflow: string]: Uint8Array }> {
  const histories: { [workflow: string]: Uint8Array } = {};
  const folder = mkdtempSync(join(tmpdir(), "edit-values-"));
  const silent = { debug() {}, info() {}, warn() {}, error() {} };
  try {
    for (const source of [PROGRAM, NATIVE]) {
      const file = join(folder, source === PROGRAM ? "program.ts" : "native.ts");
      writeFileSync(file, source);
      const env = await TestEnvironment.create({ logger: silent });
      try {
        const activities = { charge: () => "charged", note: () => undefined, pay: () => "paid" };
        const options = { workflows: pathToFileURL(file), activities, taskQueue: "QUEUE" };
        await env.runWorker(options, async () => {
          for (const [workflow, of] of Object.entries(EDITED_SOURCES)) {
            if (of !== source) continue;
            const start = { id: workflow, args: ["ada"], taskQueue: "QUEUE" } as never;
            const handle = await env.client.start(workflow, start);
            if (workflow === "Order") {
              await handle.executeUpdate("raise" as never, { args: [5] } as never);
            }
            await handle.result().catch(() => {});
            const first = env.client.getHandle(undefined, workflow, handle.runId);
            const json = new TextEncoder().encode(await first.historyJson());
            histories[workflow] = (await readHistoryFile(json)).bytes;
          }
        });
      } finally {
        await env.dispose();
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return histories;
}
