import { command } from "../../frame/command.ts";
import { options } from "./options.ts";

export const replay = command({
  summary: "replay histories against current workflow code",
  description:
    `Replays each history against the current workflow code and reports whether the code still matches the history.
Formats: JSON (of Temporal's UI, the temporal CLI or an SDK) and protobuf, each also in gzip. A file can contain several histories: in a list, or one per line. A folder means all files in it and in its subfolders that end in .json, .jsonl, .ndjson, .bin, .binpb, .pb, .b64 or .history, with or without .gz.
Workflow modules can be TypeScript; no build step is needed.
--bisect and --versions find the first version of the code that does not replay the histories, with a binary search.`,
  options,
  args: {
    name: "history",
    many: true,
    completes: "files",
    help: "History files, or folders that contain them",
  },
  lines: true,
  piped: "jsonl",
  drains: true,
  notes:
    `Each JSON line has file, place (in a file with several histories), workflowType, workflowId, runId, events, activations, verdict, warnings, ms and, if the verdict is not ok, error (code, message, eventId, expected, actual, location). The last line has summary (histories, verdicts, warned, events, gone, interrupted, ms, groups). Lines are in the order of the histories. If standard output is not a terminal, JSON lines are written even without --json. With --bisect or --versions, there is a line for each tested version (version, verdict, line; for revisions commit, date, author, subject) and a last line with bisect (versions, tried, first, before, notLoaded, line). With --values a line also has changedValues (eventId, step, location, sentence, differences with path, history and code), and the summary has changedValues (histories, groups). Payloads are never written, with two exceptions: changed values with --values, and values in the report of --html (all with --html-values; with --html-key or --html-match those that no rule matches). Verdicts:
  ok               the commands of the code match the history
  changed          the commands match, but have other values; only with --values=error
  nondeterminism   the commands differ: this change breaks open runs
  failed           the task fails for another reason: unknown workflow type, exception, deadlock
  unreadable       the file is not a valid history
On a terminal, each history file in the arguments has a line. Of folders, clusters and stores, only histories that are not ok have one.`,
  exits: [
    "0 all histories are ok",
    "1 a history diverges or fails, or has changed values with --values=error",
    "2 wrong usage, an unreadable file, a folder without histories, or a cluster or store that cannot be read",
    "130 Ctrl-C; the summary covers the histories that were replayed",
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
      what: "a history with encoded payloads",
    },
    {
      line:
        `temporalex replay --from-cluster 'ExecutionStatus = "Running"' --address localhost:7233 --sample 20`,
      what: "open runs of a cluster, at most twenty per workflow type and build",
    },
    { line: "temporalex replay --store shop.sqlite --open", what: "the open runs of a store" },
    {
      line: "temporalex replay --workflows src/workflows.ts --bisect v1.2 histories/",
      what: "find the commit that broke the replay",
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
      what: "write a report to share or print",
    },
  ],
  run: async (call) => (await import("./run.ts")).replayCommand(call),
});
