// The public connection against a real Temporal dev server.
import assert from "node:assert/strict";
import { connect } from "node:net";
import { after, before, test } from "node:test";
import { createServer } from "node:tls";
import { Client } from "../../../ts/client/mod.ts";
import { silentLogger } from "../../../ts/base/logger.ts";
import { Code, Connection, ServiceError } from "../../../ts/grpc/mod.ts";
import { Worker } from "../../../ts/worker/mod.ts";
import { sleep, workflow } from "../../../ts/workflow/mod.ts";
import { type Authority, authority } from "../../support/certificates.ts";
import { DevServer, noServer } from "./support/dev_server.ts";

let server: DevServer;

before(async () => {
  if (noServer === false) server = await DevServer.start();
});
after(() => server?.stop());

test("a server whose port is in use is not confused with the server that uses it", {
  skip: noServer,
}, async () => {
  await assert.rejects(DevServer.start([], { address: server.address }), /address already in use/);
});

test("connect reports the server's capabilities, and clients work on the connection", {
  skip: noServer,
}, async () => {
  const connection = await Connection.connect({
    address: server.address,
    namespace: "default",
    connectTimeout: "60s",
  });
  const { version, capabilities } = await connection.serverInfo();
  assert.match(version, /^\d+\.\d+\.\d+/);
  assert.equal(capabilities.supportsSchedules, true);
  assert.equal(capabilities.sdkMetadata, true);
  const client = new Client({ service: connection, logger: silentLogger });
  assert.equal(await client.count(), 0);
  await connection.close();
  await assert.rejects(client.count(), /closed/);
});

test(
  "a worker and a client over mTLS, and a caller without a certificate",
  { skip: noServer },
  async () => {
    // The dev server has no TLS: this proxy terminates it, as a load balancer would.
    const [ours, others] = [authority("Our authority"), authority("Other authority")];
    const own = ours.issue("server", { hosts: ["localhost"] });
    const settings = {
      cert: own.certificate,
      key: own.key,
      ca: ours.certificate,
      requestCert: true,
      rejectUnauthorized: true,
    };
    const front = createServer({ ...settings, ALPNProtocols: ["h2"] }, (secure) => {
      const at = server.address.split(":");
      const plain = connect(Number(at[1]), at[0]);
      for (const [one, other] of [[secure, plain], [plain, secure]] as const) {
        one.on("error", () => {}).on("close", () => other.destroy());
        one.pipe(other);
      }
    });
    front.on("tlsClientError", () => {});
    await new Promise<void>((resolve) => front.listen(0, "127.0.0.1", resolve));
    const address = `localhost:${(front.address() as { port: number }).port}`;
    const pair = (authority: Authority) => {
      const { certificate, key } = authority.issue("client");
      return {
        serverRootCaCertificate: ours.certificate,
        clientCertificate: certificate,
        clientKey: key,
      };
    };
    const service = await Connection.connect({
      address,
      namespace: "default",
      tls: pair(ours),
      connectTimeout: "60s",
    });
    try {
      const taskQueue = "secure";
      const hello = workflow("Hello", async (name: string) => {
        await sleep(20);
        return `hello ${name}`;
      });
      const worker = await Worker.create({
        service,
        taskQueue,
        realm: "inline",
        workflows: [hello],
        logger: silentLogger,
      });
      const client = new Client({ service, logger: silentLogger });
      await worker.runUntil(async () => {
        assert.equal(
          await client.execute(hello, { id: "secure-1", taskQueue, args: ["you"] }),
          "hello you",
        );
      });
      const without = { serverRootCaCertificate: ours.certificate };
      await assert.rejects(
        Connection.connect({ address, tls: without }),
        /requires a client certificate/,
      );
      await assert.rejects(
        Connection.connect({ address, tls: pair(others) }),
        /rejected the client certificate/,
      );
      await assert.rejects(Connection.connect({ address }), /set `tls`/);
    } finally {
      await service.close();
      await new Promise((resolve) => front.close(resolve));
    }
  },
);

test("the error for a missing namespace contains its name", { skip: noServer }, async () => {
  await assert.rejects(
    Connection.connect({ address: server.address, namespace: "nowhere" }),
    (error: ServiceError) => {
      assert.ok(error instanceof ServiceError);
      assert.equal(error.code, Code.NOT_FOUND);
      assert.match(
        error.message,
        new RegExp(
          `^cannot use the Temporal cluster at ${server.address}: namespace "nowhere" not found`,
        ),
      );
      return true;
    },
  );
});
