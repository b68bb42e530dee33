// Nexus services of a worker by path: modules that export results of `nexus.serviceHandler(...)` of
// nexus-rpc. Their handlers run in the main thread of the process.
import type { NativeNexusOptions } from "../../compat/worker/native_nexus.ts";
import type { NexusServicesOf } from "../../worker/mod.ts";
import { UsageError } from "../frame/errors.ts";
import { importModule } from "./user_modules.ts";

const isService = (value: unknown): boolean =>
  typeof (value as { getOperationHandler?: unknown } | null | undefined)?.getOperationHandler ===
    "function";

/**
 * Returns the exported services of modules, also in arrays. Throws a UsageError for a module
 * without one.
 */
async function importServices(
  cwd: string,
  paths: readonly string[],
): Promise<Map<string, unknown>> {
  const services = new Map<string, unknown>();
  for (const path of paths) {
    const exported = Object.values(await importModule(cwd, path, true)).flat().filter(isService);
    if (exported.length === 0) {
      throw new UsageError(
        `${path} exports no Nexus service: export what nexus.serviceHandler(...) of nexus-rpc makes`,
      );
    }
    // A service can be exported under two names.
    for (const service of new Set(exported)) {
      const { name } = (service as { definition: { name: string } }).definition;
      if (services.has(name)) {
        throw new UsageError(`${path}: there is a Nexus service "${name}" already`);
      }
      services.set(name, service);
    }
  }
  return services;
}

/** Returns the services of the modules for a worker; undefined without modules. */
export async function nexusOf(
  cwd: string,
  paths: readonly string[],
  payloadConverter: string | undefined,
): Promise<NexusServicesOf | undefined> {
  if (paths.length === 0) return undefined;
  const services = await importServices(cwd, paths);
  const { nexusServices } = await import("../../compat/worker/native_nexus.ts");
  const module = payloadConverter === undefined
    ? undefined
    : await importModule(cwd, payloadConverter);
  const converter =
    (module?.["payloadConverter"] ?? module?.["default"]) as NativeNexusOptions["payloadConverter"];
  return nexusServices([...services.values()], { payloadConverter: converter });
}
