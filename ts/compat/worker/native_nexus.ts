// Nexus services for a native worker, which knows of no `@temporalio/nexus`: handlers find the context of that package, with a client over
// the worker's service.
import type { Logger as NativeLogger } from "../../base/logger.ts";
import { codecsOf, type PayloadCodec } from "../../codec/codec.ts";
import { MessageCodec } from "../../codec/message_codec.ts";
import type { RawService } from "../../service/raw.ts";
import type { NexusServices } from "../../worker/nexus_call.ts";
import { Client } from "../client/client.ts";
import { defaultDataConverter, type LoadedDataConverter } from "../common/data_converter.ts";
import type { Logger } from "../common/logger.ts";
import { noopMetricMeter } from "../common/metrics.ts";
import type { PayloadConverter } from "../common/payload_converters.ts";
import { nexusServices, servicesOf } from "./nexus_services.ts";

/** What handlers of a native worker are given. */
export interface NativeNexus {
  readonly service: RawService;
  readonly namespace: string;
  readonly taskQueue: string;
  readonly identity?: string | undefined;
  readonly logger: NativeLogger;
  readonly codec?: PayloadCodec | readonly PayloadCodec[] | undefined;
  readonly payloadConverter?: PayloadConverter | undefined;
}

/** The services as a worker asks them; undefined where there are none. Throws a TypeError for two of one name, and for what is no service. */
export function nativeNexus(given: readonly unknown[], native: NativeNexus): NexusServices | undefined {
  const services = servicesOf(given);
  if (services === undefined) return undefined;
  const { service, namespace, taskQueue, identity, codec, payloadConverter = defaultDataConverter.payloadConverter } = native;
  const converter: LoadedDataConverter = {
    ...defaultDataConverter,
    payloadConverter,
    payloadCodecs: codecsOf({ codec }) as LoadedDataConverter["payloadCodecs"],
  };
  let client: Client | undefined;
  const environment = {
    ...{ namespace, taskQueue, services, converter, metricMeter: noopMetricMeter, interceptors: [] },
    logger: leveled(native.logger),
    client: () =>
      client ??= new Client({
        connection: service,
        dataConverter: converter,
        namespace,
        ...(identity !== undefined && { identity }),
      }),
  };
  return nexusServices(environment, MessageCodec.of({ codec }));
}

function leveled({ debug, info, warn, error }: NativeLogger): Logger {
  const levels = { TRACE: debug, DEBUG: debug, INFO: info, WARN: warn, ERROR: error };
  return { log: (level, message, meta) => levels[level](message, meta), trace: debug, debug, info, warn, error };
}
