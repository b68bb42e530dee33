// The rows of standalone activities. Statements are prepared when they are first needed: few stores
// have any.
import { fromBinary } from "@bufbuild/protobuf";
import { ActivityExecutionInfoSchema } from "../../messages/generated/temporal/api/activity/v1/message_pb.ts";
import { timestampMsIfSet } from "../schedules/durations.ts";
import type {
  ActivityStore,
  ActivityWrite,
  ListPosition,
  ListQuery,
  PurgeOptions,
  StoredActivity,
} from "../store.ts";
import { StoreError } from "../store_errors.ts";
import { attributeValues } from "../visibility/attributes.ts";
import type { Condition } from "../visibility/condition.ts";
import { conditionSql, type ConditionTable } from "./condition_sql.ts";
import type { SqlDatabase, SqlRow, SqlStatement, SqlValue } from "./driver.ts";
import { numberColumn } from "./rows.ts";
import { once } from "./statements.ts";

export const ACTIVITIES_SCHEMA = `
CREATE TABLE temporalex_activities (
  activity_key INTEGER PRIMARY KEY,  -- grows with each activity: the order of creation
  activity_id TEXT NOT NULL,
  run_id TEXT NOT NULL UNIQUE,
  activity_type TEXT NOT NULL,
  task_queue TEXT NOT NULL,
  status INTEGER NOT NULL,           -- temporal.api.enums.v1.ActivityExecutionStatus
  start_time_ms REAL NOT NULL,
  close_time_ms REAL,                -- NULL while open
  request BLOB NOT NULL,             -- encoded temporal.api.workflowservice.v1.StartActivityExecutionRequest
  info BLOB NOT NULL,                -- encoded temporal.api.activity.v1.ActivityExecutionInfo
  outcome BLOB NOT NULL,             -- encoded temporal.api.activity.v1.ActivityExecutionOutcome, empty while open
  state TEXT NOT NULL                -- JSON
) STRICT;
CREATE INDEX temporalex_activities_by_id ON temporalex_activities (activity_id);
CREATE INDEX temporalex_activities_open ON temporalex_activities (activity_key) WHERE close_time_ms IS NULL;
CREATE INDEX temporalex_activities_by_start ON temporalex_activities (start_time_ms);
CREATE INDEX temporalex_activities_by_close ON temporalex_activities (ifnull(close_time_ms, 9e15));
CREATE INDEX temporalex_activities_by_status ON temporalex_activities (status);
CREATE TABLE temporalex_activity_attributes (
  activity_key INTEGER NOT NULL,
  name TEXT NOT NULL,
  kind INTEGER NOT NULL,             -- as in search_attributes
  value ANY NOT NULL,
  PRIMARY KEY (activity_key, name, kind, value)
) STRICT, WITHOUT ROWID;
CREATE INDEX temporalex_activity_attributes_by_value ON temporalex_activity_attributes (name, kind, value);
`;

/** The time of the first dispatch, with the start delay. */
export const ACTIVITY_TIMES_SCHEMA =
  "ALTER TABLE temporalex_activities ADD COLUMN execution_time_ms REAL NOT NULL DEFAULT 0";

const FILL_PAGE = 500;

/** Fills the execution times of a file that has none yet. */
export function fillExecutionTimes(database: SqlDatabase): void {
  const page = database.prepare(
    `SELECT activity_key, start_time_ms, info FROM temporalex_activities WHERE activity_key > ? ORDER BY activity_key LIMIT ${FILL_PAGE}`,
  );
  const set = database.prepare(
    "UPDATE temporalex_activities SET execution_time_ms = ? WHERE activity_key = ?",
  );
  for (let after = 0;;) {
    const rows = page.all([after]);
    if (rows.length === 0) return;
    for (const row of rows) {
      after = numberColumn(row, "activity_key");
      const { executionTime } = fromBinary(ActivityExecutionInfoSchema, row["info"] as Uint8Array);
      set.run([timestampMsIfSet(executionTime) ?? numberColumn(row, "start_time_ms"), after]);
    }
  }
}

