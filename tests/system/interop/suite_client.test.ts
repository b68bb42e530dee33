// The client's tests against a real Temporal dev server: the same code, the same expectations.
// takes: 60 s
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { after, before, test } from "node:test";
import { GrpcService } from "../../../ts/grpc/grpc_service.ts";
import { clientSuite } from "../../suites/client_suite.ts";
import { type OnService, settingOf } from "../../support/services.ts";
import { signal, waitForSignal, workflow } from "../../../ts/workflow/mod.ts";
import { until } from "../../support/until.ts";
import { DevServer, noServer, temporalCli } from "./support/dev_server.ts";

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

test(
  "a namespace without the attribute of subscriptions is reported with the command to register it",
  { skip: noServer },
  async () => {
    const { client } = settingOf(service, false, "subscriptions", (id) => id);
    const register = [
      "operator",
      "search-attribute",
      "create",
      "--namespace",
      "default",
      "--name",
      "WorkflowSubscription",
    ];
    await assert.rejects(
      client.broadcast("enemy_killed", "orc"),
      (error: Error) => error.message.includes(`temporal ${register.join(" ")} --type KeywordList`),
    );
    execFileSync(temporalCli()!, [
      ...register,
      "--type",
      "KeywordList",
      "--address",
      server.address,
    ], { stdio: "ignore" });
    // A server looks at what is registered every few seconds.
    await until(
      "it is registered",
      () => client.broadcast("enemy_killed", "orc").then(() => true, () => false),
    );
  },
);

clientSuite(onCluster);

const go = signal<[{ word: string }]>("go");
const echo = workflow("Echo", async (name: string) => ({ name, ...await waitForSignal(go) }));

test(
  "a history as JSON equals the output of the official command line",
  { skip: noServer },
  async () => {
    const { client, work } = settingOf(service, false, "echo", (id) => id);
    await work({ workflows: [echo] }, async () => {
      const handle = await client.start(echo, {
        id: "echo",
        args: ["ada"],
        memo: { note: 1 },
        runTimeout: "1h",
        retry: { maximumAttempts: 2 },
      });
      await handle.signal(go, { word: "hi" });
      assert.deepEqual(await handle.result(), { name: "ada", word: "hi" });
      const show = [
        "workflow",
        "show",
        "--workflow-id",
        "echo",
        "--output",
        "json",
        "--address",
        server.address,
      ];
      const theirs = execFileSync(temporalCli()!, show, { encoding: "utf8" });
      assert.deepEqual(JSON.parse(await handle.historyJson()), JSON.parse(theirs));
    });
  },
);
