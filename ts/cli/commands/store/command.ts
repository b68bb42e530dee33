// `temporalex store ...`: maintenance of store files.
import { command, type Group } from "../../frame/command.ts";
import { exportOptions, importOptions, purgeOptions, STORE, storeCheckOptions } from "./options.ts";

const backup = command({
  summary: "copy a store, also while a process works on it",
  description:
    `Copies a snapshot of the store to a new file and checks the copy. A process that has the store open continues to run.
The copy is compact, and is a store: open it, or put it in the place of a lost one. A copy of a damaged store is kept, and what is damaged is named.`,
  options: STORE,
  exits: [
    "0 the copy is made, and nothing was found in it",
    "1 the store or the copy cannot be read, or there is damage in what it holds",
  ],
  args: {
    name: "to",
    required: true,
    completes: "files",
    help: "The file to make; it must not exist",
  },
  examples: [{ line: "temporalex store backup backups/monday.sqlite --store shop.sqlite" }],
  run: async (call) => (await import("./backup.ts")).backupCommand(call),
});

const check = command({
  summary: "look for damage, run by run",
  description:
    `Reads the whole store, also while a process works on it: SQLite's own check of the file, the state of every run, and every history (its numbers, references, beginning and end). With --workflows, histories are replayed too. Nothing is changed.
What is odd but may be so (events that only a newer server knows, for instance) is a note, and no damage.`,
  options: storeCheckOptions,
  exits: ["0 nothing was found", "1 damage was found, or the store cannot be read"],
  examples: [
    { line: "temporalex store check --store shop.sqlite" },
    {
      line:
        "temporalex store check --store shop.sqlite --workflows ./workflows.ts --json | jq .problems",
    },
  ],
  run: async (call) => (await import("./check.ts")).checkCommand(call),
});

const purge = command({
  summary: "remove closed runs with their histories",
  description:
    `Removes closed runs; open ones are never touched. Give --older-than, --query or both.
The space is given back to the file system at the end, which writes the file again; --keep-space leaves that out.
A process that has the store open is asked to remove them, and keeps the space for new runs. A worker that runs all the time removes closed runs by itself: temporalex worker --retention 30d; an application calls engine.purge().`,
  options: purgeOptions,
  examples: [
    { line: "temporalex store purge --older-than 30d --store shop.sqlite" },
    {
      line:
        `temporalex store purge --query 'WorkflowType = "Cart" AND ExecutionStatus = "Completed"' --dry-run`,
    },
  ],
  run: async (call) => (await import("./purge.ts")).purgeCommand(call),
});

const exported = command({
  summary: "write histories as JSON files or JSON lines",
  description:
    `Writes runs with their histories, from a store (held by a process or not) or a cluster.
A JSON file of a run has the form of Temporal's own exports: temporalex replay, Temporal's UI and every SDK's replayer load it. A JSON line has the same history under "history", with the run's names, times and status; temporalex store import takes both.`,
  options: exportOptions,
  lines: true,
  examples: [
    {
      line:
        "temporalex store export --query 'ExecutionStatus = \"Failed\"' --to histories/ --store shop.sqlite",
    },
    { line: "temporalex store export --workflow-id cart-42 | jq .history.events" },
    {
      line:
        "temporalex store export --to all.jsonl && temporalex store import all.jsonl --store other.sqlite --closed-only",
    },
  ],
  run: async (call) => (await import("./export.ts")).exportCommand(call),
});

const imported = command({
  summary: "take histories of closed runs in, or a whole store",
  description:
    `Takes closed runs in: histories as JSON or protobuf (of temporalex, the temporal command line, the UI, an SDK), JSON lines of store export, or store files. All files are checked before anything is written.
Open runs are refused: a history does not hold what the engine needs to go on with one. A store file, imported where no store is yet, comes with them.
No process may have the store open.`,
  options: importOptions,
  args: { name: "file", many: true, required: true, completes: "files", help: "What to import" },
  examples: [
    { line: "temporalex store import histories/*.json --store archive.sqlite" },
    {
      line: "temporalex store import backups/monday.sqlite --store shop.sqlite",
      what: "restores a backup, where shop.sqlite is not there",
    },
  ],
  run: async (call) => (await import("./import.ts")).importCommand(call),
});

export const storeCommands: Group = {
  summary: "back up, check, purge, export and import a store file",
  commands: { backup, check, purge, export: exported, import: imported },
};
