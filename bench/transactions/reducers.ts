// The reducer of bench/transactions.ts.
import type { Database } from "../../ts/engine/mod.ts";

export function row(database: Database, n: number): void {
  database.run("INSERT INTO line (n) VALUES (?)", n);
}
