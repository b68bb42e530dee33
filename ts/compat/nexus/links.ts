// Converts links between executions: Temporal's messages, and the URLs of Nexus requests in all
// SDKs.
import { EventType } from "../../messages/generated/temporal/api/enums/v1/event_type_pb.ts";
import { enumName } from "../../converter/enums.ts";
import { Long } from "../common/long.ts";
import type { PlainMessage } from "../common/plain_proto.ts";
import type { Link } from "./types.ts";

type Ids = [namespace: string, id: string, runId: string];

const TYPE = {
  workflowEvent: "temporal.api.common.v1.Link.WorkflowEvent",
  workflow: "temporal.api.common.v1.Link.Workflow",
  nexusOperation: "temporal.api.common.v1.Link.NexusOperation",
  activity: "temporal.api.common.v1.Link.Activity",
} as const;

/** Returns `NexusOperationScheduled` for EVENT_TYPE_NEXUS_OPERATION_SCHEDULED. */
const eventName = (type: number): string =>
  (enumName(EventType, type as never) ?? "").toLowerCase().split("_").map((word) =>
    word.slice(0, 1).toUpperCase() + word.slice(1)
  ).join("");

const EVENTS: ReadonlyMap<string, number> = new Map(
  Object.values(EventType).filter((type) => typeof type === "number").map((
    type,
  ) => [eventName(type as number), type as number]),
);

/** Parses an event type; older forms are in capitals, with and without the prefix. */
function eventType(query: URLSearchParams): number {
  const name = query.get("eventType");
  if (!name) throw new TypeError("Missing eventType parameter");
  const words = name.includes("_") || name === name.toUpperCase()
    ? name.toLowerCase().replace(/^event_type_/, "").split("_")
    : [];
  const type = EVENTS.get(name) ??
    EVENTS.get(words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join(""));
  if (type === undefined) throw new TypeError(`Unknown eventType parameter: ${name}`);
  return type;
}

function url(
  collection: string,
  ids: readonly unknown[],
  tail: string,
  query: Record<string, string> = {},
): URL {
  if (ids.some((id) => typeof id !== "string" || id === "")) {
    throw new TypeError(
      `Missing required fields: namespace, id, or run id (${ids.map(String).join(", ")})`,
    );
  }
  const [namespace, id, runId] = (ids as string[]).map(encodeURIComponent);
  const made = new URL(`temporal:///namespaces/${namespace}/${collection}/${id}/${runId}${tail}`);
  made.search = new URLSearchParams(query).toString();
  return made;
}

/** Returns the reference to an event: its number, or the request that wrote it. */
function eventQuery({ eventRef, requestIdRef }: PlainMessage): Record<string, string> {
  if (eventRef) {
    const eventId = Number(eventRef.eventId ?? 0);
    return {
      referenceType: "EventReference",
      ...(eventId > 0 && { eventID: String(eventId) }),
      ...(eventRef.eventType !== undefined && eventRef.eventType !== null &&
        { eventType: eventName(eventRef.eventType) }),
    };
  }
  if (!requestIdRef) return {};
  const { requestId, eventType } = requestIdRef;
  return {
    referenceType: "RequestIdReference",
    ...(requestId !== undefined && requestId !== null && { requestID: requestId }),
    ...(eventType !== undefined && eventType !== null && { eventType: eventName(eventType) }),
  };
}

/**
 * Converts a message (in the official packages' form) to a link. Throws a TypeError for one without
 * a target.
 */
export function toNexusLink(
  { workflowEvent, workflow, nexusOperation, activity }: PlainMessage,
): Link {
  const of = (link: PlainMessage, id: string) => [link.namespace, link[id], link.runId];
  if (workflowEvent) {
    return {
      url: url("workflows", of(workflowEvent, "workflowId"), "/history", eventQuery(workflowEvent)),
      type: TYPE.workflowEvent,
    };
  }
  if (nexusOperation) {
    return {
      url: url("nexus-operations", of(nexusOperation, "operationId"), "/details"),
      type: TYPE.nexusOperation,
    };
  }
  if (workflow) {
    const reason = workflow.reason ? { reason: workflow.reason } : {};
    return {
      url: url("workflows", of(workflow, "workflowId"), "", reason as Record<string, string>),
      type: TYPE.workflow,
    };
  }
  if (activity) {
    return { url: url("activities", of(activity, "activityId"), "/details"), type: TYPE.activity };
  }
  throw new TypeError("Invalid Temporal link: unknown variant");
}

function parseIds({ url }: Link, collection: string, tail: string | undefined): Ids {
  const [, namespaces, namespace, found, id, runId, ...rest] = url.pathname.split("/");
  const fits = namespaces === "namespaces" && found === collection &&
    rest.join("/") === (tail ?? "") &&
    rest.length === (tail === undefined ? 0 : 1);
  if (!fits) throw new TypeError(`Invalid URL path: ${url}`);
  const ids = [namespace, id, runId].map((part) => decodeURIComponent(part ?? "")) as Ids;
  if (ids.includes("")) throw new TypeError("Missing required fields: namespace, id, or run id");
  return ids;
}

function eventReference(query: URLSearchParams): PlainMessage {
  const kind = query.get("referenceType");
  if (kind === "EventReference") {
    const id = query.get("eventID") ?? "";
    return {
      eventRef: {
        eventId: Long.fromNumber(/^\d+$/.test(id) ? Number(id) : 0),
        eventType: eventType(query),
      },
    };
  }
  if (kind !== "RequestIdReference") throw new TypeError(`Unknown reference type: ${kind}`);
  return { requestIdRef: { requestId: query.get("requestID"), eventType: eventType(query) } };
}

/**
 * Converts the link of a request to a message (in the official packages' form). Throws a TypeError
 * for links of other kinds.
 */
export function fromNexusLink(link: Link): PlainMessage {
  const { url, type } = link;
  if (url.protocol !== "temporal:") {
    throw new TypeError(`Invalid URL scheme: ${url}, expected 'temporal:', got '${url.protocol}'`);
  }
  switch (type) {
    case TYPE.workflowEvent: {
      const [namespace, workflowId, runId] = parseIds(link, "workflows", "history");
      return {
        workflowEvent: { namespace, workflowId, runId, ...eventReference(url.searchParams) },
      };
    }
    case TYPE.workflow: {
      const [namespace, workflowId, runId] = parseIds(link, "workflows", undefined);
      const reason = url.searchParams.get("reason");
      return { workflow: { namespace, workflowId, runId, ...(reason !== null && { reason }) } };
    }
    case TYPE.nexusOperation: {
      const [namespace, operationId, runId] = parseIds(link, "nexus-operations", "details");
      return { nexusOperation: { namespace, operationId, runId } };
    }
    case TYPE.activity: {
      const [namespace, activityId, runId] = parseIds(link, "activities", "details");
      return { activity: { namespace, activityId, runId } };
    }
    default:
      throw new TypeError(`Unknown link type: ${type}`);
  }
}
