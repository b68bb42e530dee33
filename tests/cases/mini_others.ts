// Other workflows, as the tiny server has them: children that the run starts, and messages that it
// sends. Like everything there they do nothing by themselves: tests say when a child starts and how
// it ends, and whether a message arrives.
import { toFailure } from "../../ts/converter/mod.ts";
import type { Command } from "../../ts/messages/generated/temporal/api/command/v1/message_pb.ts";
import { EventType } from "../../ts/messages/generated/temporal/api/enums/v1/event_type_pb.ts";
import type { HistoryEvent } from "../../ts/messages/generated/temporal/api/history/v1/message_pb.ts";
import { bare, type HeaderFields, payloads, values } from "./mini_server.ts";

export interface MiniChild {
  readonly id: string;
  readonly type: string;
  readonly args: unknown[];
  readonly headers: HeaderFields;
  readonly initiatedEventId: bigint;
  /** Its command's attributes. */
  readonly command: { readonly [field: string]: unknown };
  cancelRequested: string | undefined;
}

export interface MiniMessage {
  readonly kind: "signal" | "cancel";
  readonly workflowId: string;
  readonly runId: string;
  readonly childOnly: boolean;
  /** Of a signal: its name. Of a cancel request: its reason. */
  readonly text: string;
  readonly args: unknown[];
  readonly headers: HeaderFields;
  readonly initiatedEventId: bigint;
}

/** What the server does with events. */
export interface Events {
  append(eventType: EventType, attributes: unknown): HistoryEvent;
  /** From outside: buffered while a task is open. */
  outside(eventType: EventType, attributes: unknown): void;
}

export class OtherWorkflows {
  /** Open children by workflow id. */
  readonly children = new Map<string, MiniChild>();
  /** Messages that nothing has become of, in order. */
  readonly messages: MiniMessage[] = [];
  readonly #events: Events;

  constructor(events: Events) {
    this.#events = events;
  }

