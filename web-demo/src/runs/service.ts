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
  if (response.headers.get("content-type") === "application/json") {
    const { code, message, reason } = await response.json() as {
      code: Code;
      message: string;
      reason: string;
    };
    throw new ServiceError(code, message, reason);
  }
  if (!response.ok) {
    throw new ServiceError(
      Code.UNAVAILABLE,
      `temporalex ui rejected the call: ${(await response.text()).trim()}`,
    );
  }
  return new Uint8Array(await response.arrayBuffer());
}

/** Fires a timer of a run with manual timers, by the timer's id. Rejects with a ServiceError. */
export async function fireTimerOfRun(
  timer: { readonly workflowId: string; readonly runId: string; readonly name: string },
): Promise<void> {
  await post("fireTimer", new TextEncoder().encode(JSON.stringify(timer)));
}

/** A client of the store or cluster of the command. */
export const clientOf = (namespace: string): Client =>
  new Client({
    service: new PageService(),
    namespace,
    identity: "temporalex ui",
    logger: silentLogger,
  });
