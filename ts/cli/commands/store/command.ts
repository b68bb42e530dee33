// `temporalex store ...`: maintenance of store files.
import { command, type Group } from "../../frame/command.ts";
import { exportOptions, importOptions, purgeOptions, STORE, storeCheckOptions } from "./options.ts";

const backup = command({
  summary: "copy a store, also while it is open",
  description:
    `Copies a snapshot of the store to a new file and checks the copy. Another process can have the store open meanwhile.
The copy is a compact store file: open it, or use it to replace a lost store. If the store is damaged, the copy is kept and the damage is reported.`,
  options: STORE,
  exits: [
    "0 the copy is written, and the check found no damage",
    "1 the store or the copy cannot be read, or is damaged",
  ],
  args: {
    name: "to",
    required: true,
    completes: "files",
    help: "File to write; it must not exist",
  },
  examples: [{ line: "temporalex store backup backups/monday.sqlite --store shop.sqlite" }],
  run: async (call) => (await import("./backup.ts")).backupCommand(call),
});

const check = command({
  summary: "check a store for damage",
  description:
    `Checks the file (SQLite's integrity check), the state of each run, and each history (event numbers, references, first and last event). With --workflows, histories are replayed, too. The store is not changed and can be open in another process.
Unusual but valid contents, for example events of a newer server, are reported as notes, not as damage.`,
  options: storeCheckOptions,
  exits: ["0 no damage was found", "1 damage was found, or the store cannot be read"],
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
  summary: "remove closed runs and their histories",
  description:
    `Removes closed runs that match --older-than, --query or both. Open runs are never removed.
At the end, the file is rewritten to return the space to the file system; --keep-space skips this step.
If another process has the store open, that process removes the runs and keeps the space for new runs. To remove closed runs regularly, use temporalex worker --retention 30d, or call engine.purge() in an application.`,
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
  summary: "export histories as JSON files or JSON lines",
  description:
    `Exports runs with their histories from a store or a cluster. Another process can have the store open.
A JSON file has Temporal's export format, which temporalex replay, Temporal's UI and the replayers of all SDKs can load. A JSON line contains the history in the field "history", with the IDs, times and status of the run. temporalex store import accepts both.`,
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
  summary: "import runs from files, stores and clusters, or a whole store",
  description:
    `Imports runs from histories in JSON or protobuf (of temporalex, the temporal CLI, the UI or an SDK), JSON lines of store export, store files, or a cluster. Everything is checked before anything is written.
Open runs are rejected without --open. With --open they continue in this store: stop their workers elsewhere first, otherwise both execute them. Timers keep their times, activities without a result start again, and a workflow task that a worker had is repeated. Runs that wait for another workflow's answer or for a Nexus operation are rejected.
If the target store does not exist, a store file is copied with its open runs.
No process may have the target store open.`,
  options: importOptions,
  args: { name: "file", many: true, completes: "files", help: "Files to import" },
  examples: [
    { line: "temporalex store import histories/*.json --store archive.sqlite" },
    {
      line: "temporalex store import backups/monday.sqlite --store shop.sqlite",
      what: "restore a backup; shop.sqlite must not exist",
    },
    {
      line:
        "temporalex store import --from-cluster '' --open --terminate-source --address localhost:7233 --namespace shop",
      what: "move the runs of a namespace into a store",
    },
  ],
  run: async (call) => (await import("./import.ts")).importCommand(call),
});

export const storeCommands: Group = {
  summary: "back up, check, purge, export and import a store file",
  commands: { backup, check, purge, export: exported, import: imported },
};
