// Opens the world's store in this tab, or connects to the tab that has it open.
import { workerFile } from "../../core_file.ts";
import { type BrowserApp, open } from "temporalex/browser";
import engineUrl from "temporalex/engine.wasm?url";
import { useCore } from "temporalex/slim";
import sqliteUrl from "@sqlite.org/sqlite-wasm/sqlite3.wasm?url";
import { populate, type World } from "../../../../examples/world/world.ts";

const NPCS = 100;
/**
 * Milliseconds per step. Slower than on a server: a hundred patrols are some 140 workflow tasks per
 * second.
 */
const PACE_MS = 700;

export interface OpenWorld extends World {
  readonly app: BrowserApp;
}

/** `heard` is called with errors of engine and worker. */
export async function openWorld(heard: (error: Error) => void): Promise<OpenWorld> {
  useCore({ worker: workerFile, engine: new URL(engineUrl, import.meta.url) });
  const app = await open({
    name: "temporalex-world",
    sqliteWasm: new URL(sqliteUrl, import.meta.url),
    realm: () =>
      new Worker(new URL("./realm.ts", import.meta.url), { type: "module", name: "world" }),
    engineWorker: () =>
      new Worker(new URL("./engine.ts", import.meta.url), { type: "module", name: "world-engine" }),
    engine: { synchronous: "NORMAL" },
    logger: {
      debug() {},
      info() {},
      warn() {},
      error: (message, fields) =>
        heard(fields?.["error"] instanceof Error ? fields["error"] : new Error(message)),
    },
  });
  const world = { app, client: app.client, rows: app.tables.all };
  await populate(world, NPCS, PACE_MS);
  return world;
}
