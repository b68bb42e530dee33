// "temporalex/nexus": Nexus services for a native worker. Handlers have the context of
// `@temporalio/nexus`, with a client over the worker's service.
import type { Logger as NativeLogger } from "../../base/logger.ts";
import { codecsOf } from "../../codec/codec.ts";
import { MessageCodec } from "../../codec/message_codec.ts";
import type { NexusServicesOf } from "../../worker/nexus/nexus_call.ts";
import { Client } from "../client/client.ts";
import { defaultDataConverter, type LoadedDataConverter } from "../common/data_converter.ts";
import { DefaultFailureConverter } from "../common/default_failure_converter.ts";
import type { Logger } from "../common/logger.ts";
import { noopMetricMeter } from "../common/metrics.ts";
import type { PayloadConverter } from "../common/payload_converters.ts";
import { adaptServices, openNexusServices } from "./nexus_services.ts";

/** Options of `nexusServices`. */
export interface NativeNexusOptions {
  /** Converts values of operations. Default: the worker's `converter`, or Temporal's default. */
  payloadConverter?: PayloadConverter | undefined;
}

/**
 * Returns Nexus services for `Worker.create({ nexusServices })`, from results of
 * `nexus.serviceHandler(...)` of nexus-rpc. Their handlers may use `@temporalio/nexus`, which is
 * `temporalex/compat/nexus`. Throws a TypeError for an empty list, duplicate names, and invalid
 * services.
 *
 * @example
 * const worker = await Worker.create({ service, taskQueue: "payments", nexusServices: nexusServices([payments]) });
 */
export function nexusServices(
  handlers: readonly unknown[],
  options: NativeNexusOptions = {},
): NexusServicesOf {
  const services = adaptServices(handlers);
  if (services === undefined) {
    throw new TypeError("nexusServices() needs at least one service; the list is empty");
  }
  return (
    {
      service,
      namespace,
      taskQueue,
      identity,
      logger,
      codec,
      encodeCommonAttributes,
      converter: own,
    },
  ) => {
    const {
      payloadConverter = (own as PayloadConverter | undefined) ??
        defaultDataConverter.payloadConverter,
    } = options;
    const converter: LoadedDataConverter = {
      payloadConverter,
      // Also for the handlers' client, which may fail activities.
      failureConverter: new DefaultFailureConverter({
        encodeCommonAttributes: encodeCommonAttributes === true,
      }),
      payloadCodecs: codecsOf({ codec }) as LoadedDataConverter["payloadCodecs"],
    };
    let client: Client | undefined;
    const environment = {
      ...{
        namespace,
        taskQueue,
        services,
        converter,
        metricMeter: noopMetricMeter,
        interceptors: [],
      },
      logger: leveled(logger),
      client: () =>
        client ??= new Client({
          connection: service,
          dataConverter: converter,
          namespace,
          identity,
        }),
    };
    return openNexusServices(environment, MessageCodec.of({ codec, encodeCommonAttributes }));
  };
}

function leveled({ debug, info, warn, error }: NativeLogger): Logger {
  const levels = { TRACE: debug, DEBUG: debug, INFO: info, WARN: warn, ERROR: error };
  return {
    log: (level, message, meta) => levels[level](message, meta),
    trace: debug,
    debug,
    info,
    warn,
    error,
  };
}
