// Encryption at rest: one option, and nothing that workflows, activities and clients say to each
// other is readable in the store, in an exported history or in the log. Then the key is rotated
// while a workflow is open.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { open, silentLogger } from "temporalex";
import * as activities from "./activities.ts";
import { encryption, importKey, type KeyRing } from "./codec.ts";
import { approve, payment } from "./workflow.ts";

// In real life from a key service or the environment, never from the source code.
const K1 = await importKey("MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=");
const K2 = await importKey("ZmVkY2JhOTg3NjU0MzIxMGZlZGNiYTk4NzY1NDMyMTA=");

const workflows = new URL("./workflow.ts", import.meta.url);

export async function run(say: (line: string) => void): Promise<unknown> {
  const folder = mkdtempSync(join(tmpdir(), "temporalex-encryption-"));
  const start = (keys: KeyRing) =>
    open({
      path: join(folder, "payments.sqlite"),
      workflows,
      activities,
      logger: silentLogger,
      codec: encryption(keys),
      encodeCommonAttributes: true, // messages and stack traces of failures too
    });
  try {
    const before = await start({ current: "k1", keys: { k1: K1 } });
    await before.client.start(payment, { id: "p-1", args: ["4711-0815", 1900] });
    say("started p-1 with key k1");
    await before.close();

    // Rotation: add the new key and make it current. The old one stays until no open or kept
    // history needs it.
    const after = await start({ current: "k2", keys: { k1: K1, k2: K2 } });
    const handle = after.client.getHandle(payment, "p-1");
    await handle.signal(approve, "Lovelace");
    const result = await handle.result();
    const history = await handle.historyJson();
    say(`approved with key k2: ${JSON.stringify(result)}`);
    const keyIds = new Set(
      [...history.matchAll(/"encryption-key-id":\s*"([^"]+)"/g)].map(([, id]) => atob(id!)),
    );
    await after.close();

    const store = readdirSync(folder).map((name) => readFileSync(join(folder, name), "latin1"))
      .join("");
    const readable = ["4711-0815", "Lovelace", "cents"].filter((secret) =>
      store.includes(secret) || history.includes(secret)
    );
    say(`readable in the store and the exported history: ${readable.join(", ") || "nothing"}`);
    return { ...result, keyIds: [...keyIds].sort(), readable };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
