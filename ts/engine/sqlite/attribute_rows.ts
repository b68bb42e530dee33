// Search attributes as rows, by which queries find runs. The message in `runs` is authoritative;
// the rows are written in its transaction, only if it has changed: a run without attributes costs
// nothing.
import { CORRELATION, ENTITY } from "../../converter/belonging_names.ts";
import { SUBSCRIPTION_ATTRIBUTE } from "../../converter/subscriptions.ts";
import { attributeValues, Kind } from "../visibility/attributes.ts";
import type { RunRow } from "../store.ts";
import type { SqlDatabase, SqlStatement, SqlValue } from "./driver.ts";
import { once } from "./statements.ts";

export const ATTRIBUTES_SCHEMA = `
CREATE TABLE search_attributes (
  run_key INTEGER NOT NULL,
  name TEXT NOT NULL,
  kind INTEGER NOT NULL,        -- 1: text, 2: number, 3: bool (0, 1), 4: time (milliseconds since the epoch)
  value ANY NOT NULL,           -- each element of a keyword list has a row
  PRIMARY KEY (run_key, name, kind, value)
) STRICT, WITHOUT ROWID;
CREATE INDEX search_attributes_by_value ON search_attributes (name, kind, value);
`;

const INSERT =
  "INSERT OR IGNORE INTO search_attributes (run_key, name, kind, value) VALUES (?, ?, ?, ?)";
const PAGE = 500;

/** The message that the rows of a run were made from; empty for a run without attributes. */
export type Written = Uint8Array;
export const NOTHING: Written = new Uint8Array(0);

/** Whether the rows of a run match its message. */
function isWritten(message: Uint8Array, written: Written): boolean {
  const { length } = message;
  if (length !== written.length) return false;
  for (let i = 0; i < length; i++) if (message[i] !== written[i]) return false;
  return true;
}

/** Writes the rows of runs. */
export class AttributeRows {
  readonly #database: SqlDatabase;
  readonly #insert: SqlStatement;
  readonly #remove: SqlStatement;
  readonly #removeNamed: SqlStatement;
  readonly #belongs: SqlStatement;

  constructor(database: SqlDatabase) {
    this.#database = database;
    this.#insert = database.prepare(INSERT);
    this.#remove = database.prepare("DELETE FROM search_attributes WHERE run_key = ?");
    this.#removeNamed = database.prepare(
      "DELETE FROM search_attributes WHERE run_key = ? AND name = ?",
    );
    this.#belongs = database.prepare(
      "UPDATE runs SET entity_id = ?, correlation_id = ? WHERE run_key = ?",
    );
  }

  /**
   * Returns the written message: a copy, because the bytes of a commit share one buffer. A closed
   * run loses its subscriptions, so that the cost of a broadcast does not grow with closed
   * subscribers.
   */
  write(
    runKey: number,
    { searchAttributes: message, closeTimeMs }: RunRow,
    written: Written,
  ): Written {
    let now = written;
    if (!isWritten(message, written)) {
      this.#replace(runKey, message, written);
      now = message.slice();
    }
    if (closeTimeMs > 0 && now.length > 0) this.#removeNamed.run([runKey, SUBSCRIPTION_ATTRIBUTE]);
    return now;
  }

  #replace(runKey: number, message: Uint8Array, written: Written): void {
    if (written.length > 0) this.remove(runKey);
    let [entity, correlation]: [SqlValue, SqlValue] = [null, null];
    for (const { name, kind, value } of attributeValues(message)) {
      this.#insert.run([runKey, name, kind, value]);
      if (kind !== Kind.TEXT) continue;
      if (name === ENTITY) entity = value;
      else if (name === CORRELATION) correlation = value;
    }
    if (entity !== null || correlation !== null || written.length > 0) {
      this.#belongs.run([entity, correlation, runKey]);
    }
  }

  /**
   * Open runs with one of these texts. CROSS JOIN fixes the order of the join: from values to runs.
   */
  subscribers(
    attribute: string,
    values: readonly string[],
  ): { workflowId: string; runId: string }[] {
    const sql =
      `SELECT DISTINCT runs.run_key, workflow_id, run_id FROM search_attributes AS a CROSS JOIN runs ON runs.run_key = a.run_key
        WHERE a.name = ? AND a.kind = ${Kind.TEXT} AND a.value IN (${
        values.map(() => "?").join(", ")
      }) AND +runs.status = 1
        ORDER BY runs.run_key`;
    return once(this.#database, sql, (statement) => statement.all([attribute, ...values]))
      .map((row) => ({ workflowId: row["workflow_id"] as string, runId: row["run_id"] as string }));
  }

  remove(runKey: number): void {
    this.#remove.run([runKey]);
  }
}

/** Fills the rows of a file that has none yet. */
export function fillAttributes(database: SqlDatabase): void {
  const page = database.prepare(
    `SELECT run_key, search_attributes FROM runs WHERE run_key > ? AND length(search_attributes) > 0 ORDER BY run_key LIMIT ${PAGE}`,
  );
  const insert = database.prepare(INSERT);
  for (let after = -9e15;;) {
    const rows = page.all([after]);
    if (rows.length === 0) return;
    for (const row of rows) {
      after = row["run_key"] as number;
      for (const { name, kind, value } of attributeValues(row["search_attributes"] as Uint8Array)) {
        insert.run([after, name, kind, value]);
      }
    }
  }
}
