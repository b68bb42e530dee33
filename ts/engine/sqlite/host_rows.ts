// The rows that the host of an engine keeps: schedules, batch operations and standalone
// activities.
import type { ActivityWrite, BatchWrite, ScheduleWrite } from "../store.ts";
import { ActivityRows } from "./activity_rows.ts";
import { BatchRows } from "./batch_rows.ts";
import type { SqlDatabase } from "./driver.ts";
import { ScheduleRows } from "./schedule_rows.ts";

export class HostRows {
  readonly schedules: ScheduleRows;
  readonly batches: BatchRows;
  readonly activities: ActivityRows;

  /** `attempt` converts errors of SQLite. */
  constructor(database: SqlDatabase, attempt: <T>(doing: string, operation: () => T) => T) {
    this.schedules = new ScheduleRows(database);
    this.batches = new BatchRows(database);
    this.activities = new ActivityRows(database, attempt);
  }

  /** Writes changes in the open transaction. */
  write(
    schedules: ReadonlyMap<string, ScheduleWrite>,
    batches: ReadonlyMap<string, BatchWrite>,
    activities: ReadonlyMap<string, ActivityWrite>,
  ): void {
    for (const write of schedules.values()) this.schedules.write(write);
    for (const write of batches.values()) this.batches.write(write);
    for (const write of activities.values()) this.activities.write(write);
  }
}
