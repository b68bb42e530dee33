// Where a worker on a cluster notes whose workflow tasks are running (crash_notes/running_tasks.ts): one file for each process, in a folder that
// its workers share. A process that starts takes over what the dead ones of the same queue have left, and leaves alone what belongs to
// living ones.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { joinedNotes } from "../../../crash_notes/running_tasks.ts";

/** What the work is; notes of other work are not touched. */
export interface Work {
  readonly address: string;
  readonly namespace: string;
  readonly taskQueue: string;
}

/**
 * The file of this process in the folder, which is made where it is missing. It holds what processes of the same work on this machine have
 * left that are no more. Throws where the folder cannot be used.
 */
export function crashNoteIn(folder: string, { address, namespace, taskQueue }: Work): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  // Process ids mean something on their machine, and a home folder may be that of several.
  const key = createHash("sha256").update(JSON.stringify([hostname(), address, namespace, taskQueue])).digest("hex").slice(0, 16);
  const own = join(folder, `${key}-${process.pid}.tasks`);
  const left: string[] = [];
  for (const name of readdirSync(folder).sort()) {
    const [, of, pid] = /^([0-9a-f]{16})-(\d+)\.tasks$/.exec(name) ?? [];
    if (of !== key || lives(Number(pid))) continue;
    const taken = `${own}.taken`;
    try {
      // Of two that start at once one has it.
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

/** Another process of this id is there. In a container each start may have the same id: what that one left is ours to take. */
function lives(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as { code?: string }).code !== "ESRCH";
  }
}
