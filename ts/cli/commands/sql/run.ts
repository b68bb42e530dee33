// `temporalex sql`: queries a store directly, through the process that holds it, or through a
// server.
import { askForRows } from "../../../app/sql/sql_method.ts";
import { SqliteError } from "../../../app/sql/query.ts";
import { checkTime } from "../../../app/sql/query_process.ts";
import { queryStore } from "../../../app/sql/store_query.ts";
import { SqlLimitError } from "../../../engine/sqlite/bounded_rows.ts";
import type { SqlRow, SqlValue } from "../../../engine/sqlite/driver.ts";
import { refuseWriting, SqlRefusedError } from "../../../engine/sqlite/read_only_sql.ts";
import { Code, ServiceError } from "../../../service/raw.ts";
import { CommandError, UsageError } from "../../frame/errors.ts";
import { Exit } from "../../frame/exit.ts";
import { printableLine } from "../../frame/printable.ts";
import { meansCluster, openCluster } from "../../service/cluster.ts";
import { storePath } from "../../service/open_service.ts";
import type { SqlCall } from "./options.ts";

async function rowsOf(call: SqlCall): Promise<SqlRow[]> {
  const { args, options, given, signal } = call;
  const sql = args[0]!;
  const ms = options.timeout;
  try {
    refuseWriting(sql);
    checkTime(ms);
  } catch (e) {
    throw new UsageError((e as Error).message);
  }
  if (!meansCluster(options)) return await queryStore(storePath(call), sql, ms, signal);
  if (given.has("store")) {
    throw new UsageError("--store and --address cannot be used together: name one of them");
  }
  const { service, namespace, where, close } = await openCluster(call);
  try {
    return await askForRows(service, { namespace, sql, ms }, signal);
  } catch (e) {
    if (!(e instanceof ServiceError) || e.code !== Code.UNIMPLEMENTED) throw e;
    throw new CommandError(
      `${where} does not support SQL: use a store, or temporalex dev with --db-filename`,
    );
  } finally {
    await close();
  }
}

export async function sqlCommand(call: SqlCall): Promise<number> {
  const { options, print, io } = call;
  if (options.csvRaw && !options.csv) throw new UsageError("--csv-raw needs --csv");
  let rows: SqlRow[];
  try {
    rows = await rowsOf(call);
  } catch (e) {
    if (e instanceof SqlRefusedError) throw new UsageError(e.message);
    if (e instanceof SqlLimitError) {
      throw new CommandError(e.message.replace("increase the timeout", "increase the --timeout"));
    }
    if (e instanceof SqliteError) throw new CommandError(`SQLite: ${e.message}`, { cause: e });
    throw e;
  }
  const columns = Object.keys(rows[0] ?? {});
  if (options.csv) {
    if (rows.length > 0) io.out(csvOf(columns, rows, options.csvRaw));
    else print.note("no rows");
    return Exit.ok;
  }
  print.result(rows.map(plain), () => {
    if (rows.length === 0) return "no rows\n";
    return print.table(
      rows,
      columns.map((title) => ({
        title,
        cell: (row: SqlRow) => textOf(row[title]),
        narrow: (row: SqlRow) => cut(textOf(row[title])),
        right: rows.every((row) => typeof row[title] === "number"),
      })),
    );
  });
  return Exit.ok;
}

const hexOf = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

/** Text of a value in tables and CSV: empty for NULL, hexadecimal for bytes. */
const textOf = (value: SqlValue | undefined): string =>
  value === null || value === undefined
    ? ""
    : value instanceof Uint8Array
    ? hexOf(value)
    : String(value);

const NARROW = 40;
const cut = (text: string): string =>
  text.length > NARROW ? `${text.slice(0, NARROW - 3)}...` : text;

const plain = (row: SqlRow): object =>
  Object.fromEntries(
    Object.entries(row).map((
      [name, value],
    ) => [name, value instanceof Uint8Array ? hexOf(value) : value]),
  );

/**
 * Characters that begin a formula in spreadsheets, including full-width forms. Numbers are not
 * formulas.
 */
const FORMULA = /^[=+\-@\uff1d\uff0b\uff0d\uff20]/;
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

/**
 * Returns a text that spreadsheets and terminals do not interpret: escapes controls, and puts an
 * apostrophe before a formula.
 */
function csvText(text: string): string {
  const line = printableLine(text);
  return FORMULA.test(line) && !NUMBER.test(line) ? `'${line}` : line;
}

function csvOf(columns: readonly string[], rows: readonly SqlRow[], raw: boolean): string {
  const cell = (value: SqlValue | undefined) =>
    typeof value === "string" && !raw ? csvText(value) : textOf(value);
  const quoted = (text: string) => /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  const lines = [
    columns.map(cell),
    ...rows.map((row) => columns.map((column) => cell(row[column]))),
  ];
  return lines.map((line) => `${line.map(quoted).join(",")}\r\n`).join("");
}
