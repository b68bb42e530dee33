// Small notes that outlive the process, in files readable by their owner only. Node and Deno; in
// browsers the functions return undefined.
import type { NoteText } from "./held_runs.ts";
import type { WorkNote } from "./running_tasks.ts";
import { builtin } from "../platform/builtin.ts";

interface Files {
  openSync(path: string, flags: string | number, mode: number): number;
  readFileSync(path: string, encoding: "utf8"): string;
  writeSync(
    file: number,
    text: Uint8Array,
    offset: number,
    length: number,
    position: number,
  ): number;
  writeFileSync(path: string, text: string, options: { mode: number }): void;
  renameSync(from: string, to: string): void;
  rmSync(path: string, options: { force: boolean }): void;
  closeSync(file: number): void;
  realpathSync(path: string): string;
  statSync(
    path: string,
    options: { throwIfNoEntry: false },
  ): { mtimeMs: number; size: number; ino: number } | undefined;
}

interface Exits {
  on(event: "exit", listener: () => void): void;
  off(event: "exit", listener: () => void): void;
}

const OWNER_ONLY = 0o600;
const utf8 = new TextEncoder();

function files(): Files | undefined {
  return builtin<Files>("node:fs");
}

/**
 * Returns the real absolute path of a file (links resolved), from which the paths of its notes are
 * made. Returns the path unchanged in browsers.
 */
export function resolveNotePath(path: string): string {
  try {
    return files()?.realpathSync(path) ?? path;
  } catch {
    return path;
  }
}

/**
 * How a note begins (crash_notes/running_tasks.ts, crash_notes/held_runs.ts). A file of the same
 * name with another content was not written here: it is not replaced or removed.
 */
const BEGINS = {
  // A line break written over a longer note leaves its rest.
  work: /^(?:$|\0|\{"runs":|\n(?:$|"runs":))/,
  // The file may be empty after a power failure.
  held: /^(?:$|\0|\{"(?:suspects|held)":)/,
};

/** Whether a file has the name of a note but another content. */
export function isInTheWay(path: string, note: keyof typeof BEGINS): boolean {
  try {
    const text = files()?.readFileSync(path, "utf8");
    return text !== undefined && !BEGINS[note].test(text);
  } catch (e) {
    // An unreadable file may be another user's note; a folder is not a note.
    return (e as { code?: string }).code === "EISDIR";
  }
}

/** Throws if writing a note would overwrite something else. */
function leaveOthers(fs: Files, path: string, note: keyof typeof BEGINS): void {
  if (fs.statSync(path, { throwIfNoEntry: false }) === undefined) return;
  if (!BEGINS[note].test(fs.readFileSync(path, "utf8"))) {
    throw new Error(`${path} is not a temporalex crash note; it was not changed`);
  }
}

/** Returns a text that is replaced as a whole; undefined in browsers. */
export function noteText(path: string): NoteText | undefined {
  const fs = files();
  if (fs === undefined) return undefined;
  return {
    read() {
      try {
        return fs.readFileSync(path, "utf8");
      } catch {
        return "";
      }
    },
    write(text) {
      leaveOthers(fs, path, "held");
      const fresh = `${path}.${globalThis.crypto.randomUUID()}`;
      try {
        fs.writeFileSync(fresh, text, { mode: OWNER_ONLY });
        fs.renameSync(fresh, path);
      } catch (e) {
        fs.rmSync(fresh, { force: true });
        throw e;
      }
    },
    version() {
      const stat = fs.statSync(path, { throwIfNoEntry: false });
      return stat === undefined ? "" : `${stat.mtimeMs} ${stat.size} ${stat.ino}`;
    },
  };
}

/**
 * Returns a note that is overwritten in place with one system call. It survives the process, not a
 * crash of the machine. Undefined in browsers.
 */
export function workNote(path: string): WorkNote | undefined {
  const fs = files();
  if (fs === undefined) return undefined;
  let file: number | undefined;
  const read = () => {
    try {
      return fs.readFileSync(path, "utf8");
    } catch {
      return "";
    }
  };
  const process = (globalThis as { process?: Exits }).process;
  const remove = () => {
    process?.off("exit", remove);
    const made = file !== undefined;
    if (file !== undefined) fs.closeSync(file);
    file = undefined;
    if (made || !isInTheWay(path, "work")) fs.rmSync(path, { force: true });
  };
  return {
    read,
    write(text) {
      if (file === undefined) {
        leaveOthers(fs, path, "work");
        // The existing file may belong to another user or have another mode.
        fs.rmSync(path, { force: true });
        file = fs.openSync(path, "wx", OWNER_ONLY);
        process?.on("exit", remove);
      }
      const bytes = utf8.encode(text);
      fs.writeSync(file, bytes, 0, bytes.length, 0);
    },
    remove,
  };
}
