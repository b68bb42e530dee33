// Commands on a cluster: how they get there (addresses, TLS, proxies, profiles), and what they say
// when they don't.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createSecureServer, createServer } from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { serviceHandler } from "../../../ts/server/grpc_handlers.ts";
import { authority } from "../../support/certificates.ts";
import { ScriptedService } from "../../support/scripted_service.ts";
import { ConnectProxy } from "../grpc/support/connect_proxy.ts";
import { Servers } from "../grpc/support/servers.ts";
import { refusals, type Result, run as runCommand, type RunOptions } from "./support/run.ts";
import { together } from "../../support/together.ts";

const folder = mkdtempSync(join(tmpdir(), "temporalex-cli-cluster-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const run = (args: readonly string[], options: RunOptions = {}): Promise<Result> =>
  runCommand(["workflow", ...args], { cwd: folder, ...options });
const refused = refusals(run);

together({
  "invalid addresses and addresses without a server": async () => {
    await refused(
      2,
      /"localhost" is not an address; write "host:port"/,
      "list",
      "--address",
      "localhost",
    );
    await refused(
      1,
      /cannot reach a Temporal cluster at 127\.0\.0\.1:1 .*; check --address/,
      "list",
      "--address",
      "127.0.0.1:1",
      "--timeout",
      "2s",
    );
    writeFileSync(join(folder, "no.pem"), "key = 1");
    const certificate = ["list", "--address", "127.0.0.1:1", "--tls-cert-path", "no.pem"];
    await refused(
      2,
      /set both --tls-cert-path and --tls-key-path; one of them is missing$/m,
      ...certificate,
    );
    await refused(
      2,
      /--tls-cert-path has no certificate: the file must have PEM text \("-----BEGIN CERTIFICATE-----\.\.\."\)$/m,
      ...certificate,
      "--tls-key-path",
      "no.pem",
    );
    await refused(
      2,
      /--grpc-meta is written key=value/,
      "list",
      "--address",
      "127.0.0.1:1",
      "--grpc-meta",
      "x",
    );
  },

  "an API key switches TLS on, and --tls=false off": async () => {
    const servers = new Servers();
    const keys: (string | undefined)[] = [];
    const cluster = new ScriptedService().on("listWorkflowExecutions", () => ({}));
    const plain = createServer(serviceHandler(cluster));
    plain.on("request", ({ headers }) => keys.push(headers.authorization));
    await servers.serve("cluster", plain);
    const list = [
      "list",
      "--address",
      `127.0.0.1:${servers.port("cluster")}`,
      "--api-key",
      "k-1",
      "--timeout",
      "5s",
    ];
    try {
      await refused(
        1,
        /the server does not support TLS; omit --tls; with an API key or a profile use --tls=false/,
        ...list,
      );
      assert.equal((await run([...list, "--tls=false"])).code, 0);
      assert.deepEqual(keys, ["Bearer k-1"]);
    } finally {
      await servers.close();
    }
  },

  "through a proxy, named by an option or by HTTPS_PROXY": async () => {
    const proxy = await ConnectProxy.start();
    const servers = new Servers();
    const cluster = serviceHandler(new ScriptedService().on("listWorkflowExecutions", () => ({})));
    await servers.serve("cluster", createServer(cluster));
    const port = servers.port("cluster");
    proxy.routes.set("cluster.example:7233", port);
    const list = (env: { [name: string]: string }, ...args: string[]) =>
      run(["list", "--address", "cluster.example:7233", "--timeout", "5s", ...args], { env });
    const by = ["--proxy", proxy.address];
    try {
      proxy.auth = "ada:pa:ss";
      const told = async (
        says: RegExp,
        env: { [name: string]: string },
        code: number,
        ...args: string[]
      ) => {
        const { code: is, err } = await list(env, ...args);
        assert.match(err, says);
        assert.doesNotMatch(err, /pa:s/);
        assert.equal(is, code, err);
      };
      const listed = { code: 0, out: "", err: "no workflows in cluster.example:7233\n" };
      await told(
        /through the proxy .*requires credentials: set TEMPORALEX_PROXY_AUTH, or the user:password@ of HTTPS_PROXY/,
        {},
        1,
        ...by,
      );
      assert.deepEqual(await list({ TEMPORALEX_PROXY_AUTH: "ada:pa:ss" }, ...by), listed);
      assert.deepEqual(await list({ HTTPS_PROXY: `http://ada:pa%3Ass@${proxy.address}` }), listed);
      // The option goes before the variable, with its own credentials.
      await told(
        /rejected the credentials/,
        { HTTPS_PROXY: "http://x:1", TEMPORALEX_PROXY_AUTH: "ada:pa:s" },
        1,
        ...by,
      );
      const direct = await run(["list", "--address", `127.0.0.1:${port}`], {
        env: { HTTPS_PROXY: `http://${proxy.address}` },
      });
      assert.equal(direct.code, 0, "this machine is not behind a proxy");
      await told(
        /--proxy takes no credentials.*TEMPORALEX_PROXY_AUTH/,
        {},
        2,
        "--proxy",
        `http://ada:pa:ss@${proxy.address}`,
      );
      await told(
        /^(?:temporalex: )?--proxy must be "host:port" or "http:\/\/host:port", not "x"/,
        {},
        2,
        "--proxy",
        "x",
      );
      await told(
        /TEMPORALEX_PROXY_AUTH must be user:password/,
        { TEMPORALEX_PROXY_AUTH: "ada" },
        2,
        ...by,
      );
      await told(
        /the password in TEMPORALEX_PROXY_AUTH has/,
        { TEMPORALEX_PROXY_AUTH: "ada:pa:ss\n" },
        2,
        ...by,
      );
      await told(
        /HTTPS_PROXY names a proxy of "socks5"/,
        { HTTPS_PROXY: "socks5://ada:pa:ss@x:1" },
        2,
      );
      const { address } = proxy;
      await proxy.stop();
      await told(/through the proxy .*no proxy listens on this address/, {}, 1, "--proxy", address);
    } finally {
      await proxy.stop();
      await servers.close();
    }
  },

  "profiles of Temporal's configuration file, and its variables": async () => {
    const config = join(folder, "temporal.toml");
    writeFileSync(
      config,
      '[profile.default]\naddress = "127.0.0.1:1"\n[profile.other]\n',
    );
    const ask = (args: string[], env: { [name: string]: string } = {}) =>
      run(["list", "--timeout", "2s", ...args], { env: { TEMPORAL_CONFIG_FILE: config, ...env } });
    const [profile, variable, option] = await Promise.all([
      ask(["--profile", "default"]),
      ask(["--profile", "default"], { TEMPORAL_ADDRESS: "127.0.0.1:2" }),
      ask(["--profile", "default", "--address", "127.0.0.1:3"], {
        TEMPORAL_ADDRESS: "127.0.0.1:2",
      }),
    ]);
    assert.equal(profile.code, 1);
    assert.match(profile.err, /cannot reach a Temporal cluster at 127\.0\.0\.1:1/);
    assert.match(variable.err, /cannot reach a Temporal cluster at 127\.0\.0\.1:2/);
    assert.match(option.err, /cannot reach a Temporal cluster at 127\.0\.0\.1:3/);
    const wrong: [string[], { [name: string]: string }, RegExp][] = [
      [
        ["--profile", "prod"],
        {},
        /profile "prod" was not found; .*temporal\.toml has: default, other/,
      ],
      [["--config-file", join(folder, "gone.toml")], {}, /gone\.toml cannot be read/],
      [
        ["--address", "127.0.0.1:1"],
        { TEMPORAL_TLS: "perhaps" },
        /TEMPORAL_TLS must be "true" or "false"/,
      ],
      [
        ["--profile", "default", "--store", "x.sqlite"],
        {},
        /--store and --profile cannot be used together/,
      ],
    ];
    for (const [args, env, message] of wrong) {
      const { code, err } = await ask(args, env);
      assert.equal(code, 2, err);
      assert.match(err, message);
    }
    // Variables alone mean no cluster: a command for a store must not reach one by them.
    const local = await ask(["--store", join(folder, "none-here.sqlite")], {
      TEMPORAL_ADDRESS: "127.0.0.1:1",
      TEMPORAL_PROFILE: "default",
    });
    assert.doesNotMatch(local.err, /cannot reach/);
  },
});

test("a TLS error is reported at once, with the option of the command", async () => {
  const [ours, others] = [authority("Our authority"), authority("Other authority")];
  const own = ours.issue("server", { hosts: ["localhost"] });
  const pem = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const [ca, other] = [pem("ca.pem", ours.certificate), pem("other.pem", others.certificate)];
  const settings = { cert: own.certificate, key: own.key, ca: ours.certificate, requestCert: true };
  const servers = new Servers();
  await servers.serve("secure", createSecureServer(settings));
  await servers.serve("plain", createServer());
  const [secure, plain] = ["secure", "plain"].map((name) => `localhost:${servers.port(name)}`) as [
    string,
    string,
  ];
  try {
    await refused(
      1,
      /not signed by a trusted authority; set --tls-ca-path/,
      "list",
      "--address",
      secure,
      "--tls",
    );
    await refused(
      1,
      /not by the one in --tls-ca-path/,
      "list",
      "--address",
      secure,
      "--tls-ca-path",
      other,
    );
    const named = ["--tls-ca-path", ca, "--tls-server-name", "temporal.example"];
    await refused(
      1,
      /set --tls-server-name to the expected name/,
      "list",
      "--address",
      secure,
      ...named,
    );
    await refused(
      1,
      /requires a client certificate: set --tls-cert-path and --tls-key-path/,
      "list",
      "--address",
      secure,
      "--tls-ca-path",
      ca,
    );
    await refused(1, /does not support TLS; omit --tls/, "list", "--address", plain, "--tls");
  } finally {
    await servers.close();
  }
});
