// The rows of worker deployments. Statements are prepared when they are first needed.
import type { DeploymentWrite, StoredDeployment } from "../store.ts";
import type { SqlDatabase, SqlStatement } from "./driver.ts";
import { once } from "./statements.ts";

/** One row for each deployment, with all its versions: changes are rare. */
export const DEPLOYMENTS_SCHEMA = `
CREATE TABLE temporalex_deployments (
  name TEXT PRIMARY KEY,
  state TEXT NOT NULL           -- JSON
) STRICT, WITHOUT ROWID;
`;

export class DeploymentRows {
  readonly #database: SqlDatabase;
  #put: SqlStatement | undefined;
  #remove: SqlStatement | undefined;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  all(): StoredDeployment[] {
    const sql = "SELECT name, state FROM temporalex_deployments ORDER BY name";
    return once(this.#database, sql, (statement) => statement.all([])).map((row) => ({
      name: row["name"] as string,
      state: row["state"] as string,
    }));
  }

  /** Writes or removes a deployment in the open transaction. */
  write({ name, state }: DeploymentWrite): void {
    if (state === undefined) {
      this.#remove ??= this.#database.prepare("DELETE FROM temporalex_deployments WHERE name = ?");
      this.#remove.run([name]);
    } else {
      this.#put ??= this.#database.prepare(
        "INSERT OR REPLACE INTO temporalex_deployments (name, state) VALUES (?, ?)",
      );
      this.#put.run([name, state]);
    }
  }
}
