// Every call of the client, and workers in all their ends, through a gateway with a fence around
// their namespace: the same tests as on an engine in this process and on a real server.
// takes: 11 s
import { after, before, test } from "node:test";
import { WebSocket } from "ws";
import { EmbeddedEngine, MemoryStore } from "../../../ts/engine/mod.ts";
import { connectGateway, type GatewayConnection } from "../../../ts/gateway/mod.ts";
import { type Gateway, startGateway } from "../../../ts/gateway/server.ts";
import type { RawService } from "../../../ts/service/raw.ts";
import { clientSuite } from "../../suites/client_suite.ts";
import { workerSuite } from "../../suites/worker_suite.ts";
import { type OnService, settingOf } from "../../support/services.ts";

let engine: EmbeddedEngine, gateway: Gateway, connection: GatewayConnection;
let count = 0;

before(async () => {
  engine = await EmbeddedEngine.open({ store: new MemoryStore(), remoteWorkers: true });
  gateway = await startGateway({ service: engine, port: 0, namespaces: ["default"] });
  connection = await connectGateway(gateway.url, { webSocket: WebSocket });
});
after(async () => {
  await connection.close();
  await engine.close();
  await gateway.close();
});

/** `service`: asked for when the test runs, because the connection is not there before. */
const through = (what: string, service: () => RawService): OnService => (name, body) => {
  const number = ++count;
  test(`${name} (${what})`, () =>
    body(settingOf(service(), true, `queue-${number}`, (id) => `${id}-${number}`)));
};

// Workers of a service that may lose cancelled polls let them run out when they stop, which takes
// five seconds. The client's tests wait for nothing that is lost so.
clientSuite(
  through("gateway", () => ({
    call: (method, request, options) => connection.call(method, request, options),
  })),
);
workerSuite(through("gateway", () => connection));
