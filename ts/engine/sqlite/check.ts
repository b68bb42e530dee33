// Looks for damage in a store file: SQLite's integrity check, then invariants between the tables.
import type { SqlDatabase } from "./driver.ts";
import { WRONG_COUNTS } from "./run_counts.ts";

/** Each query returns the rows that violate a rule; `what` describes them. */
const RULES: readonly { readonly what: string; readonly sql: string }[] = [
  {
    what: "runs whose newest batch of history is missing or does not end at the run's last event",
    sql:
      `SELECT r.run_id AS name FROM runs r LEFT JOIN history h ON h.history_key = r.history_key AND h.run_key = r.run_key
           WHERE (r.history_length > 0 OR r.history_key <> 0) AND (h.history_key IS NULL OR h.last_event_id <> r.history_length)`,
  },
  {
    what: "batches of history that do not follow the batch before them",
    sql: `SELECT h.history_key AS name FROM history h LEFT JOIN history p ON p.history_key = h.prev
           WHERE (h.prev = 0 AND h.first_event_id <> 1)
              OR (h.prev <> 0 AND (p.history_key IS NULL OR p.run_key <> h.run_key OR p.last_event_id <> h.first_event_id - 1))`,
  },
  {
    what: "runs whose number of events differs from the stored number",
    sql: `SELECT r.run_id AS name FROM runs r LEFT JOIN
            (SELECT run_key, sum(last_event_id - first_event_id + 1) AS events FROM history GROUP BY run_key) h ON h.run_key = r.run_key
           WHERE ifnull(h.events, 0) <> r.history_length`,
  },
  {
    what: "batches of history without a run",
    sql: "SELECT history_key AS name FROM history WHERE run_key NOT IN (SELECT run_key FROM runs)",
  },
  {
    what: "search attributes without a run",
    sql:
      "SELECT run_key AS name FROM search_attributes WHERE run_key NOT IN (SELECT run_key FROM runs)",
  },
  {
    what: "timers and procedures without a run",
    sql: "SELECT label AS name FROM waits WHERE run_key NOT IN (SELECT run_key FROM runs)",
  },
  {
    what: "state items without a run",
    sql: "SELECT id AS name FROM items WHERE run_key NOT IN (SELECT run_key FROM runs)",
  },
  { what: "types whose number of runs differs from the stored number", sql: WRONG_COUNTS },
];

/** Returns one sentence for each kind of damage. */
export function checkFile(database: SqlDatabase): string[] {
  const problems: string[] = [];
  for (const row of database.prepare("PRAGMA integrity_check").all([])) {
    const finding = String(row["integrity_check"]);
    if (finding !== "ok") problems.push(finding);
  }
  if (problems.length > 0) return problems;
  for (const { what, sql } of RULES) {
    const found = database.prepare(sql).all([]);
    if (found.length > 0) {
      problems.push(
        `${what}: ${found.slice(0, 5).map((row) => row["name"]).join(", ")}${
          found.length > 5 ? ` and ${found.length - 5} more` : ""
        }`,
      );
    }
  }
  return problems;
}
