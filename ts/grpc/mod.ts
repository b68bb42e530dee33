// "temporalex/temporal": connections to a Temporal cluster, in Node and Deno. Browsers need a
// gateway.
export { Connection, type ConnectionOptions, type ConnectOptions } from "./connection.ts";
export { type ServerCapabilities, type ServerInfo } from "../api/server_info.ts";
export { type GrpcOptions, type KeepAliveOptions } from "./grpc_service.ts";
export {
  type ProbedWorker,
  type Probes,
  type ProbesOptions,
  serveProbes,
} from "../server/probes.ts";
export { type ProxyOptions } from "./proxy.ts";
export { proxyFromEnvironment } from "./config/proxy_environment.ts";
export { type TlsOptions } from "./tls.ts";
export { type Duration } from "../converter/duration.ts";
export {
  type CallOptions,
  Code,
  type MethodName,
  type RawService,
  ServiceError,
} from "../service/raw.ts";
export {
  CLIENT_CONFIG_VARIABLES,
  ClientConfigError,
  type ClientConfigProfile,
  type ClientConfigTls,
  type ClientConnectConfig,
  type ConfigDataSource,
  connectionOptionsOf,
  type LoadClientConfigOptions,
  loadClientConfigProfile,
  loadClientConnectConfig,
} from "./config/client_config.ts";
