// A life of one account: it begins with its first message, is changed a hundred times over several
// generations, and is deleted.
import { open, silentLogger } from "temporalex";
import { type BlobStore, externalStorage } from "../external_storage/codec.ts";
import { accountOf, block, openAccount, saveProfile } from "./accounts.ts";
import * as activities from "./activities.ts";
import { changeEmail, deleteAccount, getHealth, reactivateNow, type User } from "./workflow.ts";

/**
 * The engine suggests continue-as-new this early, so that a short example shows it. Its default is
 * nine tenths of 2,000.
 */
const SUGGESTED = 40;

/** In place of a bucket. */
function inMemory(): BlobStore {
  const blobs = new Map<string, Uint8Array>();
  return {
    put: async (name, bytes) => void blobs.set(name, bytes),
    get: async (name) => blobs.get(name),
  };
}

export async function run(say: (line: string) => void): Promise<unknown> {
  const app = await open({
    workflows: new URL("./workflow.ts", import.meta.url),
    activities,
    logger: silentLogger,
    engine: { limits: { suggestContinueAsNewUpdates: SUGGESTED } },
    codec: externalStorage(inMemory(), { aboveBytes: 20_000 }), // large profiles do not go into histories
  });
  const { client } = app;
  try {
    await block(client, "ada"); // a signal begins it
    const account = accountOf(client, "ada");
    await account.update(reactivateNow);
    const joined = await openAccount(client, "ada"); // there already: this one is taken
    say(`one account: ${joined.workflowId}`);
    const first = await saveProfile(
      client,
      "ada",
      { name: "Ada", about: "x".repeat(500_000) },
      "first",
    );
    let warned = false;
    for (let i = 0; i < 100; i++) {
      await saveProfile(client, "ada", { name: i < 99 ? `Ada ${i}` : "Ada Lovelace" });
      const { generation, operations, historyEvents, historyBytes } = await account.query(
        getHealth,
      );
      if (warned || operations % SUGGESTED < SUGGESTED * 0.8) continue;
      warned = true; // what an alert would say
      say(
        `near the end of its generation ${generation}: ${historyEvents} events, ${historyBytes} bytes`,
      );
    }
    const repeated = await saveProfile(
      client,
      "ada",
      { name: "Ada", about: "x".repeat(500_000) },
      "first",
    );
    await account.update(changeEmail, "ada@example.com");
    const { generation, operations } = await account.query(getHealth);
    say(`${operations} operations in ${generation} generations`);
    await account.signal(deleteAccount);
    const { createdAt: _, updatedAt: __, deletedAt: ___, ...user }: User = await account.result();
    const again = await openAccount(client, "ada").catch((error: Error) => error);
    return {
      generations: generation > 2,
      user,
      once: repeated.operation === first.operation && operations === 104,
      again: String(again),
    };
  } finally {
    await app.close();
  }
}
