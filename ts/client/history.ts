// Reads a workflow's history: event by event over its pages, as bytes, and as the JSON form of the
// `temporal` command line, Temporal's UI and the replayers of all SDKs.
import type { OptionNames } from "../base/option_names.ts";
import { checkPageSize } from "../base/number_ranges.ts";
import { create, fromBinary, toBinary, toJson } from "@bufbuild/protobuf";
import { EventType } from "../messages/generated/temporal/api/enums/v1/event_type_pb.ts";
import { HistoryEventFilterType } from "../messages/generated/temporal/api/enums/v1/workflow_pb.ts";
import {
  type History,
  type HistoryEvent,
  HistoryEventSchema,
  HistorySchema,
} from "../messages/generated/temporal/api/history/v1/message_pb.ts";
import type { GetWorkflowExecutionHistoryResponse } from "../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import type { ClientContext } from "./context.ts";
import { askUntil, CALL_SETTINGS, type CallSettings, Deadline } from "./calls.ts";
import { CloseCheck } from "./close_check.ts";

/** Options of calls that read a history. */
export interface HistoryOptions extends CallSettings {
  /** Continue with new events until the run closes. Default: end with the current last event. */
  follow?: boolean;
  /** Events per request; the service may send fewer. */
  pageSize?: number;
  /**
   * Decode payloads with the client's codec; those that a replay does not need stay encoded if they
   * do not decode. Default: false, so that an exported history has no decrypted data; replay
   * accepts the codec too.
   */
  decode?: boolean;
}

export const HISTORY_OPTIONS: OptionNames<HistoryOptions> = {
  follow: 1,
  pageSize: 1,
  decode: 1,
  ...CALL_SETTINGS,
};

const CLOSING: ReadonlySet<number> = new Set([
  EventType.WORKFLOW_EXECUTION_COMPLETED,
  EventType.WORKFLOW_EXECUTION_FAILED,
  EventType.WORKFLOW_EXECUTION_TIMED_OUT,
  EventType.WORKFLOW_EXECUTION_CANCELED,
  EventType.WORKFLOW_EXECUTION_TERMINATED,
  EventType.WORKFLOW_EXECUTION_CONTINUED_AS_NEW,
]);

/** Returns whether the event ends a run. */
export function isClosing(event: HistoryEvent): boolean {
  return CLOSING.has(event.eventType);
}

/** Returns a page's events, which a server may send as raw batches. */
export function pageEvents(page: GetWorkflowExecutionHistoryResponse): HistoryEvent[] {
  if (page.rawHistory.length === 0) return page.history?.events ?? [];
  return page.rawHistory.flatMap((blob) => fromBinary(HistorySchema, blob.data).events);
}

/** Yields the events of a run in order. */
export async function* readEvents(
  context: ClientContext,
  workflowId: string,
  runId: string | undefined,
  options: HistoryOptions = {},
): AsyncGenerator<HistoryEvent, void, void> {
  checkPageSize(options.pageSize);
  const deadline = new Deadline(options);
  let nextPageToken: Uint8Array = new Uint8Array(0);
  for (;;) {
    const page: GetWorkflowExecutionHistoryResponse = await askUntil(deadline, async () => {
      const answer = await context.calls.longPoll(
        "getWorkflowExecutionHistory",
        {
          namespace: context.namespace,
          execution: { workflowId, runId: runId ?? "" },
          nextPageToken,
          maximumPageSize: options.pageSize ?? 0,
          waitNewEvent: options.follow ?? false,
          historyEventFilterType: HistoryEventFilterType.ALL_EVENT,
        },
        deadline,
        { asStored: options.decode !== true },
      );
      if (
        answer === undefined || (pageEvents(answer).length === 0 && answer.nextPageToken.length > 0)
      ) {
        nextPageToken = answer?.nextPageToken ?? nextPageToken;
        return undefined;
      }
      return answer;
    });
    for (const event of pageEvents(page)) {
      yield event;
      if (isClosing(event)) return;
    }
    nextPageToken = page.nextPageToken;
    if (nextPageToken.length === 0) return;
  }
}

/**
 * Waits for the closing event of a run and returns it encoded. Only the last event of a chain is
 * decoded (`decodeEvent`), because a codec's storage may have lost values between runs.
 */
export async function waitForClose(
  context: ClientContext,
  workflowId: string,
  runId: string | undefined,
  deadline: Deadline,
): Promise<HistoryEvent> {
  const execution = { workflowId, runId: runId ?? "" };
  let nextPageToken: Uint8Array = new Uint8Array(0);
  const check = new CloseCheck(context, execution, deadline);
  try {
    return await askUntil(deadline, async () => {
      const page = await check.during((under) =>
        context.calls.longPoll(
          "getWorkflowExecutionHistory",
          {
            namespace: context.namespace,
            execution,
            nextPageToken,
            waitNewEvent: true,
            skipArchival: true,
            historyEventFilterType: HistoryEventFilterType.CLOSE_EVENT,
          },
          under,
          { asStored: true },
        )
      );
      if (page === undefined) return undefined;
      nextPageToken = page.nextPageToken;
      return pageEvents(page).find(isClosing);
    });
  } finally {
    check.end();
  }
}

/** Returns an event with decoded payloads. Rejects with a PayloadCodecError. */
export async function decodeEvent(
  { codec }: ClientContext,
  event: HistoryEvent,
): Promise<HistoryEvent> {
  if (codec === undefined) return event;
  return fromBinary(
    HistoryEventSchema,
    await codec.decode(HistoryEventSchema, toBinary(HistoryEventSchema, event)),
  );
}

export async function collectHistory(events: AsyncIterable<HistoryEvent>): Promise<History> {
  const history = create(HistorySchema);
  for await (const event of events) history.events.push(event);
  return history;
}

/** Returns bytes of temporal.api.history.v1.History. */
export function historyToBytes(history: History): Uint8Array {
  return toBinary(HistorySchema, history);
}

/** Returns the form in which `temporal workflow show --output json` and the UI export a history. */
export function historyToJson(history: History): string {
  return JSON.stringify(toJson(HistorySchema, history), undefined, 2);
}
