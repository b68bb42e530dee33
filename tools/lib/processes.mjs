// Ends a program together with all processes that it started. Killing only the program is not
// enough: its children continue, use the machine's time, and hold the pipe whose end is awaited
// (npm's `deno`, for one, is a program that starts the real one).
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";

/**
 * Set for a program whose family may be ended, and inherited by all of it: finds also those whose
 * parent is gone (Linux).
 */
export const MARK = "TEMPORALEX_FAMILY";

const attempt = (look) => {
  try {
    return look();
  } catch {
    // It has ended meanwhile, or is another user's.
    return undefined;
  }
};

/**
 * Every process that may be looked at: [id, parent's id, what it was given as MARK, its command].
 */
function processes() {
  if (!existsSync("/proc/self/stat")) {
    const { stdout } = spawnSync("ps", ["-A", "-o", "pid=,ppid=,command="], { encoding: "utf8" });
    return [...(stdout ?? "").matchAll(/^\s*(\d+)\s+(\d+)\s+(.*)$/gm)].map((
      m,
    ) => [Number(m[1]), Number(m[2]), "", m[3]]);
  }
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name)).flatMap((id) => {
    const stat = attempt(() => readFileSync(`/proc/${id}/stat`, "utf8"));
    if (stat === undefined) return [];
    const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (state === "Z") return [];
    const environment = attempt(() => readFileSync(`/proc/${id}/environ`, "latin1")) ?? "";
    const mark = environment.split("\0").find((line) =>
      line.startsWith(`${MARK}=`)
    )?.slice(MARK.length + 1) ?? "";
    const command = attempt(() =>
      readFileSync(`/proc/${id}/cmdline`, "utf8")
    )?.replaceAll("\0", " ").trim() ?? "";
    return [[Number(id), Number(parent), mark, command]];
  });
}

/** What lives of a program's family, the program included: { id, command }. */
export function family(pid, mark) {
  const all = processes();
  const found = new Set(pid === undefined ? [] : [pid]);
  for (let size = -1; size !== found.size;) {
    size = found.size;
    for (const [id, parent, marks] of all) {
      if (found.has(parent) || marks.split(",").includes(mark)) found.add(id);
    }
  }
  found.delete(process.pid);
  return all.filter(([id]) => found.has(id)).map(([id, , , command]) => ({ id, command }));
}

/** Kills a program and its descendants; returns their commands. */
export function endFamily(pid, mark) {
  if (process.platform === "win32") {
    if (pid !== undefined) spawnSync("taskkill", ["/T", "/F", "/PID", String(pid)]);
    return [];
  }
  const ended = [];
  // What is started while the others are looked up is found by the next look.
  for (let round = 0; round < 5; round++) {
    const living = family(pid, mark);
    if (living.length === 0) break;
    for (const one of living) {
      if (!ended.some(({ id }) => id === one.id)) ended.push(one);
      attempt(() => process.kill(one.id, "SIGKILL"));
    }
  }
  return ended;
}

/**
 * Resolves when no process of a group lives any more, or after `withinMs`. One that has ended and
 * was not asked about (a zombie) is dead.
 */
export async function ended(group, withinMs) {
  const lives = () =>
    existsSync("/proc/self/stat") && readdirSync("/proc").some((id) => {
      const stat = /^\d+$/.test(id)
        ? attempt(() => readFileSync(`/proc/${id}/stat`, "utf8"))
        : undefined;
      if (stat === undefined) return false;
      const [state, , itsGroup] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      return Number(itsGroup) === group && state !== "Z" && state !== "X";
    });
  for (const until = Date.now() + withinMs; lives() && Date.now() < until;) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
