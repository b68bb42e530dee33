// The work of one step in bench/state_table.ts, the same for both: a row. A tenth of the steps
// fails at the first attempt.
interface Rows {
  run(sql: string, ...params: (string | number)[]): number;
}

export function effect(rows: Rows, task: number, step: number, attempt: number, due: number): void {
  rows.run("INSERT INTO effect (task, step, late) VALUES (?, ?, ?)", task, step, Date.now() - due);
  if (attempt === 1 && (task + step) % 10 === 0) throw new Error("not at the first attempt");
}

export const TABLES =
  "CREATE TABLE effect (task INTEGER NOT NULL, step INTEGER NOT NULL, late REAL NOT NULL) STRICT";