const TABLE: ConditionTable = {
  columns: {
    WorkflowId: "activity_id",
    WorkflowType: "activity_type",
    RunId: "run_id",
    TaskQueue: "task_queue",
    ExecutionStatus: "status",
    StartTime: "start_time_ms",
    CloseTime: "close_time_ms",
    ExecutionTime: "execution_time_ms",
    // As descriptions report it.
    ExecutionDuration: "(close_time_ms - start_time_ms)",
  },
  key: "activity_key",
  attributes: "temporalex_activity_attributes",
};
const NO_FIELDS: ReadonlySet<never> = new Set();
/** Open activities sort after all closed ones. */
const CLOSE_PLACE = "ifnull(close_time_ms, 9e15)";
const STORED = "activity_id, run_id, info, outcome, state";

function toActivity(row: SqlRow): StoredActivity {
  return {
    activityId: row["activity_id"] as string,
    runId: row["run_id"] as string,
    info: row["info"] as Uint8Array,
    outcome: row["outcome"] as Uint8Array,
    state: row["state"] as string,
  };
}

/** Reads in `attempt`, which converts errors of SQLite. */
export class ActivityRows implements ActivityStore {
  readonly #database: SqlDatabase;
  readonly #attempt: <T>(doing: string, operation: () => T) => T;
  readonly #prepared = new Map<string, SqlStatement>();

  constructor(database: SqlDatabase, attempt: <T>(doing: string, operation: () => T) => T) {
    this.#database = database;
    this.#attempt = attempt;
  }

