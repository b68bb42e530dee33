import { command } from "../../frame/command.ts";
import { options } from "./options.ts";

export const replay = command({
  summary: "replay exported histories against the workflow code of today",
  description:
    `Replays each history against the workflow code of today and says whether the code still does what the history records.
A history may be JSON (of the UI, encoded or decoded; of the command line; of an SDK), protobuf, or either in gzip. A file may hold several: in a list, or one on each line. A folder stands for all files in it, and in its folders, that end in .json, .jsonl, .ndjson, .bin, .binpb, .pb, .b64 or .history, with or without .gz.
A workflow module may be TypeScript; it needs no build step.
--bisect and --versions find the first version of the code that does not replay, by halves, the newest one first: each looks at the histories until one goes wrong.`,
  options,
  args: {
    name: "history",
    many: true,
    completes: "files",
    help: "Files with histories, and folders of such",
  },
  lines: true,
  piped: "jsonl",
  drains: true,
  notes:
    `Each JSON line has file, place (in a file with several), workflowType, workflowId, runId, events, activations, verdict, warnings, ms and, when it is not ok, error (code, message, eventId, expected, actual, location). The last line has summary (histories, verdicts, warned, events, gone, interrupted, ms, groups). Lines are in the order of the histories. Where standard output is not a terminal, JSON lines are written without --json. With --bisect or --versions there is a line for each version that was looked at (version, verdict, line; of revisions commit, date, author, subject) and a last one with bisect (versions, tried, first, before, notLoaded, line). With --values a line also has changedValues (eventId, step, location, sentence, differences with path, history and code), and the summary has changedValues (histories, groups). Payloads are never written, except changed values with --values, and in the report of --html: with --html-values all, with --html-key or --html-match those that no rule names. Verdicts:
  ok               the code makes the commands that the history records
  changed          it makes them with other values; only with --values=error
  nondeterminism   it makes others: this change breaks runs that are open
  failed           another failure of the task: unknown workflow type, an exception, a deadlock
  unreadable       the file holds no history that can be read
On a terminal each history that was named has a line; of folders, clusters and stores those that are not ok have one.`,
  exits: [
    "0 when all are ok",
    "1 when any diverges or fails, or has changed values with --values=error",
    "2 for wrong usage, an unreadable file, a folder without histories, a cluster or store that cannot be read",
    "130 after Ctrl-C, with the summary of what was replayed until then",
  ],
  examples: [
    { line: "temporalex replay --workflows src/workflows.ts histories/" },
    {
      line:
        "temporalex workflow show -w order-17 --json > order-17.json && temporalex replay order-17.json",
    },
    {
      line: `temporalex replay --json --strict histories/*.json.gz | jq 'select(.verdict != "ok")'`,
    },
    {
      line: "temporalex replay --codec ./codec.ts encrypted.json",
      what: "a history whose payloads a codec has encoded",
    },
    {
      line:
        `temporalex replay --from-cluster 'ExecutionStatus = "Running"' --address localhost:7233 --sample 20`,
      what: "open runs of a cluster, at most twenty of each type and build",
    },
    { line: "temporalex replay --store shop.sqlite --open", what: "the open runs of a store" },
    {
      line: "temporalex replay --workflows src/workflows.ts --bisect v1.2 histories/",
      what: "which commit broke it",
    },
    {
      line: "temporalex replay --values=error --values-rules rules.json histories/",
      what: "also compare arguments, results and durations",
    },
    {
      line: "temporalex replay --github --junit replay.xml --output text histories/",
      what: "in CI",
    },
    {
      line: "temporalex replay --html report.html order-17.json",
      what: "a file to read, to send, to print",
    },
  ],
  run: async (call) => (await import("./run.ts")).replayCommand(call),
});
