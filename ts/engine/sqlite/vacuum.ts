// Returns free pages of a file to the file system.
import { numberColumn } from "./rows.ts";
import type { SqlDatabase } from "./driver.ts";
import type { LogGuard } from "./log_guard.ts";

/** Rewrites the file without free pages. Returns the number of bytes that it lost. */
export function vacuum(database: SqlDatabase, log: LogGuard): number {
  const read = (name: string) => numberColumn(database.prepare(`PRAGMA ${name}`).get([]), name);
  const before = read("page_count");
  log.check();
  database.exec("VACUUM");
  database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").all([]);
  log.begin();
  return (before - read("page_count")) * read("page_size");
}
