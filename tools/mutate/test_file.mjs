// One test file (or its tests whose names start with a text: `FILE#BEGINNING`) in a separate
// process, ended at its first failure or at its timeout.
import { spawn } from "node:child_process";
import { join } from "node:path";

/** Process groups that run now: they end with this process. */
const groups = new Set();
const endGroup = (pid) => {
  groups.delete(pid);
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // They are gone.
  }
};
process.on("exit", () => groups.forEach(endGroup));
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(1));

/**
 * Returns "passed", "failed" or "timeout", with the first failure's name and the duration in
 * milliseconds.
 */
export function runTestFile(folder, test, { timeoutMs, env = {}, all = false }) {
  return new Promise((resolve) => {
    const began = performance.now();
    const [file, beginning] = test.split("#");
    const only = beginning === undefined ? [] : [`--test-name-pattern=^${beginning}: `];
    const child = spawn(process.execPath, [
      "--no-warnings",
      "--test-reporter=tap",
      ...only,
      join(folder, "dist", file),
    ], {
      cwd: folder,
      env: { ...process.env, FORCE_COLOR: "0", ...env },
      stdio: ["ignore", "pipe", "ignore"],
      // A separate process group: a test's children end with it.
      detached: true,
    });
    if (child.pid !== undefined) groups.add(child.pid);
    let rest = "";
    let failure;
    let outcome;
    const end = (what) => {
      outcome ??= what;
      if (child.pid !== undefined) endGroup(child.pid);
    };
    const timer = setTimeout(() => end("timeout"), timeoutMs);
    child.stdout.setEncoding("utf8").on("data", (text) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        const found = /^\s*not ok \d+ - (.*)$/.exec(line);
        if (found === null || / # (TODO|SKIP)/.test(line)) continue;
        failure ??= found[1];
        if (!all) end("failed");
      }
    });
    const done = (what) => {
      clearTimeout(timer);
      end(what);
      resolve({ outcome, failure, ms: Math.round(performance.now() - began) });
    };
    child.on("error", () => done("failed"));
    child.on("exit", (code) => done(code === 0 && failure === undefined ? "passed" : "failed"));
  });
}
