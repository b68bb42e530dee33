// Rows next to a run by which SQL finds it: search attributes, timers, procedures. Each is written
// only if changed, so the last written state of each run is kept.
import type { RunWrite } from "../store.ts";
import { AttributeRows, NOTHING, type Written } from "./attribute_rows.ts";
import type { SqlDatabase, SqlRow, SqlStatement } from "./driver.ts";
import { numberColumn, toRow } from "./rows.ts";
import { nameOfTimer, type Procedures, Waits } from "./waits.ts";

/** What was last written of a run. */
interface Remembered {
  attributes: Written;
  procedures: Procedures;
}

/** The same, with the keys of the run in the tables. */
export interface RunKeys extends Remembered {
  readonly runKey: number;
  historyKey: number;
  lastEvent: number;
  /** As in the row. 0: the run is not in the store yet. */
  status: number;
  closeTimeMs: number;
}

/** Keys of a run that is not in the store yet. */
export const keysOfNew = (runKey: number): RunKeys => ({
  ...{ runKey, historyKey: 0, lastEvent: 0, status: 0, closeTimeMs: 0 },
  ...{ attributes: NOTHING, procedures: null },
});

/** Keys of a run that was read. */
export function keysOfRow(row: SqlRow): RunKeys {
  const { status, closeTimeMs, historyLength, searchAttributes } = toRow(row);
  return {
    ...{
      runKey: numberColumn(row, "run_key"),
      historyKey: numberColumn(row, "history_key"),
      lastEvent: historyLength,
      status,
      closeTimeMs,
    },
    ...{ attributes: searchAttributes, procedures: undefined },
  };
}

export class Indexed {
  readonly #attributes: AttributeRows;
  readonly #waits: Waits;
  readonly #putState: SqlStatement;
  readonly #removeState: SqlStatement;

  constructor(database: SqlDatabase) {
    this.#attributes = new AttributeRows(database);
    this.#waits = new Waits(database);
    this.#putState = database.prepare(
      "INSERT INTO run_states (run_key, state) VALUES (?, ?) ON CONFLICT DO UPDATE SET state = excluded.state",
    );
    this.#removeState = database.prepare("DELETE FROM run_states WHERE run_key = ?");
  }

  /** Writes the rows; the run itself must be written before. */
  write(runKey: number, write: RunWrite, of: Remembered, state: string | null | undefined): void {
    if (typeof state === "string") this.#putState.run([runKey, state]);
    else if (state === null) this.#removeState.run([runKey]);
    of.attributes = this.#attributes.write(runKey, write.row!, of.attributes);
    if (write.put.length + write.remove.length === 0) return;
    const named = (startedId: number) =>
      nameOfTimer(write.append.map((batch) => batch.events), startedId);
    of.procedures = this.#waits.write(runKey, write, of.procedures, named);
  }

  /** Returns open runs with one of these texts. */
  subscribers(
    attribute: string,
    values: readonly string[],
  ): { workflowId: string; runId: string }[] {
    return this.#attributes.subscribers(attribute, values);
  }

  remove(runKey: number): void {
    this.#attributes.remove(runKey);
    this.#waits.remove(runKey);
    this.#removeState.run([runKey]);
  }
}
