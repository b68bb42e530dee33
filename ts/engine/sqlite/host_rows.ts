// The rows that the host of an engine keeps: schedules, batch operations, standalone activities,
// worker deployments and configurations of task queues.
import type { HostWrites } from "../store.ts";
import { ActivityRows } from "./activity_rows.ts";
import { BatchRows } from "./batch_rows.ts";
import { DeploymentRows } from "./deployment_rows.ts";
import type { SqlDatabase } from "./driver.ts";
import { ScheduleRows } from "./schedule_rows.ts";
import { TaskQueueRows } from "./task_queue_rows.ts";

export class HostRows {
  readonly schedules: ScheduleRows;
  readonly batches: BatchRows;
  readonly activities: ActivityRows;
  readonly deployments: DeploymentRows;

  readonly taskQueues: TaskQueueRows;

  /** `attempt` converts errors of SQLite; `alone` also opens a transaction. */
  constructor(
    database: SqlDatabase,
    attempt: <T>(doing: string, operation: () => T) => T,
    alone: (doing: string, operation: () => void) => void,
  ) {
    this.schedules = new ScheduleRows(database);
    this.batches = new BatchRows(database);
    this.activities = new ActivityRows(database, attempt);
    this.deployments = new DeploymentRows(database);
    this.taskQueues = new TaskQueueRows(database, attempt, alone);
  }

  /** Writes changes in the open transaction. */
  write(...[schedules, batches, activities, deployments]: HostWrites): void {
    for (const write of schedules?.values() ?? []) this.schedules.write(write);
    for (const write of batches?.values() ?? []) this.batches.write(write);
    for (const write of activities?.values() ?? []) this.activities.write(write);
    for (const write of deployments?.values() ?? []) this.deployments.write(write);
  }
}
