// Selects the source of a command line.
import { UsageError } from "../../../frame/errors.ts";
import { meansCluster } from "../../../service/cluster.ts";
import type { ReplayCall } from "../options.ts";
import { fileSource } from "./files.ts";
import type { Source } from "./source.ts";

/** Throws a UsageError if the command line selects no source, several, or a contradictory one. */
export function checkSource({ options, args, name }: ReplayCall): void {
  const { fromCluster, store, sample } = options;
  const kinds = [
    args.length > 0 && "files",
    store !== undefined && "--store",
    fromCluster !== undefined && "--from-cluster",
  ]
    .filter((kind) => kind !== false);
  if (kinds.length === 0) {
    throw new UsageError(`no history was named; see temporalex ${name} --help`);
  }
  if (kinds.length > 1) {
    throw new UsageError(
      `${kinds.join(" and ")} cannot be used together: replay them one after the other`,
    );
  }
  if (fromCluster === undefined && meansCluster(options)) {
    throw new UsageError(
      "which runs of the cluster? Name them with --from-cluster <query>, for instance 'ExecutionStatus = \"Running\"'",
    );
  }
  if (sample !== undefined && !(Number.isInteger(sample) && sample > 0)) {
    throw new UsageError(`--sample must be a whole number of at least 1, not ${sample}`);
  }
  if (sample !== undefined && args.length > 0) {
    throw new UsageError("--sample is for --from-cluster and --store");
  }
  if (options.open && store === undefined) {
    throw new UsageError(
      `--open is for --store${
        fromCluster === undefined ? "" : '; add ExecutionStatus = "Running" to the query'
      }`,
    );
  }
}

/** Opens the source while `use` runs. Throws an InputError. */
export async function withSource(
  call: ReplayCall,
  use: (source: Source) => Promise<number>,
): Promise<number> {
  const { fromCluster, store } = call.options;
  if (fromCluster !== undefined) {
    return await (await import("./cluster.ts")).withClusterSource(call, fromCluster, use);
  }
  if (store !== undefined) return await (await import("./store.ts")).withStore(call, store, use);
  return await use(fileSource(call.args, call.io.cwd));
}
