// Names of commands that only other commands have: the name of a canceled timer, the update that a
// result belongs to, whether a transact is awaited, and which subscription an upsert changes.
import type { HistoryEvent } from "../messages/generated/temporal/api/history/v1/message_pb.ts";
import {
  AwaitTransact,
  CommandKind,
  StartTimer,
  UpsertSearchAttributes,
} from "../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { PayloadConverter } from "../converter/payload.ts";
import type { RecordedActivation, RecordedCommand } from "../executor/tasks/recording.ts";
import type { TracedJob } from "../executor/tasks/replay_trace.ts";
import { Subscriptions } from "./run/subscribing.ts";
import { readTimerName, readTimerSummary } from "./timer_name.ts";

/** Names of what commands are about. */
export interface CommandNames {
  /** By the ids in responses to updates. */
  readonly updates: ReadonlyMap<string, string>;
  readonly timers: ReadonlyMap<number, string>;
  /** Numbers of the transacts that the code awaits. */
  readonly awaited: ReadonlySet<number>;
  /** "subscribe enemy_killed:orc". */
  readonly subscriptions: ReadonlyMap<RecordedCommand, string>;
}

/** Returns the names of a whole replay. `first`: the run's start, whose subscriptions continue. */
export function commandNames(
  activations: readonly RecordedActivation[],
  jobs: readonly (readonly TracedJob[])[],
  first: HistoryEvent | undefined,
  converter: PayloadConverter | undefined,
): CommandNames {
  const updates = new Map(
    jobs.flat().map(({ protocolInstanceId = "", name = "" }) => [protocolInstanceId, name]),
  );
  const timers = new Map<number, string>();
  const awaited = new Set<number>();
  const subscriptions = new Map<RecordedCommand, string>();
  const now = new Subscriptions();
  if (first?.attributes.case === "workflowExecutionStartedEventAttributes") {
    now.changed(first.attributes.value.searchAttributes?.indexedFields, converter);
  }
  for (const command of activations.flatMap(({ commands }) => commands)) {
    if (command.cancel) continue;
    switch (command.kind) {
      case CommandKind.COMMAND_KIND_START_TIMER: {
        const name = readTimerName(
          readTimerSummary(StartTimer.decode(command.attributes).summary, converter),
        );
        if (name !== "") timers.set(command.seq, name);
        break;
      }
      case CommandKind.COMMAND_KIND_AWAIT_TRANSACT:
        awaited.add(AwaitTransact.decode(command.attributes).seq);
        break;
      case CommandKind.COMMAND_KIND_UPSERT_SEARCH_ATTRIBUTES: {
        const changed = now.changed(
          UpsertSearchAttributes.decode(command.attributes).searchAttributes,
          converter,
        );
        if (changed !== undefined) subscriptions.set(command, changed);
        break;
      }
    }
  }
  return { updates, timers, awaited, subscriptions };
}
