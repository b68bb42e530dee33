// The identity of a process in a note that it leaves. A process id alone is not enough: ids are
// reused, and differ between machines and containers. On Linux the identity is exact (boot, process
// namespace, start of the process); elsewhere it is host name and id.
import type { Builtins } from "./builtins.ts";

export interface ProcessIdentity {
  readonly pid: number;
  readonly host: string;
  /** Process ids with the same place can be compared. */
  readonly place: string;
  /** Distinguishes processes that reused an id; "" if unknown. */
  readonly started: string;
}

export function ownIdentity(builtins: Builtins): ProcessIdentity {
  const host = attempt(() => builtins.os.hostname()) ?? "";
  const boot = attempt(() =>
    builtins.fs.readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()
  );
  const namespace = attempt(() => builtins.fs.readlinkSync("/proc/self/ns/pid"));
  const pid = builtins.process.pid;
  return {
    pid,
    host,
    place: boot !== undefined && namespace !== undefined ? `${boot} ${namespace}` : `host ${host}`,
    started: startOf(builtins, pid) ?? "",
  };
}

/**
 * Whether a process has certainly ended. False if it ran in another place, or if the runtime has no
 * permission to look.
 */
export function isDead(builtins: Builtins, other: ProcessIdentity, own: ProcessIdentity): boolean {
  if (other.place !== own.place || other.place === "host ") return false;
  try {
    builtins.process.kill(other.pid, 0);
  } catch (e) {
    const code = (e as { code?: string }).code;
    if (code !== "EPERM") return code === "ESRCH";
  }
  const started = startOf(builtins, other.pid);
  return started !== undefined && other.started !== "" && started !== other.started;
}

/**
 * Start of a process in clock ticks since boot (field 22 of /proc/<pid>/stat; the name before it
 * may contain spaces and parentheses).
 */
function startOf(builtins: Builtins, pid: number): string | undefined {
  return attempt(() => {
    const stat = builtins.fs.readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
  });
}

function attempt<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    // Not Linux, or the runtime has no permission to look.
    return undefined;
  }
}
