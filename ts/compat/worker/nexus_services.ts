// The Nexus services of a worker: `nexusServices` of the official options.
import { messageOf } from "../../converter/thrown.ts";
import { handlerError } from "../nexus/errors.ts";
import { isHandlerError } from "../common/handler_error.ts";
import type { ServiceHandler } from "../nexus/types.ts";
import type { MessageCodec } from "../../codec/message_codec.ts";
import type { NexusServices } from "../../worker/nexus/nexus_call.ts";
import { type NexusEnvironment, NexusRun } from "./nexus_run.ts";
import { NexusValues } from "./nexus_values.ts";

/**
 * Returns services by name; undefined without any. Throws a TypeError for duplicate names and
 * invalid services.
 */
export function adaptServices(
  given: readonly unknown[] | undefined,
): Map<string, ServiceHandler> | undefined {
  if (given === undefined || given === null || given.length === 0) return undefined;
  const services = new Map<string, ServiceHandler>();
  for (const service of given as ServiceHandler[]) {
    if (typeof service?.getOperationHandler !== "function") {
      throw new TypeError(
        "WorkerOptions.nexusServices takes what nexus.serviceHandler() of nexus-rpc makes",
      );
    }
    const name = service.definition?.name;
    if (!name) throw new TypeError("Nexus services must have a non-empty name.");
    if (services.has(name)) {
      throw new TypeError(`Duplicate registration of nexus service '${name}'`);
    }
    services.set(name, service);
  }
  return services;
}

/** Runs the handlers of these services. */
export function openNexusServices(
  environment: NexusEnvironment,
  codec: MessageCodec | undefined,
): NexusServices {
  const values = new NexusValues(environment.converter, codec);
  return {
    names: [...environment.services.keys()],
    async run(request) {
      try {
        return await new NexusRun(request, environment, values).run();
      } catch (error) {
        const { namespace, taskQueue, logger } = environment;
        const { service, operation } = request;
        const attributes = { namespace, taskQueue, service, operation };
        const shown = values.loggable(error);
        logger.error(`Error while processing Nexus task: ${messageOf(shown)}`, {
          ...attributes,
          error: shown,
        });
        return await values.unhandled(
          isHandlerError(error) ? error : handlerError("INTERNAL", undefined, { cause: error }),
        );
      }
    },
  };
}
