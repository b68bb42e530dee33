import type { Database } from "../../ts/engine/mod.ts";

export function insert(database: Database, n: number): void {
  database.run("INSERT INTO line (n) VALUES (?)", n);
}