  #sql(sql: string): SqlStatement {
    let statement = this.#prepared.get(sql);
    if (statement === undefined) this.#prepared.set(sql, statement = this.#database.prepare(sql));
    return statement;
  }

  open(): StoredActivity[] {
    const sql =
      `SELECT ${STORED} FROM temporalex_activities WHERE close_time_ms IS NULL ORDER BY activity_key`;
    return this.#attempt(
      "reading",
      () => once(this.#database, sql, (statement) => statement.all([])).map(toActivity),
    );
  }

  find(activityId: string, runId?: string): StoredActivity | undefined {
    return this.#attempt("reading", () => {
      const row = runId === undefined
        ? this.#sql(
          `SELECT ${STORED} FROM temporalex_activities WHERE activity_id = ? ORDER BY activity_key DESC LIMIT 1`,
        ).get([activityId])
        : this.#sql(
          `SELECT ${STORED} FROM temporalex_activities WHERE run_id = ? AND activity_id = ?`,
        ).get([runId, activityId]);
      return row === undefined ? undefined : toActivity(row);
    });
  }

  request(activityId: string, runId: string): Uint8Array | undefined {
    const sql = "SELECT request FROM temporalex_activities WHERE run_id = ? AND activity_id = ?";
    return this.#attempt(
      "reading",
      () => this.#sql(sql).get([runId, activityId])?.["request"] as Uint8Array | undefined,
    );
  }

  list(
    { where, orderBy, descending }: ListQuery,
    size: number,
    after?: ListPosition,
  ): ReturnType<ActivityStore["list"]> {
    const params: SqlValue[] = [];
    const order = orderBy === "StartTime" ? "start_time_ms" : CLOSE_PLACE;
    const [direction, beyond] = descending ? ["DESC", "<"] : ["ASC", ">"];
    const terms = [where === undefined ? "1" : conditionSql(where, params, NO_FIELDS, TABLE)];
    if (after !== undefined) {
      terms.push(`(${order}, activity_key) ${beyond} (?, ?)`);
      params.push(...after);
    }
    const sql = `SELECT ${order} AS place, activity_key, info FROM temporalex_activities WHERE ${
      terms.join(" AND ")
    } ORDER BY ${order} ${direction}, activity_key ${direction} LIMIT ?`;
    return this.#attempt("listing activities of", () => {
      // One more shows whether there is a next page.
      const rows = once(
        this.#database,
        sql,
        (statement) => statement.all([...params, size + 1]),
      );
      const page = rows.slice(0, size);
      const last = rows.length > size ? page.at(-1) : undefined;
      return {
        infos: page.map((row) => row["info"] as Uint8Array),
        next: last && [numberColumn(last, "place"), numberColumn(last, "activity_key")],
      };
    });
  }

  countByStatus(where?: Condition): ReadonlyMap<number, number> {
    const params: SqlValue[] = [];
    const sql = `SELECT status, count(*) AS n FROM temporalex_activities WHERE ${
      where === undefined ? "1" : conditionSql(where, params, NO_FIELDS, TABLE)
    } GROUP BY status`;
    return this.#attempt("counting activities of", () => {
      const rows = once(this.#database, sql, (statement) => statement.all(params));
      return new Map(
        rows.map((row) => [numberColumn(row, "status"), numberColumn(row, "n")] as const),
      );
    });
  }

  /** Writes or removes an activity in the open transaction. */
  write(write: ActivityWrite): void {
    const { runId } = write;
    if (write.row === undefined) return this.#remove(runId);
    const { row, request, info, outcome, state } = write;
    const close = row.closeTimeMs === 0 ? null : row.closeTimeMs;
    if (request === undefined) {
      const changed = this.#sql(
        `UPDATE temporalex_activities SET task_queue = ?, status = ?, execution_time_ms = ?, close_time_ms = ?, info = ?,
          outcome = ?, state = ? WHERE run_id = ?`,
      ).run([row.taskQueue, row.status, row.executionTimeMs, close, info, outcome, state, runId]);
      if (changed !== 1) throw new StoreError(`activity run ${runId} is not in the store`);
      return;
    }
    this.#sql(
      `INSERT INTO temporalex_activities (activity_id, run_id, activity_type, task_queue, status, start_time_ms,
        execution_time_ms, close_time_ms, request, info, outcome, state) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ).run([
      row.activityId,
      runId,
      row.activityType,
      row.taskQueue,
      row.status,
      row.startTimeMs,
      row.executionTimeMs,
      close,
      request,
      info,
      outcome,
      state,
    ]);
    for (const { name, kind, value } of attributeValues(row.searchAttributes)) {
      this.#sql(
        `INSERT OR IGNORE INTO temporalex_activity_attributes (activity_key, name, kind, value)
          SELECT activity_key, ?, ?, ? FROM temporalex_activities WHERE run_id = ?`,
      ).run([name, kind, value, runId]);
    }
  }

  #remove(runId: string): void {
    this.#sql(
      `DELETE FROM temporalex_activity_attributes WHERE activity_key IN
        (SELECT activity_key FROM temporalex_activities WHERE run_id = ?)`,
    ).run([runId]);
    this.#sql("DELETE FROM temporalex_activities WHERE run_id = ?").run([runId]);
  }

  /** Removes closed activities in slices, each in `transaction`. Returns their run ids. */
  purge(
    { closedBefore, limit = Infinity }: PurgeOptions,
    sliceSize: number,
    transaction: (body: () => void) => void,
  ): string[] {
    const purged: string[] = [];
    for (;;) {
      const slice = Math.min(sliceSize, limit - purged.length);
      const runIds = slice > 0 ? this.#purgeable(closedBefore, slice) : [];
      if (runIds.length === 0) return purged;
      transaction(() => {
        for (const runId of runIds) this.write({ runId });
      });
      purged.push(...runIds);
    }
  }

  #purgeable(closedBefore: number, limit: number): string[] {
    const sql =
      `SELECT run_id FROM temporalex_activities WHERE close_time_ms IS NOT NULL AND ${CLOSE_PLACE} < ?
        ORDER BY ${CLOSE_PLACE} LIMIT ?`;
    return once(this.#database, sql, (statement) => statement.all([closedBefore, limit]))
      .map((row) => row["run_id"] as string);
  }
}
