// Large state: a workflow works with megabytes, and its history stays small, because a codec keeps
// large values in a folder.
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { open, silentLogger } from "temporalex";
import * as activities from "./activities.ts";
import { externalStorage } from "./codec.ts";
import { folderStore } from "./folder.ts";
import { report } from "./workflow.ts";

export async function run(say: (line: string) => void): Promise<unknown> {
  const folder = mkdtempSync(join(tmpdir(), "temporalex-blobs-"));
  // With encryption as well: `codec: [encryption(keys), externalStorage(store)]`. They are applied
  // in this order, so that blobs are encrypted.
  const app = await open({
    workflows: new URL("./workflow.ts", import.meta.url),
    activities,
    logger: silentLogger,
    codec: externalStorage(await folderStore(folder), { aboveBytes: 10_000 }),
  });
  try {
    const text = await app.client.execute(report, { id: "r-1", args: [4] });
    const { historySizeBytes } = await app.client.getHandle(report, "r-1").describe();
    say(
      `the report has ${text.length} characters, the last run's history ${historySizeBytes} bytes, the folder ${
        readdirSync(folder).length
      } blobs`,
    );

    // The error of a missing blob where it is needed:
    for (const name of readdirSync(folder)) rmSync(join(folder, name));
    const error = await app.client.getHandle(report, "r-1").result().catch((error: Error) => error);
    say(String(error));
    return { characters: text.length, small: historySizeBytes < 10_000, error: String(error) };
  } finally {
    await app.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
