// Lists and counts of schedules, with visibility queries over their search attributes.
import { clone, create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { SearchAttributesSchema } from "../../messages/generated/temporal/api/common/v1/message_pb.ts";
import { WorkflowExecutionStatus as Status } from "../../messages/generated/temporal/api/enums/v1/workflow_pb.ts";
import {
  type ScheduleInfo,
  ScheduleSpecSchema,
} from "../../messages/generated/temporal/api/schedule/v1/message_pb.ts";
import type {
  ListSchedulesRequest,
  ListSchedulesResponseSchema,
} from "../../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { withRegisteredTypes } from "../attribute_register.ts";
import { invalid, invalidPageToken } from "../host_bytes.ts";
import type { AttributeTypes, RunRow } from "../store.ts";
import { type Condition, matches } from "../visibility/condition.ts";
import { parseCount, parseQuery } from "../visibility/parse.ts";
import { fillRanges } from "./canonical.ts";
import type { ScheduleState } from "./state.ts";

const MAX_PAGE = 1000;
const RECENT_ACTIONS = 5;
const FUTURE_TIMES = 5;
/** Parts of a spec that lists show. */
const SPEC_PARTS = 10;
const NO_BYTES = new Uint8Array(0);
const utf8 = new TextEncoder();
const text = new TextDecoder();

type FutureTimes = (state: ScheduleState, count: number) => ScheduleInfo["futureActionTimes"];

/** One page of a list, the youngest schedule first. */
export function scheduleListPage(
  states: readonly ScheduleState[],
  { query, maximumPageSize, nextPageToken }: ListSchedulesRequest,
  futureTimes: FutureTimes,
  types: AttributeTypes | undefined,
): MessageInitShape<typeof ListSchedulesResponseSchema> {
  if (maximumPageSize < 0) throw invalid("the page size must not be negative");
  const size = Math.min(maximumPageSize === 0 ? MAX_PAGE : maximumPageSize, MAX_PAGE);
  const after = readToken(nextPageToken, query);
  const { where } = parseQuery(query);
  const rest = selected(states, where).sort(byAge).filter((state) =>
    after === undefined || byAge(state, after) > 0
  );
  const page = rest.slice(0, size);
  const last = page.at(-1);
  return {
    schedules: page.map((state) => entryOf(state, futureTimes, types)),
    nextPageToken: last === undefined || rest.length <= size
      ? NO_BYTES
      : utf8.encode(JSON.stringify({ createdMs: last.createdMs, id: last.id, query })),
  };
}

/** Returns the number of schedules that match a query. */
export function countMatching(states: readonly ScheduleState[], query: string): number {
  const { where, byStatus } = parseCount(query);
  if (byStatus) throw invalid("schedules cannot be grouped; count them with a query");
  return selected(states, where).length;
}

function selected(states: readonly ScheduleState[], where: Condition | undefined): ScheduleState[] {
  return states.filter((state) =>
    where === undefined || matches({ row: rowOf(state), head: NO_BYTES }, where)
  );
}

type Age = Pick<ScheduleState, "createdMs" | "id">;

function byAge(a: Age, b: Age): number {
  return b.createdMs - a.createdMs || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
}

/** A schedule as a row for queries: an open run of the scheduler. */
function rowOf(state: ScheduleState): RunRow {
  const field = (type: string, value: unknown) => ({
    metadata: { encoding: utf8.encode("json/plain"), type: utf8.encode(type) },
    data: utf8.encode(JSON.stringify(value)),
  });
  const searchAttributes = create(SearchAttributesSchema, {
    indexedFields: {
      ...state.searchAttributes?.indexedFields,
      ScheduleId: field("Keyword", state.id),
      TemporalSchedulePaused: field("Bool", state.schedule.state!.paused),
    },
  });
  return {
    workflowId: state.id,
    runId: "",
    workflowType: "temporal-sys-scheduler-workflow",
    taskQueue: "",
    status: Status.RUNNING,
    startTimeMs: state.createdMs,
    closeTimeMs: 0,
    historyLength: 0,
    historySizeBytes: 0,
    wakeAtMs: 0,
    ready: false,
    firstRunId: "",
    nextRunId: "",
    memo: NO_BYTES,
    searchAttributes: toBinary(SearchAttributesSchema, searchAttributes),
  };
}

function entryOf(
  state: ScheduleState,
  futureTimes: FutureTimes,
  types: AttributeTypes | undefined,
) {
  const { schedule, info, searchAttributes } = state;
  const spec = clone(ScheduleSpecSchema, schedule.spec!);
  spec.structuredCalendar = spec.structuredCalendar.slice(0, SPEC_PARTS);
  spec.excludeStructuredCalendar = spec.excludeStructuredCalendar.slice(0, SPEC_PARTS);
  spec.interval = spec.interval.slice(0, SPEC_PARTS);
  fillRanges(spec);
  const action = schedule.action!.action;
  const type = action.case === "startWorkflow" ? action.value.workflowType : undefined;
  return {
    scheduleId: state.id,
    ...(state.memo !== undefined && { memo: state.memo }),
    ...(searchAttributes !== undefined && {
      searchAttributes: withRegisteredTypes(searchAttributes, types),
    }),
    info: {
      spec,
      ...(type !== undefined && { workflowType: type }),
      notes: schedule.state!.notes,
      paused: schedule.state!.paused,
      recentActions: info.recentActions.slice(-RECENT_ACTIONS),
      futureActionTimes: futureTimes(state, FUTURE_TIMES),
    },
  };
}

function readToken(token: Uint8Array, query: string): Age | undefined {
  if (token.length === 0) return undefined;
  try {
    const read = JSON.parse(text.decode(token)) as Partial<Age> & { query?: unknown };
    const { createdMs, id } = read;
    if (typeof createdMs === "number" && typeof id === "string" && read.query === query) {
      return { createdMs, id };
    }
  } catch {
    // Rejected below.
  }
  throw invalidPageToken();
}
