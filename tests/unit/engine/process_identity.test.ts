// Who a process is, for the notes that it leaves: process ids mean something only in the same boot
// and namespace of one machine.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Builtins, builtins } from "../../../ts/engine/sqlite/builtins.ts";
import { isDead, ownIdentity } from "../../../ts/engine/sqlite/process_identity.ts";

interface Machine {
  readonly boot?: string;
  readonly namespace?: string;
  readonly host?: string;
  /** Start of each process that lives. */
  readonly processes?: { readonly [pid: number]: number };
}

/** As process 7 of a machine sees it; without a boot id it is not Linux. */
function on({ boot, namespace, host = "mine", processes = { 7: 100 } }: Machine): Builtins {
  const fail = (code: string) => {
    throw Object.assign(new Error(code), { code });
  };
  const fs = {
    ...builtins()!.fs,
    readFileSync(path: string) {
      const pid = /^\/proc\/(\d+)\/stat$/.exec(path)?.[1];
      if (pid !== undefined && boot !== undefined && processes[Number(pid)] !== undefined) {
        return `${pid} (odd ) name) ${"S ".repeat(19)}${processes[Number(pid)]} 0`;
      }
      return path === "/proc/sys/kernel/random/boot_id" && boot !== undefined
        ? `${boot}\n`
        : fail("ENOENT");
    },
    readlinkSync: () => namespace ?? fail("ENOENT"),
  };
  const kill = (pid: number) => processes[pid] === undefined ? fail("ESRCH") : undefined;
  return {
    ...builtins()!,
    fs,
    os: { hostname: () => host },
    process: { pid: 7, kill: kill as () => void },
  };
}

test("on Linux a process is identified by boot, namespace and start time, elsewhere by host name", () => {
  const linux = ownIdentity(on({ boot: "b1", namespace: "pid:[1]" }));
  assert.deepEqual(linux, { pid: 7, host: "mine", place: "b1 pid:[1]", started: "100" });
  assert.deepEqual(ownIdentity(on({})), { pid: 7, host: "mine", place: "host mine", started: "" });
  assert.equal(ownIdentity(on({ boot: "b1" })).place, "host mine", "half of it says nothing");
});

test("a process is dead if its id is free or reused; a process of another host is never known to be dead", () => {
  const here = on({ boot: "b1", namespace: "pid:[1]", processes: { 7: 100, 8: 200 } });
  const own = ownIdentity(here);
  assert.equal(isDead(here, { ...own, pid: 9, started: "50" }, own), true);
  assert.equal(isDead(here, { ...own, pid: 8, started: "200" }, own), false);
  assert.equal(isDead(here, { ...own, pid: 8, started: "150" }, own), true);
  assert.equal(isDead(here, { ...own, pid: 8, started: "" }, own), false);
  for (
    const place of [{ boot: "b0", namespace: "pid:[1]" }, { boot: "b1", namespace: "pid:[2]" }]
  ) {
    assert.equal(
      isDead(here, { ...ownIdentity(on(place)), pid: 9 }, own),
      false,
      "another boot, or another container",
    );
  }
});
