// Notes of running workflow tasks of a worker on a cluster (crash_notes/running_tasks.ts): one file
// for each process, in a folder shared by the workers. A process that starts adopts notes of dead
// processes of the same queue, but not those of living ones.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { joinedNotes } from "../../../crash_notes/running_tasks.ts";

/** Identifies the work; notes of other work are not touched. */
export interface Work {
  readonly address: string;
  readonly namespace: string;
  readonly taskQueue: string;
}

/**
 * Returns the notes file of this process in the folder, which is created if missing. It contains
 * notes of dead processes with the same work on this machine. Throws if the folder cannot be used.
 */
export function crashNoteIn(folder: string, { address, namespace, taskQueue }: Work): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  // Process ids are valid on one machine, and several machines can share a home folder.
  const key = createHash("sha256").update(
    JSON.stringify([hostname(), address, namespace, taskQueue]),
  ).digest("hex").slice(0, 16);
  const own = join(folder, `${key}-${process.pid}.tasks`);
  const left: string[] = [];
  for (const name of readdirSync(folder).sort()) {
    const [, of, pid] = /^([0-9a-f]{16})-(\d+)\.tasks$/.exec(name) ?? [];
    if (of !== key || lives(Number(pid))) continue;
    const taken = `${own}.taken`;
    try {
      // Of two processes that start at once, one succeeds.
      renameSync(join(folder, name), taken);
      left.push(readFileSync(taken, "utf8"));
      rmSync(taken);
    } catch (error) {
      if ((error as { code?: string }).code !== "ENOENT") throw error;
    }
  }
  const text = joinedNotes(left);
  if (text !== "") writeFileSync(own, text, { mode: 0o600, flag: "wx" });
  return own;
}

/**
 * Returns whether another process has this id. In a container all starts may have the same id: this
 * process then adopts the file.
 */
function lives(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as { code?: string }).code !== "ESRCH";
  }
}
