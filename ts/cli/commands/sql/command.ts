// `temporalex sql`.
import { command } from "../../frame/command.ts";
import { options } from "./options.ts";

export const sql = command({
  summary: "query a store with SQL",
  description:
    `Runs one read-only statement (SELECT, VALUES, WITH, EXPLAIN) over the views and tables of a store, which can be open in another process. Views: workflow, workflow_timer, workflow_subscription, pending_procedure, last_workflow_id; and the application's tables. Statements that write, attach files, change settings or load code are rejected. Limits of a query: --timeout, 100,000 rows, 16 MiB.
With --csv, control characters and bidirectional marks in text are escaped (a line feed is \\n). Text that begins with =, +, - or @ and is not a number is prefixed with an apostrophe, so that spreadsheets do not run it as a formula. --csv-raw prints text as stored.
The query runs in a separate process and does not block the engine. If a driver locks the file (node-sqlite3-wasm), the process that holds the store runs it.`,
  options,
  args: { name: "statement", required: true, help: "SQL statement, as one argument" },
  exits: [
    "0 the rows are printed",
    "1 the store cannot be read, the statement is invalid or refers to unknown tables or columns, or a limit stopped the query",
    "2 wrong usage, or a statement that is not allowed",
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
