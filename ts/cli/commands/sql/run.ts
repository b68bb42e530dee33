// `temporalex sql`: a reader beside the process that holds the store.
import { StoreReader } from "../../../engine/maintenance/mod.ts";
import type { SqlRow, SqlValue } from "../../../engine/sqlite/driver.ts";
import { SqlRefusedError } from "../../../engine/sqlite/read_only_sql.ts";
import { CommandError, UsageError } from "../../frame/errors.ts";
import { Exit } from "../../frame/exit.ts";
import { storePath } from "../../service/open_service.ts";
import type { SqlCall } from "./options.ts";

export function sqlCommand(call: SqlCall): number {
  const { args, options, print, io } = call;
  const reader = StoreReader.open(storePath(call));
  let rows: SqlRow[];
  try {
    rows = reader.sql(args[0]!);
  } catch (e) {
    if (e instanceof SqlRefusedError) throw new UsageError(e.message);
    throw new CommandError(`SQLite: ${(e as Error).message}`, { cause: e });
  } finally {
    reader.close();
  }
  const columns = Object.keys(rows[0] ?? {});
  if (options.csv) {
    if (rows.length > 0) io.out(csvOf(columns, rows));
    return Exit.ok;
  }
  print.result(rows.map(plain), () => {
    if (rows.length === 0) return "no rows\n";
    return print.table(
      rows,
      columns.map((title) => ({
        title,
        cell: (row: SqlRow) => textOf(row[title]),
        right: rows.every((row) => typeof row[title] === "number"),
      })),
    );
  });
  return Exit.ok;
}

const hexOf = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

/** As a table and CSV show a value: nothing for NULL, hexadecimal digits for bytes. */
const textOf = (value: SqlValue | undefined): string =>
  value === null || value === undefined ? "" : value instanceof Uint8Array ? hexOf(value) : String(value);

const plain = (row: SqlRow): object =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, value instanceof Uint8Array ? hexOf(value) : value]),
  );

function csvOf(columns: readonly string[], rows: readonly SqlRow[]): string {
  const quoted = (text: string) => /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  const lines = [columns, ...rows.map((row) => columns.map((column) => textOf(row[column])))];
  return lines.map((line) => `${line.map(quoted).join(",")}\r\n`).join("");
}
