// Where the accounts live: an engine in this process, `temporalex dev`, or a Temporal server.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DevServer } from "../../../tests/system/interop/support/dev_server.ts";
import { OurServer } from "../../../tests/system/interop/support/our_server.ts";
import { EmbeddedEngine, MemoryStore } from "../../../ts/engine/mod.ts";
import { GrpcService } from "../../../ts/grpc/grpc_service.ts";
import type { RawService } from "../../../ts/service/raw.ts";

export interface Place {
  readonly service: RawService;
  /** Where workers in other processes reach it; undefined for an engine in this one. */
  readonly address?: string;
  close(): Promise<void>;
}

/** A dev server has one shard, whose limits are those of one of a cluster's hundreds. */
const UNLIMITED = [
  ...[
    "frontend.rps",
    "frontend.namespaceRPS",
    "history.rps",
    "matching.rps",
    "frontend.persistenceMaxQPS",
  ],
  ...[
    "history.persistenceMaxQPS",
    "matching.persistenceMaxQPS",
    "system.visibilityPersistenceMaxWriteQPS",
  ],
  ...["transfer", "timer", "visibility", "outbound"].map((queue) =>
    `history.${queue}ProcessorMaxPollRPS`
  ),
].map((key) => `${key}=1000000`);

/**
 * `on`: memory, sqlite, dev, server, or an address. `events`: continue-as-new is suggested at so
 * many, where that can be set.
 */
export async function openPlace(on: string, events: number): Promise<Place> {
  if (on === "memory" || on === "sqlite") {
    const folder = mkdtempSync(join(tmpdir(), "temporalex-entities-"));
    const store = on === "memory"
      ? { store: new MemoryStore() }
      : { path: join(folder, "store.sqlite") };
    const engine = await EmbeddedEngine.open({
      ...store,
      limits: { suggestContinueAsNewEvents: events },
    });
    const close = async () => {
      await engine.close();
      rmSync(folder, { recursive: true, force: true });
    };
    return { service: engine, close };
  }
  // In memory Temporal's dev server has one connection to its database: a call that is canceled
  // during a query may close it, and lose all its data (seen on a busy machine: "Namespace default
  // is not found", and no response ever after).
  const folder = on === "server" ? mkdtempSync(join(tmpdir(), "temporalex-entities-")) : undefined;
  const server = folder !== undefined
    ? await DevServer.start([`limit.historyCount.suggestContinueAsNew=${events}`, ...UNLIMITED], {
      file: join(folder, "temporal.db"),
    })
    : on === "dev"
    ? await OurServer.start()
    : undefined;
  const address = server?.address ?? on;
  const service = new GrpcService({ address });
  const close = async () => {
    service.close();
    await server?.stop();
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  };
  return { service, address, close };
}
