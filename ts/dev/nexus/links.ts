// Links between events of callers and handlers: URLs in Nexus requests, messages in histories.
import { create, toBinary } from "@bufbuild/protobuf";
import {
  type Link_WorkflowEvent,
  Link_WorkflowEventSchema,
  LinkSchema,
} from "../../messages/generated/temporal/api/common/v1/message_pb.ts";
import {
  type EventType,
  EventTypeSchema,
} from "../../messages/generated/temporal/api/enums/v1/event_type_pb.ts";
import type { Link as NexusLink } from "../../messages/generated/temporal/api/nexus/v1/message_pb.ts";

const TYPE = Link_WorkflowEventSchema.typeName;
const PATH = /^\/namespaces\/([^/]+)\/workflows\/([^/]+)\/([^/]+)\/history$/;
const PREFIX = "EVENT_TYPE_";

/** An event of a run in a namespace. */
interface LinkedEvent {
  readonly namespace: string;
  readonly workflowId: string;
  readonly runId: string;
  readonly eventId: number;
  readonly type: EventType;
}

/** "NexusOperationScheduled" */
const nameOf = (type: EventType): string =>
  (EventTypeSchema.value[type]?.name ?? "").slice(PREFIX.length).toLowerCase()
    .replace(/(^|_)([a-z])/g, (_, _line, letter: string) => letter.toUpperCase());

const TYPES: ReadonlyMap<string, EventType> = new Map(
  EventTypeSchema.values.flatMap(({ name, number }) => [
    [nameOf(number as EventType), number as EventType],
    [name, number as EventType],
  ]),
);

/** The link of a Nexus request. */
export function nexusLink({ namespace, workflowId, runId, eventId, type }: LinkedEvent) {
  const path = ["namespaces", namespace, "workflows", workflowId, runId, "history"]
    .map(encodeURIComponent).join("/");
  const query = new URLSearchParams({
    eventID: String(eventId),
    eventType: nameOf(type),
    referenceType: "EventReference",
  });
  return { url: `temporal:///${path}?${query}`, type: TYPE };
}

/** The encoded Link of an event. */
export const linkBytes = ({ namespace, workflowId, runId, eventId, type }: LinkedEvent) =>
  encoded({
    namespace,
    workflowId,
    runId,
    reference: { case: "eventRef", value: { eventId: BigInt(eventId), eventType: type } },
  });

/** Encoded Links of the links of a response; links of other kinds are ignored, as on a server. */
export const linksOfResponse = (links: readonly NexusLink[]): Uint8Array[] =>
  links.flatMap(({ url, type }) => {
    const event = type === TYPE ? parseEvent(url) : undefined;
    return event === undefined ? [] : [encoded(event)];
  });

type Event = Pick<Link_WorkflowEvent, "namespace" | "workflowId" | "runId"> & {
  readonly reference:
    | { case: "eventRef"; value: { eventId: bigint; eventType: EventType } }
    | { case: "requestIdRef"; value: { requestId: string; eventType: EventType } };
};

const encoded = (event: Event): Uint8Array =>
  toBinary(LinkSchema, create(LinkSchema, { variant: { case: "workflowEvent", value: event } }));

function parseEvent(text: string): Event | undefined {
  try {
    const url = new URL(text);
    const parts = PATH.exec(url.pathname);
    const eventType = TYPES.get(url.searchParams.get("eventType") ?? "");
    if (url.protocol !== "temporal:" || parts === null || eventType === undefined) return undefined;
    const [namespace, workflowId, runId] = parts.slice(1).map(decodeURIComponent) as [
      string,
      string,
      string,
    ];
    switch (url.searchParams.get("referenceType")) {
      case "EventReference": {
        const eventId = BigInt(url.searchParams.get("eventID") ?? 0);
        const value = { eventId, eventType };
        return { namespace, workflowId, runId, reference: { case: "eventRef", value } };
      }
      case "RequestIdReference": {
        const value = { requestId: url.searchParams.get("requestID") ?? "", eventType };
        return { namespace, workflowId, runId, reference: { case: "requestIdRef", value } };
      }
      default:
        return undefined;
    }
  } catch {
    return undefined;
  }
}
