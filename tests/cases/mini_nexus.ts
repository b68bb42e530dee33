// Nexus operations, as the tiny server has them: tests say what becomes of each, by its name.
import type { Payload } from "../../ts/converter/payload.ts";
import type { Command } from "../../ts/messages/generated/temporal/api/command/v1/message_pb.ts";
import { EventType } from "../../ts/messages/generated/temporal/api/enums/v1/event_type_pb.ts";
import type { Events } from "./mini_others.ts";
import { bare } from "./mini_server.ts";

export interface MiniOperation {
  readonly scheduledEventId: bigint;
  /** Its command's attributes. */
  readonly command: { readonly [field: string]: unknown };
  readonly summary: Payload | undefined;
  cancelRequested: boolean;
}

export class NexusOperations {
  /** By the operation's name. */
  readonly all = new Map<string, MiniOperation>();
  readonly #events: Events;

  constructor(events: Events) {
    this.#events = events;
  }

  /** Takes a command, if it is one of these. */
  command(
    { attributes, userMetadata }: Command,
    task: { workflowTaskCompletedEventId: bigint },
  ): boolean {
    switch (attributes.case) {
      case "scheduleNexusOperationCommandAttributes": {
        const { eventId } = this.#events.append(EventType.NEXUS_OPERATION_SCHEDULED, {
          case: "nexusOperationScheduledEventAttributes",
          value: { ...bare(attributes.value), ...task },
        });
        this.all.set(attributes.value.operation, {
          scheduledEventId: eventId,
          command: bare(attributes.value),
          summary: userMetadata?.summary,
          cancelRequested: false,
        });
        return true;
      }
      case "requestCancelNexusOperationCommandAttributes": {
        const { scheduledEventId } = attributes.value;
        for (const each of this.all.values()) {
          if (each.scheduledEventId === scheduledEventId) each.cancelRequested = true;
        }
        this.#events.append(EventType.NEXUS_OPERATION_CANCEL_REQUESTED, {
          case: "nexusOperationCancelRequestedEventAttributes",
          value: { scheduledEventId, ...task },
        });
        return true;
      }
      default:
        return false;
    }
  }

  started(operation: string, operationToken: string): void {
    this.#tell(
      operation,
      EventType.NEXUS_OPERATION_STARTED,
      "nexusOperationStartedEventAttributes",
      { operationToken },
    );
  }

  completed(operation: string, result: Payload | undefined): void {
    this.#tell(
      operation,
      EventType.NEXUS_OPERATION_COMPLETED,
      "nexusOperationCompletedEventAttributes",
      { result },
    );
  }

  /** `failure`: a Failure, as the server writes it. */
  failed(operation: string, failure: object): void {
    this.#tell(operation, EventType.NEXUS_OPERATION_FAILED, "nexusOperationFailedEventAttributes", {
      failure,
    });
  }

  cancelDelivered(operation: string): void {
    const type = EventType.NEXUS_OPERATION_CANCEL_REQUEST_COMPLETED;
    this.#tell(operation, type, "nexusOperationCancelRequestCompletedEventAttributes", {});
  }

  canceled(operation: string, failure: object): void {
    this.#tell(
      operation,
      EventType.NEXUS_OPERATION_CANCELED,
      "nexusOperationCanceledEventAttributes",
      { failure },
    );
  }

  #tell(operation: string, type: EventType, name: string, value: object): void {
    const { scheduledEventId } = this.all.get(operation)!;
    this.#events.outside(type, { case: name, value: { scheduledEventId, ...value } });
  }
}
