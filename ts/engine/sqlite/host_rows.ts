// The rows that the host of an engine keeps: schedules and batch operations.
import type { BatchWrite, ScheduleWrite } from "../store.ts";
import { BatchRows } from "./batch_rows.ts";
import type { SqlDatabase } from "./driver.ts";
import { ScheduleRows } from "./schedule_rows.ts";

export class HostRows {
  readonly schedules: ScheduleRows;
  readonly batches: BatchRows;

  constructor(database: SqlDatabase) {
    this.schedules = new ScheduleRows(database);
    this.batches = new BatchRows(database);
  }

  /** Writes changes in the open transaction. */
  write(
    schedules: ReadonlyMap<string, ScheduleWrite>,
    batches: ReadonlyMap<string, BatchWrite>,
  ): void {
    for (const write of schedules.values()) this.schedules.write(write);
    for (const write of batches.values()) this.batches.write(write);
  }
}
