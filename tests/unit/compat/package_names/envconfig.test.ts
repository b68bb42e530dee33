// `temporalex/compat/envconfig`: names and shapes of `@temporalio/envconfig` over the native loader
// of profiles.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  clientConfigToToml,
  fromTomlProfile,
  loadClientConfig,
  loadClientConfigFromToml,
  loadClientConfigProfile,
  loadClientConnectConfig,
  toClientOptions,
  toTomlProfile,
} from "../../../../ts/compat/envconfig/mod.ts";

const TOML = `
[profile.default]
address = "cloud:7233"
namespace = "shop"
api_key = "key"
[profile.default.grpc_meta]
X_Team = "a"
[profile.mtls]
address = "own:7233"
[profile.mtls.tls]
server_name = "name"
client_cert_data = "CERT"
client_key_data = "KEY"
server_ca_cert_data = "CA"
[profile.plain.tls]
disabled = true
`;
const source = { configSource: { data: TOML }, overrideEnvVars: {} };
const bytes = (text: string) => new TextEncoder().encode(text);

test("a profile is converted to connection options; an API key alone enables TLS", () => {
  assert.deepEqual(loadClientConnectConfig(source), {
    namespace: "shop",
    connectionOptions: {
      address: "cloud:7233",
      apiKey: "key",
      tls: true,
      metadata: { "x-team": "a" },
    },
  });
  assert.deepEqual(loadClientConnectConfig({ ...source, profile: "mtls" }).connectionOptions.tls, {
    serverNameOverride: "name",
    serverRootCACertificate: bytes("CA"),
    clientCertPair: { crt: bytes("CERT"), key: bytes("KEY") },
  });
  assert.equal(
    loadClientConnectConfig({ ...source, profile: "plain" }).connectionOptions.tls,
    false,
  );
  assert.equal(toClientOptions({}).connectionOptions.tls, undefined);
});

test("the environment takes precedence over the file, and each can be disabled", () => {
  const overrideEnvVars = { TEMPORAL_ADDRESS: "env:1" };
  assert.equal(loadClientConfigProfile({ ...source, overrideEnvVars }).address, "env:1");
  assert.equal(
    loadClientConfigProfile({ ...source, overrideEnvVars, disableEnv: true }).address,
    "cloud:7233",
  );
  assert.deepEqual(loadClientConfigProfile({ ...source, overrideEnvVars, disableFile: true }), {
    address: "env:1",
  });
});

test("all profiles of a file are read and written unchanged", () => {
  const config = loadClientConfig(source);
  assert.deepEqual(Object.keys(config.profiles), ["default", "mtls", "plain"]);
  assert.deepEqual(loadClientConfigFromToml(clientConfigToToml(config), { strict: true }), config);
  assert.deepEqual(
    fromTomlProfile(toTomlProfile(config.profiles["mtls"]!)),
    config.profiles["mtls"],
  );
});

test("invalid settings are reported by name", () => {
  assert.throws(
    () => loadClientConfigProfile({ ...source, profile: "none" }),
    /profile "none" was not found/,
  );
  assert.throws(
    () => loadClientConfigFromToml(bytes("[profile.a]\nport = 1"), { strict: true }),
    /"profile\.a\.port"/,
  );
  assert.throws(
    () => fromTomlProfile({ tls: { client_cert_path: "a", client_cert_data: "b" } }),
    /client_cert_path/,
  );
});
