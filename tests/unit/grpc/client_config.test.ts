// Temporal's environment configuration: which source takes precedence, what enables TLS, and that
// every error names its place.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { platform, tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import {
  ClientConfigError,
  type LoadClientConfigOptions,
  loadClientConfigProfile,
  loadClientConnectConfig,
} from "../../../ts/grpc/config/client_config.ts";

const folder = mkdtempSync(join(tmpdir(), "temporalex-config-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const file = (name: string, text: string) => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};
const profile = (
  toml: string,
  env: { [name: string]: string } = {},
  options: LoadClientConfigOptions = {},
) => loadClientConfigProfile({ configSource: { data: toml }, overrideEnvVars: env, ...options });
const connect = (
  toml: string,
  env: { [name: string]: string } = {},
  options: LoadClientConfigOptions = {},
) =>
  loadClientConnectConfig({ configSource: { data: toml }, overrideEnvVars: env, ...options })
    .connectionOptions;
const assertRejected = (run: () => unknown, ...words: string[]) =>
  assert.throws(run, (error: Error) => {
    assert.ok(error instanceof ClientConfigError, `${error.name}: ${error.message}`);
    for (const word of words) {
      assert.ok(error.message.includes(word), `"${word}" in: ${error.message}`);
    }
    return true;
  });

const FULL = `
[profile.default]
address = "file:7233"
namespace = "of-file"
api_key = "key-of-file"
[profile.default.tls]
server_name = "name-of-file"
client_cert_path = "/cert"
client_key_data = "KEY"
[profile.default.codec]
endpoint = "http://localhost:8080"
[profile.default.grpc_meta]
Some_Odd_Header = "1"
kept = "2"
[profile.other]
address = "other:7233"
`;

test("a profile is read from the file, with lowercase header names", () => {
  assert.deepEqual(profile(FULL), {
    address: "file:7233",
    namespace: "of-file",
    apiKey: "key-of-file",
    tls: { serverName: "name-of-file", clientCert: { path: "/cert" }, clientKey: { data: "KEY" } },
    codec: { endpoint: "http://localhost:8080" },
    grpcMeta: { "some-odd-header": "1", kept: "2" },
  });
});

test("each environment variable overrides the file's value, and an empty one removes it", () => {
  const env = {
    TEMPORAL_ADDRESS: "env:7233",
    TEMPORAL_NAMESPACE: "",
    TEMPORAL_API_KEY: "key-of-env",
    TEMPORAL_TLS: "TRUE",
    TEMPORAL_TLS_CLIENT_CERT_PATH: "/cert-of-env",
    TEMPORAL_TLS_CLIENT_KEY_DATA: "KEY-OF-ENV",
    TEMPORAL_TLS_SERVER_CA_CERT_DATA: "CA",
    TEMPORAL_TLS_SERVER_NAME: "name-of-env",
    TEMPORAL_TLS_DISABLE_HOST_VERIFICATION: "1",
    TEMPORAL_CODEC_AUTH: "auth",
    TEMPORAL_GRPC_META_SOME_ODD_HEADER: "",
    TEMPORAL_GRPC_META_X_TENANT: "acme",
    TEMPORAL_GRPC_META_TWO_UNDER_SCORES: "3",
  };
  assert.deepEqual(profile(FULL, env), {
    address: "env:7233",
    apiKey: "key-of-env",
    tls: {
      disabled: false,
      serverName: "name-of-env",
      clientCert: { path: "/cert-of-env" },
      clientKey: { data: "KEY-OF-ENV" },
      serverCaCert: { data: "CA" },
      disableHostVerification: true,
    },
    codec: { endpoint: "http://localhost:8080", auth: "auth" },
    grpcMeta: { kept: "2", "x-tenant": "acme", "two-under-scores": "3" },
  });
});

test("a profile can come from the environment alone, or from defaults", () => {
  assert.deepEqual(profile("", { TEMPORAL_ADDRESS: "env:1" }), { address: "env:1" });
  assert.deepEqual(loadClientConnectConfig({ disableFile: true, overrideEnvVars: {} }), {
    connectionOptions: {},
    namespace: undefined,
  });
  assertRejected(
    () => loadClientConfigProfile({ disableFile: true, disableEnv: true }),
    "exclude every source",
  );
});

test("the profile name is the option, else TEMPORAL_PROFILE, else `default`, which may be missing", () => {
  assert.equal(profile(FULL, { TEMPORAL_PROFILE: "other" }).address, "other:7233");
  assert.equal(profile(FULL, { TEMPORAL_PROFILE: "" }).address, "file:7233");
  assert.equal(
    profile(FULL, { TEMPORAL_PROFILE: "absent" }, { profile: "other" }).address,
    "other:7233",
  );
  assert.deepEqual(profile('[profile.other]\naddress = "a:1"'), {});
  assertRejected(
    () => profile(FULL, { TEMPORAL_PROFILE: "prod" }),
    '"prod" (TEMPORAL_PROFILE) was not found',
    "default, other",
  );
  assertRejected(() => profile(FULL, {}, { profile: "__proto__" }), "was not found");
  assertRejected(
    () =>
      loadClientConfigProfile({
        profile: "prod",
        overrideEnvVars: { TEMPORAL_CONFIG_FILE: join(folder, "no") },
      }),
    "does not exist",
  );
});

test("the file is the option, else TEMPORAL_CONFIG_FILE, else in the user's configuration folder", () => {
  const named = file("named.toml", '[profile.default]\naddress = "named:1"');
  assert.equal(
    loadClientConfigProfile({ overrideEnvVars: { TEMPORAL_CONFIG_FILE: named } }).address,
    "named:1",
  );
  const other = file("other.toml", '[profile.default]\naddress = "other:1"');
  const both = { configSource: { path: other }, overrideEnvVars: { TEMPORAL_CONFIG_FILE: named } };
  assert.equal(loadClientConfigProfile(both).address, "other:1");
  // A file that the environment names need not be there, but in strict mode; one that the program
  // names must.
  const gone = { overrideEnvVars: { TEMPORAL_CONFIG_FILE: join(folder, "gone.toml") } };
  assert.deepEqual(loadClientConfigProfile(gone), {});
  assertRejected(
    () => loadClientConfigProfile({ ...gone, configFileStrict: true }),
    "gone.toml",
    "cannot be read",
  );
  assertRejected(
    () =>
      loadClientConfigProfile({
        configSource: { path: join(folder, "gone.toml") },
        overrideEnvVars: {},
      }),
    "gone.toml",
    "cannot be read",
  );
  assertRejected(
    () => loadClientConfigProfile({ configSource: { path: folder }, overrideEnvVars: {} }),
    "cannot be read",
  );
});

test("the default file depends on the platform", {
  skip: platform() !== "linux" && "its folder is another one here",
}, () => {
  const home = join(folder, "home");
  mkdirSync(join(home, ".config/temporalio"), { recursive: true });
  mkdirSync(join(home, "xdg/temporalio"), { recursive: true });
  writeFileSync(
    join(home, ".config/temporalio/temporal.toml"),
    '[profile.default]\naddress = "home:1"',
  );
  writeFileSync(join(home, "xdg/temporalio/temporal.toml"), '[profile.default]\naddress = "xdg:1"');
  assert.equal(loadClientConfigProfile({ overrideEnvVars: { HOME: home } }).address, "home:1");
  assert.equal(
    loadClientConfigProfile({ overrideEnvVars: { HOME: home, XDG_CONFIG_HOME: join(home, "xdg") } })
      .address,
    "xdg:1",
  );
  assert.deepEqual(
    loadClientConfigProfile({ overrideEnvVars: { HOME: home, XDG_CONFIG_HOME: "relative" } }),
    {},
  );
  assert.deepEqual(loadClientConfigProfile({ overrideEnvVars: {} }), {});
});

test("TLS is enabled by an API key or a TLS section, also an empty one, unless it is disabled", () => {
  assert.equal(connect("").tls, undefined);
  assert.equal(connect('[profile.default]\napi_key = "k"').tls, true);
  assert.equal(connect("[profile.default.tls]").tls, true);
  assert.equal(connect("[profile.default.tls]\ndisabled = false").tls, true);
  assert.equal(connect("[profile.default.tls]\ndisabled = true").tls, false);
  assert.equal(connect('[profile.default]\napi_key = "k"\ntls = { disabled = true }').tls, false);
  assert.equal(connect("", { TEMPORAL_TLS: "true" }).tls, true);
  assert.equal(connect('[profile.default]\napi_key = "k"', { TEMPORAL_TLS: "0" }).tls, false);
  assert.deepEqual(connect("", { TEMPORAL_TLS_SERVER_NAME: "n" }).tls, { serverName: "n" });
  // What TLS would need is not looked at where it is off.
  assert.equal(
    connect('[profile.default.tls]\ndisabled = true\nclient_cert_path = "/nowhere"').tls,
    false,
  );
});

test("certificates are read from files or given as data", () => {
  const cert = file("cert.pem", "CERT");
  const options = connect("", {
    TEMPORAL_TLS_CLIENT_CERT_PATH: cert,
    TEMPORAL_TLS_CLIENT_KEY_DATA: "KEY",
  });
  assert.deepEqual(options.tls, { clientCertificate: "CERT", clientKey: "KEY" });
  assertRejected(
    () => connect("", { TEMPORAL_TLS_CLIENT_CERT_DATA: "CERT" }),
    "client certificate but no key",
  );
  assertRejected(
    () => connect('[profile.default.tls]\nserver_ca_cert_path = "/no/such.pem"'),
    "/no/such.pem",
    "CA certificate",
  );
});

test("giving path and data of one certificate is an error, within a source and across sources", () => {
  assertRejected(
    () => profile("", { TEMPORAL_TLS_CLIENT_KEY_PATH: "/k", TEMPORAL_TLS_CLIENT_KEY_DATA: "K" }),
    "TEMPORAL_TLS_CLIENT_KEY_PATH and TEMPORAL_TLS_CLIENT_KEY_DATA",
  );
  assertRejected(
    () => profile('[profile.default.tls]\nclient_cert_path = "/c"\nclient_cert_data = "C"'),
    "profile.default.tls.client_cert_path",
    "profile.default.tls.client_cert_data",
  );
  assertRejected(
    () =>
      profile('[profile.default.tls]\nserver_ca_cert_path = "/c"', {
        TEMPORAL_TLS_SERVER_CA_CERT_DATA: "C",
      }),
    "TEMPORAL_TLS_SERVER_CA_CERT_DATA",
    "server_ca_cert_path",
  );
});

test("invalid values are rejected with their position, and secrets are not quoted", () => {
  assertRejected(
    () => profile("", { TEMPORAL_TLS: "yes" }),
    'TEMPORAL_TLS must be "true" or "false"',
    '"yes"',
  );
  assertRejected(
    () => profile("", { TEMPORAL_TLS_DISABLE_HOST_VERIFICATION: "on" }),
    "TEMPORAL_TLS_DISABLE_HOST_VERIFICATION",
  );
  assertRejected(
    () => profile("[profile.default]\naddress = 7233"),
    "profile.default.address",
    "must be a quoted string, not a number",
  );
  assertRejected(
    () => profile("[profile.default.tls]\ndisabled = 'no'"),
    "profile.default.tls.disabled",
    "must be true or false, not text",
  );
  assertRejected(
    () => profile("[profile.default]\ntls = true"),
    "profile.default.tls",
    "must be a table",
  );
  assertRejected(() => profile("profile = []"), '"profile" must be a table, not a list');
  const broken = file("broken.toml", '[profile.default]\napi_key = "secret-7" x\n');
  try {
    loadClientConfigProfile({ configSource: { path: broken }, overrideEnvVars: {} });
    assert.fail("it is invalid TOML");
  } catch (error) {
    const { message } = error as Error;
    assert.ok(error instanceof ClientConfigError, String(error));
    assert.match(message, /broken\.toml is not valid TOML: line 2, column/);
    assert.doesNotMatch(message, /secret-7/);
    assert.doesNotMatch(String((error as Error).cause), /secret-7/);
  }
});

test("strict mode rejects unknown keys at any level, with file and key", () => {
  for (
    const [toml, key] of [
      ["other = 1", '"other"'],
      ['[profile.default]\nadress = "a:1"', '"profile.default.adress"'],
      ['[profile.default.tls]\nca = "x"', '"profile.default.tls.ca"'],
      ['[profile.default.codec]\nurl = "x"', '"profile.default.codec.url"'],
    ] as const
  ) {
    assert.ok(profile(toml));
    const path = file("strict.toml", toml);
    assertRejected(
      () =>
        loadClientConfigProfile({
          configSource: { path },
          configFileStrict: true,
          overrideEnvVars: {},
        }),
      path,
      key,
    );
  }
  assert.ok(profile(FULL, {}, { configFileStrict: true }));
});
