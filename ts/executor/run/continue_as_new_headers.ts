// Headers that a run passes to the next one on continue-as-new. Buffered signals are delivered
// first there, in order. A cancel request that no code has observed is passed on with its place
// among them. All of it precedes messages to the new run. Beyond the size limit the task fails,
// because no signal may be dropped.
import type { Job } from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { WirePayload } from "../program/encode.ts";
import { WorkflowTaskError } from "../program/errors.ts";
import {
  BUFFERED_SIGNALS_HEADER,
  CANCEL_REQUEST_HEADER,
  fromText,
  HEADER_LIMIT,
  jsonHeader,
  type PayloadText,
  toText,
} from "../scheduler/next_run_headers.ts";
import { requestCancellation } from "./cancel_request.ts";
import type { RunState } from "../scheduler/run_state.ts";

interface BufferedSignal {
  readonly name: string;
  readonly input: readonly PayloadText[];
}

/**
 * The headers of the next run: buffered signals, cancel request, completed updates. `carries`: next
 * round.
 */
export function headersForNextRun(run: RunState, carries: boolean): { [key: string]: WirePayload } {
  return { ...signalsHeader(run), ...cancelHeader(run, carries), ...run.answered.header() };
}

interface OpenCancelRequest {
  readonly reason: string;
  /** How many of the passed signals came before it. */
  readonly after: number;
  /** For a loop that was canceled before its next round: whether code has observed it. */
  readonly told?: boolean;
}

function cancelHeader(
  { cancellation, inbox }: RunState,
  carries: boolean,
): { [key: string]: WirePayload } {
  if (cancellation === undefined) return {};
  const { reason, order, told } = cancellation;
  const ofLoop = carries && cancellation.inTime;
  if (told && !ofLoop) return {};
  const after = inbox.signals().filter((signal) => signal.order < order).length;
  return jsonHeader.write(
    CANCEL_REQUEST_HEADER,
    { reason, after, ...(ofLoop ? { told } : {}) } satisfies OpenCancelRequest,
  );
}

function signalsHeader(run: RunState): { [key: string]: WirePayload } {
  const signals = run.inbox.signals();
  if (signals.length === 0) return {};
  const header = jsonHeader.write(
    BUFFERED_SIGNALS_HEADER,
    signals.map(({ name, input }): BufferedSignal => ({ name, input: input.map(toText) })),
  );
  const size = header[BUFFERED_SIGNALS_HEADER]!.data.length;
  if (size > HEADER_LIMIT) {
    throw new WorkflowTaskError(
      `${signals.length} unprocessed signals (${size} bytes) exceed the limit of ${HEADER_LIMIT} bytes that can be ` +
        `carried over a continue-as-new; receive them before continuing as new`,
    );
  }
  return header;
}

/**
 * Restores carried signals to the inbox of a new run, and the updates that earlier runs completed.
 * Returns jobs for after the first turn: a carried cancel request and later signals. A canceled
 * loop stays canceled.
 */
export function restoreFromPreviousRun(
  run: RunState,
  headers: { readonly [key: string]: WirePayload },
): Job[] {
  const signals: { name: string; input: WirePayload[] }[] = [];
  const later: Job[] = [];
  jsonHeader.read<BufferedSignal[]>(headers, BUFFERED_SIGNALS_HEADER, (all) => {
    for (const { name, input } of all) signals.push({ name, input: input.map(fromText) });
  });
  jsonHeader.read<OpenCancelRequest>(headers, CANCEL_REQUEST_HEADER, ({ reason, after, told }) => {
    if (told !== undefined) {
      for (const { name, input } of signals.splice(0, after)) run.inbox.pushSignal(name, input);
      requestCancellation(run, reason);
      run.cancellation!.told = told;
      return;
    }
    later.push({ eventId: 1, variant: { $case: "cancelWorkflow", value: { reason } } });
    for (const { name: signalName, input } of signals.splice(after)) {
      later.push({
        eventId: 1,
        variant: {
          $case: "signalWorkflow",
          value: { signalName, input, identity: "", headers: {} },
        },
      });
    }
  });
  for (const { name, input } of signals) run.inbox.pushSignal(name, input);
  run.answered.restore(headers);
  return later;
}
