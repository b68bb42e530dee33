// The rows of schedules. Statements are prepared when they are first needed: few stores have any.
import type { ScheduleWrite, StoredSchedule } from "../store.ts";
import type { SqlDatabase, SqlRow, SqlStatement } from "./driver.ts";
import { once } from "./statements.ts";

function toSchedule(row: SqlRow): StoredSchedule {
  return {
    scheduleId: row["schedule_id"] as string,
    description: row["description"] as Uint8Array,
    carried: row["carried"] as Uint8Array,
    state: row["state"] as string,
  };
}

export class ScheduleRows {
  readonly #database: SqlDatabase;
  #put: SqlStatement | undefined;
  #remove: SqlStatement | undefined;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  all(): StoredSchedule[] {
    const sql = "SELECT schedule_id, description, carried, state FROM temporalex_schedules";
    return once(this.#database, sql, (statement) => statement.all([])).map(toSchedule);
  }

  /** Writes or removes a schedule in the open transaction. */
  write(write: ScheduleWrite): void {
    const id = write.scheduleId;
    if ("state" in write) {
      this.#put ??= this.#database.prepare(
        `INSERT INTO temporalex_schedules (schedule_id, description, carried, state) VALUES (?, ?, ?, ?)
          ON CONFLICT DO UPDATE SET description = excluded.description, carried = excluded.carried, state = excluded.state`,
      );
      this.#put.run([id, write.description, write.carried, write.state]);
    } else {
      this.#remove ??= this.#database.prepare(
        "DELETE FROM temporalex_schedules WHERE schedule_id = ?",
      );
      this.#remove.run([id]);
    }
  }
}
