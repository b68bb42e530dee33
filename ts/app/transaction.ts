// Transactions of the application: its rows and its messages to workflows in one commit.
import type { TransactionWorkflows } from "../client/mod.ts";
import type { EmbeddedEngine } from "../engine/embedded_engine.ts";
import type { Database } from "../engine/tables/database.ts";

/**
 * The application's tables in a transaction, and in a reducer. Messages that `workflows` sends are
 * committed with its rows.
 */
export interface Transaction extends Database {
  /** Starts, signals and cancels workflows in this transaction. */
  readonly workflows: TransactionWorkflows;
}

/** Runs a function in the transaction of the engine's next commit. */
export async function runTransaction<T>(
  engine: EmbeddedEngine,
  work: (db: Transaction, workflows: TransactionWorkflows) => T,
): Promise<T> {
  if (typeof work !== "function") {
    throw new TypeError(
      `transaction needs a function: app.transaction((db, workflows) => { ... }), not ${typeof work}`,
    );
  }
  return await engine.transact((database) => {
    const db = database as Transaction;
    return work(db, db.workflows);
  });
}
