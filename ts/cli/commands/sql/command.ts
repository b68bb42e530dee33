// `temporalex sql`.
import { command } from "../../frame/command.ts";
import { options } from "./options.ts";

export const sql = command({
  summary: "ask a store in SQL",
  description:
    `Runs one statement that reads (SELECT, VALUES, WITH, EXPLAIN) over a store's views and tables, also while a process works on it. Views: workflow, workflow_timer, workflow_subscription, pending_procedure, last_workflow_id; and the application's own tables. Statements that write, attach, change settings or load code are rejected. A query is stopped after --timeout, and at 100,000 rows or 16 MiB.
With --csv, control characters and marks of writing direction in texts are escaped (a line feed is \\n). Texts that begin with =, +, - or @ and are not numbers get an apostrophe in front, so that spreadsheets do not run them. --csv-raw leaves texts as stored.
The query runs in a separate process and does not block the engine. If a driver locks the file (node-sqlite3-wasm), the process that holds the store runs it.`,
  options,
  args: { name: "statement", required: true, help: "The statement, as one argument" },
  exits: [
    "0 the rows are printed",
    "1 the store cannot be read, SQLite does not know what the statement names, or the query was stopped",
    "2 it is not run",
  ],
  examples: [
    {
      line:
        `temporalex sql "SELECT id, status FROM workflow WHERE entity_id = 42" --store game.sqlite`,
    },
    {
      line:
        `temporalex sql "SELECT name, fires_ms FROM workflow_timer ORDER BY fires_ms LIMIT 10" --json`,
    },
    {
      line:
        `temporalex sql "SELECT * FROM workflow WHERE status IN ('Running', 'Suspended')" --csv > open.csv`,
    },
  ],
  run: async (call) => (await import("./run.ts")).sqlCommand(call),
});
