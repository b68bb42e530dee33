// The rows of configurations of task queues: few, and rarely changed.
import type { StoredTaskQueueConfig, TaskQueueConfigStore } from "../store.ts";
import type { SqlDatabase } from "./driver.ts";
import { once } from "./statements.ts";

export class TaskQueueRows implements TaskQueueConfigStore {
  readonly #database: SqlDatabase;
  readonly #read: <T>(doing: string, operation: () => T) => T;
  readonly #write: (doing: string, operation: () => void) => void;

  /** `read` converts errors of SQLite; `write` also opens a transaction. */
  constructor(
    database: SqlDatabase,
    read: <T>(doing: string, operation: () => T) => T,
    write: (doing: string, operation: () => void) => void,
  ) {
    this.#database = database;
    this.#read = read;
    this.#write = write;
  }

  all(): StoredTaskQueueConfig[] {
    const sql = "SELECT task_queue, task_queue_type, config FROM temporalex_task_queues";
    return this.#read(
      "reading",
      () =>
        once(this.#database, sql, (statement) => statement.all([])).map((row) => ({
          taskQueue: row["task_queue"] as string,
          type: Number(row["task_queue_type"]),
          config: row["config"] as Uint8Array,
        })),
    );
  }

  set({ taskQueue, type, config }: StoredTaskQueueConfig): void {
    const sql =
      "INSERT OR REPLACE INTO temporalex_task_queues (task_queue, task_queue_type, config) VALUES (?, ?, ?)";
    this.#write(
      "configuring a task queue in",
      () => void once(this.#database, sql, (statement) => statement.run([taskQueue, type, config])),
    );
  }
}
