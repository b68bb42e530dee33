// Temporal's environment configuration, as its own command line reads it and as ours does: the same
// file and the same variables reach the same namespace of the same server, or are refused by both.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { after, before, test } from "node:test";
import { Client } from "../../../ts/client/mod.ts";
import { silentLogger } from "../../../ts/base/logger.ts";
import { Connection, loadClientConnectConfig } from "../../../ts/grpc/mod.ts";
import { DevServer, noServer, temporalCli } from "./support/dev_server.ts";

const folder = mkdtempSync(join(tmpdir(), "temporalex-profile-"));
let server: DevServer;

before(async () => {
  if (noServer === false) server = await DevServer.start();
});

after(async () => {
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Temporal's own command line: true when it reached the namespace. */
async function theirs(env: { [name: string]: string }, timeout: string): Promise<boolean> {
  const child = spawn(temporalCli()!, ["workflow", "count", "--command-timeout", timeout], {
    env: { HOME: folder, PATH: process.env["PATH"], ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let out = "";
  child.stdout!.on("data", (chunk) => out += chunk);
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return code === 0 && /Total: 0/.test(out);
}

async function ours(env: { [name: string]: string }, connectTimeout: string): Promise<boolean> {
  let connection: Connection | undefined;
  try {
    const { connectionOptions, namespace = "default" } = loadClientConnectConfig({
      overrideEnvVars: { HOME: folder, ...env },
    });
    connection = await Connection.connect({ ...connectionOptions, namespace, connectTimeout });
    return await new Client({ service: connection, namespace, logger: silentLogger }).count() === 0;
  } catch {
    return false;
  } finally {
    await connection?.close();
  }
}

test(
  "Temporal's command line and this package read the same file and variables equally",
  { skip: noServer },
  async () => {
    const file = join(folder, "temporal.toml");
    const nowhere = "127.0.0.1:1";
    writeFileSync(
      file,
      `[profile.default]
address = "${nowhere}"
[profile.here]
address = "${server.address}"
namespace = "default"
[profile.here.grpc_meta]
Some_Header = "1"
[profile.elsewhere]
address = "${server.address}"
namespace = "absent-namespace"
[profile.tls]
address = "${server.address}"
[profile.tls.tls]
server_name = "x"
[profile.off]
address = "${server.address}"
api_key = "k"
[profile.off.tls]
disabled = true
[profile.key]
address = "${server.address}"
api_key = "k"
`,
    );
    const at = { TEMPORAL_CONFIG_FILE: file };
    const cases: [what: string, env: { [name: string]: string }, reached: boolean][] = [
      ["the default profile", at, false],
      ["a profile", { ...at, TEMPORAL_PROFILE: "here" }, true],
      ["a variable goes before the file", { ...at, TEMPORAL_ADDRESS: server.address }, true],
      [
        "a variable goes before the file, also to somewhere worse",
        { ...at, TEMPORAL_PROFILE: "here", TEMPORAL_ADDRESS: nowhere },
        false,
      ],
      ["another namespace", { ...at, TEMPORAL_PROFILE: "elsewhere" }, false],
      ["another namespace, put right", {
        ...at,
        TEMPORAL_PROFILE: "elsewhere",
        TEMPORAL_NAMESPACE: "default",
      }, true],
      ["no such profile", { ...at, TEMPORAL_PROFILE: "absent" }, false],
      ["no file", {
        TEMPORAL_CONFIG_FILE: join(folder, "gone.toml"),
        TEMPORAL_ADDRESS: server.address,
      }, true],
      [
        "variables alone",
        { TEMPORAL_ADDRESS: server.address, TEMPORAL_NAMESPACE: "default" },
        true,
      ],
      ["a section of TLS switches it on", { ...at, TEMPORAL_PROFILE: "tls" }, false],
      ["that a variable disables", { ...at, TEMPORAL_PROFILE: "tls", TEMPORAL_TLS: "false" }, true],
      ["an API key switches TLS on", { ...at, TEMPORAL_PROFILE: "key" }, false],
      ["unless TLS is off", { ...at, TEMPORAL_PROFILE: "off" }, true],
      ["headers", { ...at, TEMPORAL_PROFILE: "here", TEMPORAL_GRPC_META_OTHER_HEADER: "2" }, true],
      ["path and data of one thing", {
        ...at,
        TEMPORAL_TLS_CLIENT_CERT_PATH: "/a",
        TEMPORAL_TLS_CLIENT_CERT_DATA: "b",
      }, false],
    ];
    for (const [what, env, reached] of cases) {
      // What leads nowhere is tried until the time is over.
      const timeout = reached ? "60s" : "5s";
      assert.deepEqual(await Promise.all([theirs(env, timeout), ours(env, timeout)]), [
        reached,
        reached,
      ], what);
    }
  },
);
