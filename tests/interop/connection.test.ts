// The public connection against a real Temporal dev server.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Client } from "../../ts/client/mod.ts";
import { silentLogger } from "../../ts/service/logger.ts";
import { Code, Connection, ServiceError } from "../../ts/temporal/mod.ts";
import { DevServer, noServer } from "./support/dev_server.ts";

let server: DevServer;

before(async () => {
  if (noServer === false) server = await DevServer.start();
});
after(() => server?.stop());

test("connect tells what the server can do, and the connection serves clients", { skip: noServer }, async () => {
  const connection = await Connection.connect({ address: server.address, namespace: "default" });
  const { version, capabilities } = await connection.serverInfo();
  assert.match(version, /^\d+\.\d+\.\d+/);
  assert.equal(capabilities.supportsSchedules, true);
  assert.equal(capabilities.sdkMetadata, true);
  const client = new Client({ service: connection, logger: silentLogger });
  assert.equal(await client.count(), 0);
  await connection.close();
  await assert.rejects(client.count(), /closed/);
});

test("a namespace that is not there is told by name", { skip: noServer }, async () => {
  await assert.rejects(Connection.connect({ address: server.address, namespace: "nowhere" }), (error: ServiceError) => {
    assert.ok(error instanceof ServiceError);
    assert.equal(error.code, Code.NOT_FOUND);
    assert.match(
      error.message,
      new RegExp(`^cannot use the Temporal cluster at ${server.address}: it has no namespace "nowhere"`),
    );
    return true;
  });
});
