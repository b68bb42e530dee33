// The worker's tests against a real Temporal dev server: the same code, the same expectations.
// takes: 150 s
import { after, before, test } from "node:test";
import { GrpcService } from "../../../ts/grpc/grpc_service.ts";
import { workerSuite } from "../../suites/worker_suite.ts";
import { type OnService, settingOf } from "../../support/services.ts";
import { DevServer, noServer } from "./support/dev_server.ts";

let server: DevServer;
let service: GrpcService;
let count = 0;

before(async () => {
  if (noServer !== false) return;
  server = await DevServer.start();
  service = new GrpcService({ address: server.address });
});

after(async () => {
  service?.close();
  await server?.stop();
});

const onCluster: OnService = (name, body) => {
  const number = ++count;
  test(
    `${name} (cluster)`,
    { skip: noServer },
    () => body(settingOf(service, false, `queue-${number}`, (id) => `${id}-${number}`)),
  );
};

workerSuite(onCluster);
