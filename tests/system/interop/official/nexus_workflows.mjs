// Workflows that call Nexus operations, on Temporal's own worker: what they return says how the
// operation ended.
import * as nexus from "nexus-rpc";
import * as wf from "@temporalio/workflow";
import { contract } from "./nexus_service.mjs";

function described(error) {
  if (error === undefined || error === null) return undefined;
  const {
    message,
    type,
    nonRetryable,
    retryable,
    retryableOverride,
    rawErrorType,
    details,
    state,
    service,
    operation,
  } = error;
  return {
    ...{
      name: error.name,
      message,
      type,
      nonRetryable,
      retryable,
      retryableOverride,
      rawErrorType,
      details,
      state,
      service,
      operation,
    },
    timeoutType: error.timeoutType,
    hasToken: error.name === "NexusOperationFailure" ? !!error.operationToken : undefined,
    cause: described(error.cause),
  };
}

/** Another service, and operations, that no worker implements. */
const unknown = nexus.service("absent", { echo: nexus.operation() });
const more = nexus.service("tests", { missing: nexus.operation() });

/** Calls one operation. */
export async function call(
  { endpoint, service = "tests", operation, input, options, cancelAfterMs, waitMs },
) {
  const contracts = { tests: contract(nexus), absent: unknown, more };
  const client = wf.createNexusServiceClient({ endpoint, service: contracts[service] });
  let token;
  try {
    const result = await wf.CancellationScope.cancellable(async () => {
      const handle = await client.startOperation(operation, input, {
        scheduleToCloseTimeout: "20s",
        ...options,
      });
      token = handle.token;
      if (waitMs !== undefined) await wf.sleep(waitMs);
      if (cancelAfterMs !== undefined) {
        void wf.CancellationScope.nonCancellable(() => wf.sleep(cancelAfterMs)).then(() =>
          wf.CancellationScope.current().cancel()
        );
      }
      return await handle.result();
    });
    return { result, token };
  } catch (error) {
    return { error: described(error), token };
  }
}

/** Calls one operation many times at once. */
export async function many({ endpoint, count, from }) {
  const client = wf.createNexusServiceClient({ endpoint, service: contract(nexus) });
  const calls = Array.from(
    { length: count },
    (_, i) => client.executeOperation("echo", from + i, { scheduleToCloseTimeout: "60s" }),
  );
  return await Promise.all(calls);
}

/** Implements asynchronous operations. */
export async function backing({ ends, waits, result }) {
  let finished;
  wf.setHandler(wf.defineSignal("finish"), (value) => {
    finished = value ?? true;
  });
  wf.setHandler(wf.defineQuery("state"), () => ({ finished: finished ?? null }));
  if (ends === "fails") {
    throw wf.ApplicationFailure.create({
      message: "the run fails",
      type: "RunFails",
      nonRetryable: true,
    });
  }
  if (waits) await wf.condition(() => finished !== undefined);
  return { result: result ?? "done", finished };
}
