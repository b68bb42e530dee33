// Fires timers by hand through the process that has the engine, for the command line: one method in
// addition to WorkflowService, with client and server side. The engine rejects it for workflows
// whose timers fire when due (engine/manual_timers.ts).
import type { EmbeddedEngine } from "../engine/embedded_engine.ts";
import type { GrpcService } from "../grpc/grpc_service.ts";
import type { ExtraMethod } from "../server/extra_methods.ts";
import { Code, ServiceError } from "../service/raw.ts";
import { jsonMessage, readJsonMessage } from "./json_message.ts";
import { findHolder } from "./socket_path.ts";
import { lineTo, resolveStorePath } from "./store_service.ts";

const SERVICE = "temporalex.test.v1.TestService";
const METHOD = "FireTimer";
const TIMEOUT_MS = 10_000;

export interface TimerToFire {
  /** "": the namespace of the store. */
  readonly namespace: string;
  readonly workflowId: string;
  readonly runId?: string;
  /** Name or id of the timer. */
  readonly name: string;
}

/** `engineOf`: the engine of a namespace; undefined for an unknown namespace. */
export function fireTimerMethod(
  engineOf: (namespace: string) => EmbeddedEngine | undefined,
): ExtraMethod {
  return {
    service: SERVICE,
    method: METHOD,
    async unary(bytes) {
      const { namespace, workflowId, name, runId } = read(bytes);
      const engine = engineOf(namespace);
      if (engine === undefined) {
        throw new ServiceError(Code.NOT_FOUND, `namespace "${namespace}" does not exist`);
      }
      await engine.fireTimer(workflowId, name, runId);
      return new Uint8Array(0);
    },
  };
}

function read(bytes: Uint8Array): TimerToFire {
  try {
    const { namespace, workflowId, name, runId } = readJsonMessage(bytes) as Partial<TimerToFire>;
    if ([namespace, workflowId, name, runId ?? ""].every((text) => typeof text === "string")) {
      return {
        namespace: namespace!,
        workflowId: workflowId!,
        name: name!,
        ...(runId !== undefined && { runId }),
      };
    }
  } catch {
    // Reported below.
  }
  throw new ServiceError(
    Code.INVALID_ARGUMENT,
    "invalid request to fire a timer: field 1 must be JSON with namespace, workflowId and name",
  );
}

/**
 * Fires a timer in a process that has the engine. Rejects with a ServiceError; UNIMPLEMENTED if the
 * service is a Temporal server.
 */
export async function askToFire(
  service: GrpcService,
  timer: TimerToFire,
  signal: AbortSignal,
): Promise<void> {
  await service.callOther(`/${SERVICE}/${METHOD}`, jsonMessage(timer), {
    signal,
    timeoutMs: TIMEOUT_MS,
  });
}

/**
 * Fires a timer in the process that holds a store. Rejects with a ServiceError; FAILED_PRECONDITION
 * if no process holds it.
 */
export async function fireInStore(
  given: string,
  timer: TimerToFire,
  signal: AbortSignal,
): Promise<void> {
  const path = resolveStorePath(given);
  const notHeld = () =>
    new ServiceError(
      Code.FAILED_PRECONDITION,
      `no process has ${path} open: start one to fire its manual timers`,
    );
  const holder = findHolder(path);
  if (holder === undefined) throw notHeld();
  const line = lineTo(holder);
  try {
    await askToFire(line, timer, signal);
  } catch (error) {
    // A killed holder leaves its socket or port file.
    throw error instanceof ServiceError && error.code === Code.UNAVAILABLE ? notHeld() : error;
  } finally {
    line.close();
  }
}
