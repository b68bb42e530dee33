// The cluster of a command: options override Temporal's environment variables, which override the
// profile of its configuration file, as in Temporal's command line. Variables alone select no
// cluster, because a variable for another program must not redirect a command that is meant for a
// local store. `--address`, `--profile` or `--config-file` selects one.
import { resolve } from "node:path";
import {
  ClientConfigError,
  type ClientConnectConfig,
  connectionOptionsOf,
  loadClientConfigProfile,
} from "../../grpc/config/client_config.ts";
import { GrpcService } from "../../grpc/grpc_service.ts";
import { proxyOf, type ProxyOptions } from "../../grpc/proxy.ts";
import { proxyFromEnvironment } from "../../grpc/config/proxy_environment.ts";
import type { TlsOptions } from "../../grpc/tls.ts";
import type { Call } from "../frame/command.ts";
import { UsageError } from "../frame/errors.ts";
import type { SERVICE_OPTIONS } from "./options.ts";
import { keyValue } from "../text/values.ts";

type ClusterCall = Pick<
  Call<Omit<typeof SERVICE_OPTIONS, "timeout" | "codec" | "identity">>,
  "options" | "given" | "io"
>;

const DEFAULT_ADDRESS = "localhost:7233";

/** Returns whether the options select a cluster instead of a store. */
export function meansCluster(
  { address, profile, configFile }: Partial<
    Pick<ClusterCall["options"], "address" | "profile" | "configFile">
  >,
): boolean {
  return address !== undefined || profile !== undefined || configFile !== undefined;
}

/** Returns address and credentials of the cluster. */
async function clusterOptions({ options, given, io }: ClusterCall): Promise<ClientConnectConfig> {
  const read = async (flag: string, path: string | undefined) => {
    if (path === undefined) return undefined;
    try {
      return new TextDecoder().decode(await io.read(resolve(io.cwd, path)));
    } catch (error) {
      throw new UsageError(`${flag} ${path} cannot be read: ${(error as Error).message}`);
    }
  };
  const [serverRootCaCertificate, clientCertificate, clientKey] = await Promise.all([
    read("--tls-ca-path", options.tlsCaPath),
    read("--tls-cert-path", options.tlsCertPath),
    read("--tls-key-path", options.tlsKeyPath),
  ]);
  const profile = loadClientConfigProfile({
    overrideEnvVars: io.env,
    ...(options.profile !== undefined && { profile: options.profile }),
    ...(options.configFile !== undefined &&
      { configSource: { path: resolve(io.cwd, options.configFile) } }),
  });
  const from = connectionOptionsOf(profile);
  const { tlsServerName: serverName } = options;
  const tls: TlsOptions = {
    ...(typeof from.tls === "object" && from.tls),
    ...(serverRootCaCertificate !== undefined && { serverRootCaCertificate }),
    ...(clientCertificate !== undefined && { clientCertificate }),
    ...(clientKey !== undefined && { clientKey }),
    ...(serverName !== undefined && { serverName }),
  };
  const address = options.address ?? from.address ?? DEFAULT_ADDRESS;
  const proxy = options.proxy === undefined
    ? proxyFromEnvironment(address, io.env)
    : proxyOption(options.proxy, io.env);
  const wanted = Object.keys(tls).length > 0
    ? tls
    : options.tls
    ? true
    : given.has("tls")
    ? false
    : from.tls;
  return {
    namespace: profile.namespace,
    connectionOptions: {
      ...from,
      address,
      ...(proxy !== undefined && { proxy }),
      ...(wanted !== undefined && { tls: wanted }),
      ...(options.apiKey !== undefined && { apiKey: options.apiKey }),
      metadata: {
        ...from.metadata,
        ...Object.fromEntries(options.grpcMeta.map((pair) => keyValue("--grpc-meta", pair))),
      },
    },
  };
}

/**
 * Credentials of a proxy, in a variable because command lines are visible to every user of a
 * machine.
 */
export const PROXY_AUTH = "TEMPORALEX_PROXY_AUTH";

/** Options of a connection in its errors, with the matching command options. */
const CONNECT_OPTIONS = [
  ["tls.serverRootCaCertificate", "--tls-ca-path"],
  ["tls.clientCertificate", "--tls-cert-path"],
  ["tls.clientKey", "--tls-key-path"],
  ["tls.serverName", "--tls-server-name"],
  ["tls", "--tls"],
  ["proxy.basicAuth", `${PROXY_AUTH}, or the user:password@ of HTTPS_PROXY`],
] as const;

/** Replaces the connection's options in a message by those of the command. */
export function withCommandOptions(message: string): string {
  return CONNECT_OPTIONS.reduce(
    (text, [name, option]) => text.replaceAll(`\`${name}\``, option),
    message,
  )
    .replace(
      "omit --tls, or set it to false",
      "omit --tls; with an API key or a profile use --tls=false",
    );
}

function proxyOption(
  targetHost: string,
  env: { readonly [name: string]: string | undefined },
): ProxyOptions {
  if (targetHost.includes("@")) {
    throw new UsageError(
      `--proxy takes no credentials, because others see command lines: set ${PROXY_AUTH} to user:password`,
    );
  }
  const auth = env[PROXY_AUTH] || undefined;
  const [, username, password] = auth === undefined ? [] : /^([^:]+):(.*)$/s.exec(auth) ?? [];
  if (auth !== undefined && password === undefined) {
    throw new UsageError(`${PROXY_AUTH} must be user:password`);
  }
  const proxy: ProxyOptions = {
    type: "http-connect",
    targetHost,
    ...(password !== undefined && { basicAuth: { username: username!, password } }),
  };
  try {
    proxyOf(proxy);
  } catch (error) {
    throw new UsageError(
      (error as Error).message.replace("proxy.targetHost", "--proxy").replace(
        /proxy\.basicAuth\.(\w+)/,
        `the $1 in ${PROXY_AUTH}`,
      ),
    );
  }
  return proxy;
}

/** Connects with the first call. Throws a UsageError for invalid options, variables and files. */
export async function openCluster(call: ClusterCall) {
  try {
    const { connectionOptions, namespace } = await clusterOptions(call);
    const address = connectionOptions.address!;
    const service = new GrpcService({ ...connectionOptions, address });
    return {
      service,
      where: address,
      namespace: call.given.has("namespace")
        ? call.options.namespace
        : namespace ?? call.options.namespace,
      store: undefined,
      held: () => true,
      close: () => Promise.resolve(service.close()),
    };
  } catch (error) {
    // Rejected arguments are user errors here.
    if (error instanceof ClientConfigError) throw new UsageError(error.message);
    if (!(error instanceof TypeError)) throw error;
    // The options name files with the texts that the connection takes.
    const message = error.message.replace(
      /\btls\.\w+/g,
      (name) => withCommandOptions(`\`${name}\``),
    );
    throw new UsageError(
      message.replace(/it must be the (PEM text .*), not a path$/, "the file must have $1"),
    );
  }
}
