// Passes the core's jobs for Nexus operations to the waiting promises.
import type {
  ResolveNexusOperation,
  ResolveNexusOperationStart,
} from "../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { IllegalStateError } from "./common/errors.ts";
import { decodeCompatFailure } from "./common/failure_converter.ts";
import { decodeTypedValue } from "./typed_values.ts";
import type { CompatRun } from "./run.ts";

/** The server reported the start, or that there will be none. */
export function nexusStarted(run: CompatRun, { seq, status }: ResolveNexusOperationStart): void {
  const start = run.takeCompletion(run.nexusStarts, seq);
  if (status === undefined) {
    throw new IllegalStateError("the start of a Nexus operation was resolved without a result");
  }
  if (status.$case === "failed") {
    return start.reject(decodeCompatFailure(status.value, run.converter));
  }
  const result = new Promise<unknown>((resolve, reject) => {
    run.nexusEnds.set(seq, run.standsAs(start, { resolve, reject, outputType: start.outputType }));
  });
  // Prevents an unhandled rejection.
  result.catch(() => {});
  // As in the official SDK: empty for a synchronous result.
  start.resolve({ token: status.$case === "operationToken" ? status.value : "", result });
}

/** The operation has ended. One that was canceled before its start gets no other result. */
export function nexusEnded(run: CompatRun, { seq, result }: ResolveNexusOperation): void {
  const waiting = run.nexusStarts.has(seq) ? run.nexusStarts : run.nexusEnds;
  const { resolve, reject, outputType } = run.takeCompletion(waiting, seq);
  switch (result?.$case) {
    case "completed":
      return resolve(decodeTypedValue(run.converter, result.value.result, outputType));
    case "failed":
    case "cancelled":
      return reject(decodeCompatFailure(result.value, run.converter));
    case undefined:
      throw new IllegalStateError("a Nexus operation was resolved without a result");
  }
}
