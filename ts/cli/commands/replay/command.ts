import { command } from "../../frame/command.ts";
import { options } from "./options.ts";

export const replay = command({
  summary: "replay exported histories against the workflow code of today",
  description:
    `Replays each history against the workflow code of today and says whether the code still does what the history records.
A history may be JSON (of the UI, encoded or decoded; of the command line; of an SDK), protobuf, or either in gzip.
A workflow module may be TypeScript; it needs no build step.`,
  options,
  args: { name: "history", many: true, required: true, completes: "files", help: "Files with a history each" },
  lines: true,
  piped: "jsonl",
  notes:
    `Each JSON line has file, workflowType, events, activations, verdict, warnings, ms and, when it is not ok, error (code, message, eventId, expected, actual, location). Where standard output is not a terminal, JSON lines are written without --json. Verdicts:
  ok               the code makes the commands that the history records
  nondeterminism   it makes others: this change breaks runs that are open
  failed           another failure of the task: unknown workflow type, an exception, a deadlock
  unreadable       the file holds no history that can be read`,
  exits: ["0 when all are ok", "1 when any diverges or fails", "2 for wrong usage or an unreadable file"],
  examples: [
    { line: "temporalex replay --workflows src/workflows.ts histories/*.json" },
    { line: "temporalex workflow show -w order-17 --json > order-17.json && temporalex replay order-17.json" },
    { line: `temporalex replay --json --strict histories/*.json.gz | jq 'select(.verdict != "ok")'` },
    { line: "temporalex replay --codec ./codec.ts encrypted.json", what: "a history whose payloads a codec has encoded" },
  ],
  run: async (call) => (await import("./run.ts")).replayCommand(call),
});
