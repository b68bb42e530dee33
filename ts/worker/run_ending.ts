// How a workflow task ends its run, read from the report of it.
import { BinaryReader } from "@bufbuild/protobuf/wire";

/** How a run ends, as commands have it. */
export type RunEnding = "completed" | "failed" | "canceled" | "continue_as_new";

/** By number of temporal.api.enums.v1.CommandType. */
const ENDINGS: ReadonlyMap<number, RunEnding> = new Map([
  [4, "completed"],
  [5, "failed"],
  [7, "canceled"],
  [10, "continue_as_new"],
]);

/** How the commands of a RespondWorkflowTaskCompletedRequest (field 2) end the run; undefined when they do not. */
export function readEnding(request: Uint8Array): RunEnding | undefined {
  const reader = new BinaryReader(request);
  let ending: RunEnding | undefined;
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field !== 2) {
      reader.skip(type, field);
      continue;
    }
    const command = new BinaryReader(reader.bytes());
    while (command.pos < command.len) {
      const [part, partType] = command.tag();
      if (part === 1) ending ??= ENDINGS.get(command.int32());
      else command.skip(partType, part);
    }
  }
  return ending;
}
