// Migrations of the application's tables in the store's file, each applied once, in order. An
// applied step must not change, because files with the same steps must have the same tables. All
// missing steps are one transaction.
import type { SqlDatabase } from "../sqlite/driver.ts";
import { VIEWS } from "../sqlite/views.ts";
import { StoreError } from "../store_errors.ts";
import { bareOf, DatabaseError, refuseOutside, refuseOwnTables } from "./database.ts";

/** One migration: its name, unique among the steps, and its SQL. */
export interface TableMigration {
  /** For example "001 npcs". */
  readonly name: string;
  /** One or more statements: CREATE TABLE, CREATE INDEX, ALTER TABLE, INSERT, ... */
  readonly sql: string;
}

const FORBIDDEN = /\b(?:commit|rollback|savepoint|release|attach|detach|vacuum|pragma)\b/i;

/**
 * The first BEGIN or END (an alias of COMMIT) outside a trigger's body; undefined if the SQL has
 * none.
 */
function transactionWord(bare: string): string | undefined {
  let inTrigger = false;
  for (const statement of bare.split(";")) {
    const word = /^\s*(begin|end)\b/i.exec(statement)?.[1]?.toUpperCase();
    if (!inTrigger && word !== undefined) return word;
    if (inTrigger) inTrigger = word !== "END";
    else inTrigger = /^\s*create\s+(?:temp(?:orary)?\s+)?trigger\b/i.test(statement);
  }
  return undefined;
}

const NAMES_VIEW = new RegExp(
  `\\b(?:table|view|to)\\s+(?:if\\s+(?:not\\s+)?exists\\s+)?(?:["\`\\[]?\\w+["\`\\]]?\\s*\\.\\s*)?["\`\\[]?(${
    VIEWS.join("|")
  })["\`\\]]?(?![\\w$])`,
  "i",
);

/** Applies the missing steps. On failure throws a StoreError with the step, and changes nothing. */
export function migrateTables(
  database: SqlDatabase,
  steps: readonly TableMigration[],
  nowMs: number,
): void {
  check(steps);
  database.exec("BEGIN IMMEDIATE");
  try {
    database.exec(
      "CREATE TABLE IF NOT EXISTS table_migrations (position INTEGER PRIMARY KEY, name TEXT NOT NULL, sql TEXT NOT NULL, applied_ms REAL NOT NULL) STRICT",
    );
    const applied = database.prepare("SELECT name, sql FROM table_migrations ORDER BY position")
      .all([]);
    applied.forEach((row, i) => {
      const step = steps[i];
      if (step === undefined) {
        throw new StoreError(
          `the file has step "${
            row["name"]
          }" of tables, which is missing in the option migrations: restore the step`,
        );
      }
      if (step.name !== row["name"]) {
        throw new StoreError(
          `step ${i + 1} of migrations is "${step.name}", but the file has "${
            row["name"]
          }" there: add new steps at the end`,
        );
      }
      if (step.sql !== row["sql"]) {
        throw new StoreError(
          `step "${step.name}" of migrations has changed since it was applied: restore its SQL and add a new step`,
        );
      }
    });
    const insert = database.prepare(
      "INSERT INTO table_migrations (position, name, sql, applied_ms) VALUES (?, ?, ?, ?)",
    );
    steps.forEach((step, i) => {
      if (i < applied.length) return;
      try {
        database.exec(step.sql);
      } catch (e) {
        throw new StoreError(`step "${step.name}" of migrations failed: ${(e as Error).message}`, {
          cause: e,
        });
      }
      insert.run([i, step.name, step.sql, nowMs]);
    });
    database.exec("COMMIT");
  } catch (e) {
    database.exec("ROLLBACK");
    throw e;
  }
}

function check(steps: readonly TableMigration[]): void {
  const names = new Set<string>();
  for (const { name, sql } of steps) {
    if (typeof name !== "string" || name === "") throw new TypeError("each migration needs a name");
    if (typeof sql !== "string" || sql.trim() === "") {
      throw new TypeError(`step "${name}" of migrations has no SQL`);
    }
    if (sql.includes("\0")) {
      throw new TypeError(`step "${name}" of migrations has a NUL character, where SQLite ends`);
    }
    if (names.has(name)) throw new TypeError(`two migrations are named "${name}"`);
    names.add(name);
    refuseOutside(sql);
    refuseOwnTables(sql);
    const bare = bareOf(sql);
    const view = NAMES_VIEW.exec(bare);
    if (view !== null) {
      throw new DatabaseError(
        `step "${name}" of migrations uses ${view[1]}, which is a view of the engine`,
      );
    }
    const found = FORBIDDEN.exec(bare)?.[0].toUpperCase() ?? transactionWord(bare);
    if (found !== undefined) {
      throw new DatabaseError(
        `step "${name}" of migrations has ${found}: the engine opens the transaction`,
      );
    }
  }
}
