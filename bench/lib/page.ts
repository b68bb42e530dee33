// The replay bench in a web page: `benchReplay` gets the addresses of the histories and of the
// realm's worker.
import { createInlineRealm, createWorkerRealm } from "../../ts/realm/mod.ts";
import * as programs from "./programs.ts";
import { type History, measureReplays, overall } from "./replaying.ts";

interface Ask {
  readonly histories: readonly { readonly name: string; readonly url: string }[];
  readonly realmEntry: string;
  readonly realms: readonly string[];
  readonly repeats: number;
}

async function benchReplay({ histories, realmEntry, realms, repeats }: Ask): Promise<unknown> {
  const read = async ({ name, url }: Ask["histories"][number]): Promise<History> => ({
    name,
    bytes: new Uint8Array(await (await fetch(url)).arrayBuffer()),
  });
  const all = await Promise.all(histories.map(read));
  const results: { [kind: string]: unknown } = {};
  for (const kind of realms) {
    const realm = kind === "inline"
      ? await createInlineRealm({ workflows: programs })
      : await createWorkerRealm({ entry: realmEntry });
    const figures = await measureReplays(realm, all, repeats);
    await realm.dispose();
    results[kind] = { eventsPerSecond: overall(figures), histories: figures };
  }
  return results;
}

(globalThis as { benchReplay?: typeof benchReplay }).benchReplay = benchReplay;
