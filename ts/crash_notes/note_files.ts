// Small notes that outlive the process, in files that their owner alone can read. Node and Deno; elsewhere there are none.
import type { NoteText } from "./held_runs.ts";
import type { WorkNote } from "./running_tasks.ts";
import { builtin } from "../platform/builtin.ts";

interface Files {
  openSync(path: string, flags: string | number, mode: number): number;
  readFileSync(path: string, encoding: "utf8"): string;
  writeSync(file: number, text: Uint8Array, offset: number, length: number, position: number): number;
  writeFileSync(path: string, text: string, options: { mode: number }): void;
  renameSync(from: string, to: string): void;
  rmSync(path: string, options: { force: boolean }): void;
  closeSync(file: number): void;
  realpathSync(path: string): string;
  statSync(path: string, options: { throwIfNoEntry: false }): { mtimeMs: number; size: number; ino: number } | undefined;
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

/** The file's own name, absolute and with links followed: where notes about it lie. As it is where there are no files. */
export function resolveNotePath(path: string): string {
  try {
    return files()?.realpathSync(path) ?? path;
  } catch {
    return path;
  }
}

/**
 * What a note begins with (crash_notes/running_tasks.ts, crash_notes/held_runs.ts). A file that has its name and
 * begins otherwise is not ours: it is not replaced or removed.
 */
const BEGINS = {
  // A line break over a longer note leaves the rest of it.
  work: /^(?:$|\0|\{"runs":|\n(?:$|"runs":))/,
  // After a power failure it may be empty.
  held: /^(?:$|\0|\{"(?:suspects|held)":)/,
};

/** Whether a file has the name of a note and is something else. */
export function isInTheWay(path: string, note: keyof typeof BEGINS): boolean {
  try {
    const text = files()?.readFileSync(path, "utf8");
    return text !== undefined && !BEGINS[note].test(text);
  } catch (e) {
    // One that cannot be read may be another user's note; a folder is none.
    return (e as { code?: string }).code === "EISDIR";
  }
}

/** Throws where a note cannot be written without a loss. */
function leaveOthers(fs: Files, path: string, note: keyof typeof BEGINS): void {
  if (fs.statSync(path, { throwIfNoEntry: false }) === undefined) return;
  if (!BEGINS[note].test(fs.readFileSync(path, "utf8"))) {
    throw new Error(`${path} is not a temporalex crash note; it was not changed`);
  }
}

/** A text that is replaced as a whole; undefined where there are no files. */
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

/** A note that is written over in place, with one system call; it survives the process, not the machine. Undefined where there are no files. */
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
        // What is there may have belonged to another one, with another mode.
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
