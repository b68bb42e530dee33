// The steps of bench/state_table.ts as rows with a state, and a poller.
import { openFile } from "../../ts/engine/sqlite/open.ts";
import { effect, TABLES } from "./effect.ts";

const JOBS =
  `CREATE TABLE job (id INTEGER PRIMARY KEY, step INTEGER NOT NULL, attempt INTEGER NOT NULL, due REAL NOT NULL) STRICT;
  CREATE INDEX job_due ON job (due)`;

/** Runs until no row is left; existing rows of a file continue. */
export async function runTable(
  path: string,
  tasks: number,
  steps: number,
  delay: number,
  pollMs: number,
): Promise<void> {
  const { database, fence } = openFile(path, { synchronous: "NORMAL" });
  const rows = {
    run: (sql: string, ...params: (string | number)[]) => database.prepare(sql).run(params),
  };
  if (database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'job'").get([]) === undefined) {
    database.exec(`BEGIN; ${TABLES}; ${JOBS}`);
    for (let id = 0; id < tasks; id++) {
      rows.run("INSERT INTO job VALUES (?, 0, 1, ?)", id, Date.now() + delay);
    }
    database.exec("COMMIT");
  }
  const due = database.prepare(
    "SELECT id, step, attempt, due FROM job WHERE due <= ? ORDER BY due LIMIT 100",
  );
  const next = database.prepare("UPDATE job SET step = ?, attempt = ?, due = ? WHERE id = ?");
  const end = database.prepare("DELETE FROM job WHERE id = ?");
  const left = database.prepare("SELECT 1 FROM job LIMIT 1");
  while (left.get([]) !== undefined) {
    const found = due.all([Date.now()]) as {
      id: number;
      step: number;
      attempt: number;
      due: number;
    }[];
    for (const job of found) {
      database.exec("BEGIN IMMEDIATE");
      try {
        effect(rows, job.id, job.step, job.attempt, job.due);
        if (job.step + 1 === steps) end.run([job.id]);
        else next.run([job.step + 1, 1, Date.now() + delay, job.id]);
        database.exec("COMMIT");
      } catch {
        database.exec("ROLLBACK");
        next.run([job.step, job.attempt + 1, Date.now() + delay, job.id]);
      }
    }
    await new Promise((resolve) => setTimeout(resolve, found.length === 0 ? pollMs : 0));
  }
  database.close();
  fence.release();
}
