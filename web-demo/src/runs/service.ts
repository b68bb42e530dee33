// The page's service: each call is one POST with bytes to `temporalex ui`. The server decides which
// calls are allowed.
import { Client, silentLogger } from "temporalex/client";
import {
  type CallOptions,
  Code,
  type MethodName,
  type RawService,
  ServiceError,
} from "../../../ts/service/raw.ts";
import { type TypedService, typedService } from "../../../ts/service/typed.ts";
import { dataAddress } from "../served/about.ts";

class PageService implements RawService {
  readonly losesCancelledPolls = true;

  async call(
    method: MethodName,
    request: Uint8Array,
    { signal, timeoutMs }: CallOptions = {},
  ): Promise<Uint8Array> {
    return await post(method, request, timeoutMs, signal);
  }
}

/** Sends one call. `method` is the name of its route. */
async function post(
  method: string,
  request: Uint8Array,
  timeoutMs?: number,
  signal?: AbortSignal,
): Promise<Uint8Array> {
  const response = await send(method, request, timeoutMs, signal);
  if (response.headers.get("content-type") === "application/json") {
    throw serviceError(await response.json() as ErrorJson);
  }
  return new Uint8Array(await response.arrayBuffer());
}

/** Sends one call whose result is JSON. */
async function json<T>(method: string, request: Uint8Array): Promise<T> {
  const result = await (await send(method, request)).json() as T | ErrorJson;
  if (typeof result === "object" && result !== null && "code" in result) throw serviceError(result);
  return result as T;
}

interface ErrorJson {
  readonly code: Code;
  readonly message: string;
  readonly reason: string;
}

const serviceError = ({ code, message, reason }: ErrorJson): ServiceError =>
  new ServiceError(code, message, reason);

async function send(
  method: string,
  request: Uint8Array,
  timeoutMs?: number,
  signal?: AbortSignal,
): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(dataAddress(`call/${method}`), {
      method: "POST",
      headers: {
        "content-type": "application/octet-stream",
        ...(timeoutMs === undefined ? {} : { "x-timeout-ms": String(Math.ceil(timeoutMs)) }),
      },
      body: request as Uint8Array<ArrayBuffer>,
      ...(signal === undefined ? {} : { signal }),
    });
  } catch (error) {
    if (signal?.aborted === true) throw signal.reason;
    throw new ServiceError(
      Code.UNAVAILABLE,
      `temporalex ui cannot be reached: ${(error as Error).message}`,
    );
  }
  if (!response.ok) {
    throw new ServiceError(
      Code.UNAVAILABLE,
      `temporalex ui rejected the call: ${(await response.text()).trim()}`,
    );
  }
  return response;
}

/** Fires a timer of a run with manual timers, by the timer's id. Rejects with a ServiceError. */
export async function fireTimerOfRun(
  timer: { readonly workflowId: string; readonly runId: string; readonly name: string },
): Promise<void> {
  await post("fireTimer", new TextEncoder().encode(JSON.stringify(timer)));
}

/** What a run shows of itself. */
export interface ShownOfRun {
  /** Number of awaits that the code has passed; null before the first report. */
  readonly phase: number | null;
  /** The published state as JSON; null: none. */
  readonly state: string | null;
}

/** Reads what a run shows of itself. Rejects with UNIMPLEMENTED on a Temporal cluster. */
export async function readShown(namespace: string, runId: string): Promise<ShownOfRun> {
  return await json<ShownOfRun>(
    "readShown",
    new TextEncoder().encode(JSON.stringify({ namespace, runId })),
  );
}

/** The methods of WorkflowService that no client method covers. */
export const callsOfService: TypedService = typedService(new PageService());

/** A client of the store or cluster of the command. */
export const clientOf = (namespace: string): Client =>
  new Client({
    service: new PageService(),
    namespace,
    identity: "temporalex ui",
    logger: silentLogger,
  });