  /** Takes a command, if it is one of these. */
  command({ attributes }: Command, task: { workflowTaskCompletedEventId: bigint }): boolean {
    switch (attributes.case) {
      case "startChildWorkflowExecutionCommandAttributes": {
        const { workflowId, workflowType, input, header } = attributes.value;
        const event = this.#events.append(EventType.START_CHILD_WORKFLOW_EXECUTION_INITIATED, {
          case: "startChildWorkflowExecutionInitiatedEventAttributes",
          value: { ...bare(attributes.value), ...task },
        });
        this.children.set(workflowId, {
          id: workflowId,
          type: workflowType!.name,
          args: values(input),
          headers: { ...header?.fields },
          initiatedEventId: event.eventId,
          command: bare(attributes.value),
          cancelRequested: undefined,
        });
        return true;
      }
      case "signalExternalWorkflowExecutionCommandAttributes": {
        const { execution, signalName, input, header, childWorkflowOnly } = attributes.value;
        const { eventId } = this.#events.append(
          EventType.SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED,
          {
            case: "signalExternalWorkflowExecutionInitiatedEventAttributes",
            value: { ...bare(attributes.value), workflowExecution: execution, ...task },
          },
        );
        const { workflowId = "", runId = "" } = execution ?? {};
        this.messages.push({
          ...{ kind: "signal", workflowId, runId, childOnly: childWorkflowOnly, text: signalName },
          ...{ args: values(input), headers: { ...header?.fields }, initiatedEventId: eventId },
        });
        return true;
      }
      case "requestCancelExternalWorkflowExecutionCommandAttributes": {
        const { workflowId, runId, reason, childWorkflowOnly } = attributes.value;
        const { eventId } = this.#events.append(
          EventType.REQUEST_CANCEL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED,
          {
            case: "requestCancelExternalWorkflowExecutionInitiatedEventAttributes",
            value: { ...bare(attributes.value), workflowExecution: { workflowId, runId }, ...task },
          },
        );
        const child = this.children.get(workflowId);
        if (childWorkflowOnly && child !== undefined) child.cancelRequested = reason;
        this.messages.push({
          ...{ kind: "cancel", workflowId, runId, childOnly: childWorkflowOnly, text: reason },
          ...{ args: [], headers: {}, initiatedEventId: eventId },
        });
        return true;
      }
      case "modifyWorkflowPropertiesCommandAttributes":
        this.#events.append(EventType.WORKFLOW_PROPERTIES_MODIFIED, {
          case: "workflowPropertiesModifiedEventAttributes",
          value: { ...bare(attributes.value), ...task },
        });
        return true;
      default:
        return false;
    }
  }

  #child(id: string): MiniChild {
    const child = this.children.get(id);
    if (child === undefined) throw new Error(`no child ${id}; open: ${[...this.children.keys()]}`);
    return child;
  }

  /** The child has started. */
  start(id: string, runId = `run of ${id}`): void {
    const { initiatedEventId, type } = this.#child(id);
    this.#events.outside(EventType.CHILD_WORKFLOW_EXECUTION_STARTED, {
      case: "childWorkflowExecutionStartedEventAttributes",
      value: {
        initiatedEventId,
        workflowExecution: { workflowId: id, runId },
        workflowType: { name: type },
      },
    });
  }

  failStart(id: string, cause = 1): void {
    const { initiatedEventId, type } = this.#child(id);
    this.children.delete(id);
    this.#events.outside(EventType.START_CHILD_WORKFLOW_EXECUTION_FAILED, {
      case: "startChildWorkflowExecutionFailedEventAttributes",
      value: { initiatedEventId, workflowId: id, workflowType: { name: type }, cause },
    });
  }

  #end(id: string): object {
    const { initiatedEventId, type } = this.#child(id);
    this.children.delete(id);
    const execution = { workflowId: id, runId: `run of ${id}` };
    return { initiatedEventId, workflowExecution: execution, workflowType: { name: type } };
  }

  complete(id: string, result?: unknown): void {
    this.#events.outside(EventType.CHILD_WORKFLOW_EXECUTION_COMPLETED, {
      case: "childWorkflowExecutionCompletedEventAttributes",
      value: { ...this.#end(id), result: payloads([result]) },
    });
  }

  /** As a child of another SDK ends that returns nothing. */
  completeEmpty(id: string): void {
    this.#events.outside(EventType.CHILD_WORKFLOW_EXECUTION_COMPLETED, {
      case: "childWorkflowExecutionCompletedEventAttributes",
      value: this.#end(id),
    });
  }

  fail(id: string, error: unknown): void {
    this.#events.outside(EventType.CHILD_WORKFLOW_EXECUTION_FAILED, {
      case: "childWorkflowExecutionFailedEventAttributes",
      value: { ...this.#end(id), failure: toFailure(error), retryState: 5 },
    });
  }

  cancelled(id: string): void {
    this.#events.outside(EventType.CHILD_WORKFLOW_EXECUTION_CANCELED, {
      case: "childWorkflowExecutionCanceledEventAttributes",
      value: this.#end(id),
    });
  }

  terminated(id: string): void {
    this.#events.outside(EventType.CHILD_WORKFLOW_EXECUTION_TERMINATED, {
      case: "childWorkflowExecutionTerminatedEventAttributes",
      value: this.#end(id),
    });
  }

  timedOut(id: string): void {
    this.#events.outside(EventType.CHILD_WORKFLOW_EXECUTION_TIMED_OUT, {
      case: "childWorkflowExecutionTimedOutEventAttributes",
      value: { ...this.#end(id), retryState: 3 },
    });
  }

  /** The oldest open message has arrived. */
  delivered(): MiniMessage {
    const message = this.messages.shift()!;
    const { initiatedEventId, workflowId, runId } = message;
    const value = { initiatedEventId, workflowExecution: { workflowId, runId } };
    if (message.kind === "signal") {
      this.#events.outside(EventType.EXTERNAL_WORKFLOW_EXECUTION_SIGNALED, {
        case: "externalWorkflowExecutionSignaledEventAttributes",
        value,
      });
    } else {
      this.#events.outside(EventType.EXTERNAL_WORKFLOW_EXECUTION_CANCEL_REQUESTED, {
        case: "externalWorkflowExecutionCancelRequestedEventAttributes",
        value,
      });
    }
    return message;
  }

  /** The target of the oldest open message does not exist. */
  notFound(): MiniMessage {
    const message = this.messages.shift()!;
    const { initiatedEventId, workflowId, runId } = message;
    const value = { initiatedEventId, workflowExecution: { workflowId, runId }, cause: 1 };
    if (message.kind === "signal") {
      this.#events.outside(EventType.SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_FAILED, {
        case: "signalExternalWorkflowExecutionFailedEventAttributes",
        value,
      });
    } else {
      this.#events.outside(EventType.REQUEST_CANCEL_EXTERNAL_WORKFLOW_EXECUTION_FAILED, {
        case: "requestCancelExternalWorkflowExecutionFailedEventAttributes",
        value,
      });
    }
    return message;
  }
}
