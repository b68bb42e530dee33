// Every call of the client through the socket of a store: an engine in this process, called as by
// another process.
// takes: 3 s
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { serveStore, type StoreServer } from "../../../ts/app/serve_store.ts";
import { StoreService } from "../../../ts/app/store_service.ts";
import type { RawService } from "../../../ts/service/raw.ts";
import { EmbeddedEngine } from "../../../ts/engine/mod.ts";
import { clientSuite } from "../../suites/client_suite.ts";
import { type OnService, settingOf } from "../../support/services.ts";

let folder = "";
let engine: EmbeddedEngine, server: StoreServer, service: StoreService;
let count = 0;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "temporalex-served-"));
  const path = join(folder, "shop.sqlite");
  engine = await EmbeddedEngine.open({ path, remoteWorkers: true });
  server = await serveStore(engine, path);
  service = new StoreService({ path });
});
after(async () => {
  await service.close();
  await engine.close();
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

const throughTheSocket: OnService = (name, body) => {
  const number = ++count;
  // Workers of a service that may lose cancelled polls let them run out when they stop, which takes
  // five seconds; here nothing is lost that a test waits for.
  const quick: RawService = {
    call: (method, request, options) => service.call(method, request, options),
  };
  test(`${name} (served)`, () =>
    body(settingOf(quick, true, `queue-${number}`, (id) => `${id}-${number}`)));
};

clientSuite(throughTheSocket);
