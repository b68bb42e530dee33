// Commands of workflow code as people read them.
import { CommandKind } from "../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { PayloadConverter } from "../converter/payload.ts";
import type { RecordedCommand } from "../executor/tasks/recording.ts";
import { type Decoded, DECODERS, shownBy } from "./command_decoders.ts";

/** Decodes a command. `updates`: names of updates by the ids that answers to them carry. */
export function decodeCommand(
  command: RecordedCommand,
  converter: PayloadConverter | undefined,
  updates?: ReadonlyMap<string, string>,
): Decoded {
  const { kind, seq, cancel } = command;
  if (cancel) return decodeCancel(kind, seq);
  return DECODERS[kind]?.(command, shownBy(converter, updates)) ??
    { kind: `Command ${kind}`, key: "", summary: "a command that this version does not know", attributes: {} };
}

function decodeCancel(kind: CommandKind, seq: number): Decoded {
  switch (kind) {
    case CommandKind.COMMAND_KIND_START_TIMER: {
      const attributes = { timerId: String(seq) };
      return { kind: "CancelTimer", key: `cancel timer ${seq}`, summary: `cancels timer ${seq}`, attributes };
    }
    case CommandKind.COMMAND_KIND_SCHEDULE_ACTIVITY: {
      const summary = `asks activity ${seq} to cancel`;
      return { kind: "CancelActivity", key: `cancel activity ${seq}`, summary, attributes: { seq } };
    }
    default:
      return { kind: "Cancel", key: "", summary: `cancels command ${seq} of kind ${kind}`, attributes: { seq } };
  }
}
