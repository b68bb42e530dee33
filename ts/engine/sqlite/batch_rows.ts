// The rows of batch operations. Statements are prepared when they are first needed.
import type { BatchWrite, StoredBatch } from "../store.ts";
import type { SqlDatabase, SqlStatement } from "./driver.ts";
import { once } from "./statements.ts";

export class BatchRows {
  readonly #database: SqlDatabase;
  #insert: SqlStatement | undefined;
  #update: SqlStatement | undefined;
  #remove: SqlStatement | undefined;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  all(): StoredBatch[] {
    const sql = "SELECT job_id, request, state FROM temporalex_batch_operations";
    return once(this.#database, sql, (statement) => statement.all([])).map((row) => ({
      jobId: row["job_id"] as string,
      request: row["request"] as Uint8Array,
      state: row["state"] as string,
    }));
  }

  /** Writes or removes a batch operation in the open transaction. */
  write({ jobId, request, state }: BatchWrite): void {
    if (state === undefined) {
      this.#remove ??= this.#database.prepare(
        "DELETE FROM temporalex_batch_operations WHERE job_id = ?",
      );
      this.#remove.run([jobId]);
    } else if (request === undefined) {
      this.#update ??= this.#database.prepare(
        "UPDATE temporalex_batch_operations SET state = ? WHERE job_id = ?",
      );
      this.#update.run([state, jobId]);
    } else {
      this.#insert ??= this.#database.prepare(
        "INSERT OR REPLACE INTO temporalex_batch_operations (job_id, request, state) VALUES (?, ?, ?)",
      );
      this.#insert.run([jobId, request, state]);
    }
  }
}
