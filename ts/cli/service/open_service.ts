// The service of a command's options, with a client: a local store, held by another process or by
// none, or a cluster.
import { resolve } from "node:path";
import { NO_WORKER, StoreService } from "../../app/store_service.ts";
import { Client } from "../../client/client.ts";
import { DeadlineExceededError, WorkflowNotFoundError } from "../../client/errors.ts";
import type { WorkflowHandle } from "../../client/handle.ts";
import { processIdentity } from "../../platform/host.ts";
import { lineLogger } from "../../base/logger.ts";
import type { RawService } from "../../service/raw.ts";
import { meansCluster, openCluster } from "./cluster.ts";
import { importCodec } from "./codec.ts";
import type { Call } from "../frame/command.ts";
import { UsageError } from "../frame/errors.ts";
import { withUnavailableNotice } from "./unavailable_notice.ts";
import { blockedReason } from "./blocked_reason.ts";
import { inOurWords, reworded } from "./reworded.ts";
import { CliConverter } from "../text/values.ts";
import { DEFAULT_STORE, type SERVICE_OPTIONS } from "./options.ts";

/** `--timeout 0` disables the limit, as in Temporal's command line; the maximum of timers. */
const NO_LIMIT_MS = 2 ** 31 - 1;

export type ServiceCall = Call<typeof SERVICE_OPTIONS>;

/** A workflow of any type. */
// deno-lint-ignore no-explicit-any
export type Handle = WorkflowHandle<any>;

export interface Connection {
  readonly client: Client;
  readonly service: RawService;
  /** "store /path/of/it" or "host:port". */
  readonly where: string;
  /** Path of the store; undefined for a cluster. */
  readonly store: string | undefined;
  /** Returns whether a process that may have workers holds the store; always true for a cluster. */
  readonly held: () => boolean;
  /** `timeout` for client calls. */
  readonly settings: { readonly timeout?: number };
}

/** Returns the path of the store in the options. */
export function storePath(
  { options, io }: {
    readonly options: { readonly store: string | undefined };
    readonly io: { readonly cwd: string };
  },
): string {
  return resolve(io.cwd, options.store ?? DEFAULT_STORE);
}

/** Opens the service while `use` runs. `cluster`: always a cluster. */
export async function withService<T>(
  call: ServiceCall,
  use: (connection: Connection) => Promise<T>,
  { cluster = meansCluster(call.options) }: { readonly cluster?: boolean } = {},
): Promise<T> {
  const { options, given, print } = call;
  if (cluster && given.has("store")) {
    const named = options.address !== undefined
      ? "--address"
      : options.profile !== undefined
      ? "--profile"
      : "--config-file";
    throw new UsageError(
      `--store and ${named} cannot be used together: a store is a file of this machine, the other a cluster`,
    );
  }
  const codec = await importCodec(call.io.cwd, options.codec);
  let waiting = false;
  const tellWaiting = () => {
    if (waiting) return;
    waiting = true;
    const reason = `no process has ${
      storePath(call)
    } open, and the workflow needs a worker to continue`;
    print.note(`waiting: ${reason}. Ctrl-C stops waiting, not the workflow.`);
  };
  const opened = cluster ? await openCluster(call) : openStore(call, tellWaiting);
  const { service: raw, close, namespace, ...place } = opened;
  const tries = withUnavailableNotice(raw, place.where, print);
  // A store that is not available has separate messages.
  const service = place.store === undefined ? tries.service : raw;
  const client = new Client({
    service,
    namespace,
    converter: new CliConverter(),
    ...codec,
    identity: options.identity ?? `temporalex-cli:${processIdentity()}`,
    logger: lineLogger({ minimum: "warn", write: (line) => print.note(line) }),
  });
  const limit = timeoutOf(call);
  const settings = limit === undefined ? {} : { timeout: limit };
  try {
    return await use({ client, service, settings, ...place });
  } catch (failure) {
    tries.done();
    const { workflowId, runId } = call.options as { workflowId?: string; runId?: string };
    const error = await orNotFound(failure, client, workflowId, runId);
    const told = inOurWords(error, {
      where: place.where,
      cluster,
      store: options.store,
      workflowId,
    });
    if (!(error instanceof DeadlineExceededError) || workflowId === undefined || !place.held()) {
      throw told;
    }
    const why = await blockedReason(client, workflowId, runId);
    if (why === "") throw told;
    throw reworded(
      error,
      error.updateId === undefined
        ? `${error.message.split(";")[0]}: ${why}`
        : `${(told as Error).message}. ${why}`,
    );
  } finally {
    tries.done();
    await close();
  }
}

/** Replaces a worker's error by "not found" if the workflow does not exist. */
async function orNotFound(
  failure: unknown,
  client: Client,
  workflowId: string | undefined,
  runId: string | undefined,
): Promise<unknown> {
  if ((failure as { reason?: unknown }).reason !== NO_WORKER || workflowId === undefined) {
    return failure;
  }
  return await client.getHandle(undefined, workflowId, runId).describe().then(
    () => failure,
    (error: unknown) => error instanceof WorkflowNotFoundError ? error : failure,
  );
}

function timeoutOf({ options: { timeout } }: ServiceCall): number | undefined {
  return timeout === 0 ? NO_LIMIT_MS : timeout;
}

function openStore(call: ServiceCall, onWaiting: () => void) {
  const path = storePath(call);
  const service = new StoreService({
    path,
    namespace: call.options.namespace,
    patienceMs: timeoutOf(call) ?? 0,
    onWaiting,
  });
  const { namespace } = call.options;
  return {
    service,
    where: `store ${path}`,
    namespace,
    store: path,
    held: () => service.held,
    close: () => service.close(),
  };
}
