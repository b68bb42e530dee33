// Names the program that has a write transaction open in the store's file. SQLite admits one writer
// at a time, and its error ("database is locked") names no program.
import { StoreBusyError } from "../store_errors.ts";
import type { Builtins } from "./builtins.ts";

/** The byte of `<file>-shm` that a writer locks. */
const WRITE_LOCK_BYTE = 120;

export const isLocked = (e: unknown): boolean =>
  e instanceof Error && /database (?:table )?is locked/i.test(e.message);

/** `by`: the program that holds the lock, if known. */
export function storeBusy(path: string, by: string | undefined, cause: unknown): StoreBusyError {
  return new StoreBusyError(
    `${path} is locked for writing by ${
      by ?? "another program"
    }: end its transaction or stop that program`,
    { cause },
  );
}

/** The process that holds the lock, on systems that list locks (Linux). */
export function writerOf(
  { fs, process }: Pick<Builtins, "fs" | "process">,
  path: string,
): string | undefined {
  try {
    const { ino } = fs.statSync(`${path}-shm`);
    for (const line of fs.readFileSync("/proc/locks", "utf8").split("\n")) {
      // "7: POSIX  ADVISORY  WRITE 4711 08:02:1234567 120 120"
      const [, , , kind, pid, file = "", from, to] = line.trim().split(/\s+/);
      const covers = Number(from) <= WRITE_LOCK_BYTE &&
        (to === "EOF" || Number(to) >= WRITE_LOCK_BYTE);
      if (kind !== "WRITE" || !covers || Number(file.split(":")[2]) !== ino || !(Number(pid) > 0)) {
        continue;
      }
      if (Number(pid) === process.pid) return "another connection of this process";
      return `process ${pid} (${fs.readFileSync(`/proc/${pid}/comm`, "utf8").trim()})`;
    }
  } catch {
    // Another system, or the runtime has no permission to look.
  }
  return undefined;
}
