// Decodes commands of workflow code for display.
import { CommandKind } from "../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { PayloadConverter } from "../converter/payload.ts";
import type { RecordedCommand } from "../executor/tasks/recording.ts";
import type { CommandNames } from "./command_names.ts";
import { type Decoded, DECODERS, makeFormatters } from "./command_decoders.ts";

/** Decodes a command. `names`: names from other commands. */
export function decodeCommand(
  command: RecordedCommand,
  converter: PayloadConverter | undefined,
  names?: CommandNames,
): Decoded {
  const { kind, seq, cancel } = command;
  if (cancel) return decodeCancel(kind, seq, names);
  return DECODERS[kind]?.(command, makeFormatters(converter, names)) ??
    { kind: `Command ${kind}`, key: "", summary: "an unknown command", attributes: {} };
}

function decodeCancel(kind: CommandKind, seq: number, names: CommandNames | undefined): Decoded {
  switch (kind) {
    case CommandKind.COMMAND_KIND_START_TIMER: {
      const attributes = { timerId: String(seq) };
      return {
        kind: "CancelTimer",
        key: `cancel timer ${seq}`,
        summary: `cancels timer ${names?.timers.get(seq) ?? seq}`,
        attributes,
      };
    }
    case CommandKind.COMMAND_KIND_SCHEDULE_ACTIVITY: {
      const summary = `asks activity ${seq} to cancel`;
      return {
        kind: "CancelActivity",
        key: `cancel activity ${seq}`,
        summary,
        attributes: { seq },
      };
    }
    case CommandKind.COMMAND_KIND_SCHEDULE_NEXUS_OPERATION: {
      const summary = `asks Nexus operation ${seq} to cancel`;
      return { kind: "CancelNexusOperation", key: "", summary, attributes: { seq } };
    }
    default:
      return {
        kind: "Cancel",
        key: "",
        summary: `cancels command ${seq} of kind ${kind}`,
        attributes: { seq },
      };
  }
}
