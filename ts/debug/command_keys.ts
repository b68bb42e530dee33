// Matches commands without numbers to their events: children, Nexus operations, messages to other
// workflows, upserts. The key is the task, the subject, and the order among equal ones.
import {
  CancelChildWorkflow,
  CancelExternalWorkflow,
  CommandKind,
  ScheduleNexusOperation,
  SignalExternalWorkflow,
  StartChildWorkflow,
} from "../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { RecordedActivation, RecordedCommand } from "../executor/tasks/recording.ts";
import type { HistoryEvent } from "../messages/generated/temporal/api/history/v1/message_pb.ts";

/** Numbers equal commands within a task. */
export class TaskKeys {
  readonly #counts = new Map<string, number>();

  /** `startedEventId`: of the task. `about`: the subject. */
  next(startedEventId: number, about: string): string {
    const key = `@${startedEventId} ${about}`;
    const count = this.#counts.get(key) ?? 0;
    this.#counts.set(key, count + 1);
    return `${key} #${count}`;
  }
}

/** Returns the keys of commands without numbers. */
export function commandKeys(
  activations: readonly RecordedActivation[],
): ReadonlyMap<RecordedCommand, string> {
  const keys = new Map<RecordedCommand, string>();
  const tasks = new TaskKeys();
  const children = new Map<number, string>();
  const operations = new Map<number, string>();
  for (const { startedEventId, commands } of activations) {
    for (const command of commands) {
      if (command.cancel && command.kind === NEXUS) {
        // Keyed like the event: by the operation that it cancels.
        keys.set(command, `cancel ${operations.get(command.seq) ?? ""}`);
        continue;
      }
      const about = aboutCommand(command, children);
      if (about === undefined) continue;
      const key = tasks.next(startedEventId, about);
      keys.set(command, key);
      if (command.kind === NEXUS) operations.set(command.seq, key);
    }
  }
  return keys;
}

const NEXUS = CommandKind.COMMAND_KIND_SCHEDULE_NEXUS_OPERATION;

function aboutCommand(
  { kind, seq, attributes, cancel }: RecordedCommand,
  children: Map<number, string>,
): string | undefined {
  if (cancel) return undefined;
  switch (kind) {
    case CommandKind.COMMAND_KIND_START_CHILD_WORKFLOW: {
      const { workflowId } = StartChildWorkflow.decode(attributes);
      children.set(seq, workflowId);
      return `child ${workflowId}`;
    }
    case CommandKind.COMMAND_KIND_CANCEL_CHILD_WORKFLOW:
      return `cancel ${children.get(CancelChildWorkflow.decode(attributes).seq) ?? ""}`;
    case NEXUS: {
      const { endpoint, service, operation } = ScheduleNexusOperation.decode(attributes);
      return `nexus ${endpoint} ${service} ${operation}`;
    }
    case CommandKind.COMMAND_KIND_SIGNAL_EXTERNAL_WORKFLOW: {
      const { workflowId, signalName } = SignalExternalWorkflow.decode(attributes);
      return `signal ${signalName} to ${workflowId}`;
    }
    case CommandKind.COMMAND_KIND_CANCEL_EXTERNAL_WORKFLOW:
      return `cancel ${CancelExternalWorkflow.decode(attributes).workflowId}`;
    case CommandKind.COMMAND_KIND_UPSERT_SEARCH_ATTRIBUTES:
      return "search attributes";
    case CommandKind.COMMAND_KIND_MODIFY_WORKFLOW_PROPERTIES:
      return "memo";
    default:
      return undefined;
  }
}

/** The core's upsert after the marker of a patch. */
const CHANGE_VERSION = "TemporalChangeVersion";

/** Returns the subject of an event of these kinds, in the same form as for commands. */
export function readEventSubject({ attributes }: HistoryEvent): string | undefined {
  switch (attributes.case) {
    case "startChildWorkflowExecutionInitiatedEventAttributes":
      return `child ${attributes.value.workflowId}`;
    case "nexusOperationScheduledEventAttributes": {
      const { endpoint, service, operation } = attributes.value;
      return `nexus ${endpoint} ${service} ${operation}`;
    }
    case "signalExternalWorkflowExecutionInitiatedEventAttributes":
      return `signal ${attributes.value.signalName} to ${
        attributes.value.workflowExecution?.workflowId ?? ""
      }`;
    case "requestCancelExternalWorkflowExecutionInitiatedEventAttributes":
      return `cancel ${attributes.value.workflowExecution?.workflowId ?? ""}`;
    case "upsertWorkflowSearchAttributesEventAttributes":
      return Object.hasOwn(attributes.value.searchAttributes?.indexedFields ?? {}, CHANGE_VERSION)
        ? undefined
        : "search attributes";
    case "workflowPropertiesModifiedEventAttributes":
      return "memo";
    default:
      return undefined;
  }
}
