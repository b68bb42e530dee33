// temporalex/gateway: connects a browser tab to a Temporal cluster, through `temporalex gateway`.
export {
  connectGateway,
  GatewayConnection,
  type GatewayOptions,
  type GatewaySocket,
  type GatewayStatus,
} from "./connect.ts";
export {
  type CallOptions,
  Code,
  type MethodName,
  type RawService,
  ServiceError,
} from "../service/raw.ts";
