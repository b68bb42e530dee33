// Shared by the scripts that a stranger runs: says what it does, installs what the lock file names,
// counts what passed.
import { spawn, spawnSync } from "node:child_process";
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from "node:fs";
import { setPriority } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { endFamily, family, MARK } from "./processes.mjs";

export const root = fileURLToPath(new URL("../..", import.meta.url));
export const say = (line) => console.log(line);
const color = process.stdout.isTTY && !process.env.NO_COLOR;
/**
 * Milliseconds for each minute of the limits of suites: other machines than those of CI may be
 * slower.
 */
export const patience = process.env.CI ? 60_000 : 3 * 60_000;
export const bold = (s) => (color ? `\x1b[1m${s}\x1b[0m` : s);
export const red = (s) => (color ? `\x1b[31m${s}\x1b[0m` : s);
export const dim = (s) => (color ? `\x1b[2m${s}\x1b[0m` : s);

/** Runs `npm ci` when node_modules is missing or older than the lock file says. */
export function ensureInstalled() {
  const lock = join(root, "package-lock.json");
  const installed = join(root, "node_modules/.package-lock.json");
  const main = join(root, "node_modules/@bufbuild/protobuf/package.json");
  if (existsSync(main) && (!existsSync(installed) || versionsMatch(lock, installed))) return;
  say("installing the packages of package-lock.json (npm ci)");
  const npm = process.platform === "win32" ? "npm.cmd" : "npm";
  const r = spawnSync(npm, ["ci", "--no-fund", "--no-audit"], {
    cwd: root,
    stdio: ["ignore", "ignore", "inherit"],
  });
  if (r.status !== 0) {
    console.error("npm ci failed; see the lines above. Is the npm registry reachable?");
    process.exit(1);
  }
}

/**
 * Every installed package has the version of the lock file (packages that were left out on purpose
 * may be missing).
 */
function versionsMatch(lock, installed) {
  const want = JSON.parse(readFileSync(lock, "utf8")).packages;
  const have = JSON.parse(readFileSync(installed, "utf8")).packages;
  return Object.entries(have).every(([path, p]) =>
    want[path] !== undefined && want[path].version === p.version
  );
}

let runs = 0;
/** Time for a program that timed out to report its current step. */
const LAST_WORDS_MS = 5000;
/** Time for what a program has started to end behind it. */
const LEAVE_MS = 1500;
/** Time for reading the last output when no process is left that could write more. */
const CLOSE_MS = 10_000;

/**
 * Runs a command to its end; resolves with { status, output, left }. After `timeoutMs` it gets
 * `lastWords` (if given), and is then ended with all its processes; so are processes that it leaves
 * running (`left` has their commands), and all of them when this process is terminated.
 *
 * @param {string} cmd
 * @param {readonly string[]} args
 * @param {{ cwd?: string; env?: object; timeoutMs?: number; live?: boolean; lastWords?: NodeJS.Signals; priority?: number }} options
 */
export function run(
  cmd,
  args,
  { cwd = root, env = {}, timeoutMs = 20 * 60_000, live = false, lastWords, priority } = {},
) {
  return new Promise((resolve) => {
    const mark = `${process.pid}.${++runs}`;
    const marks = process.env[MARK] === undefined ? mark : `${process.env[MARK]},${mark}`;
    const child = spawn(cmd, args, {
      cwd,
      env: { ...process.env, ...env, [MARK]: marks },
      stdio: ["ignore", "pipe", "pipe"],
    });
    // Programs that it starts inherit the priority.
    if (priority !== undefined && child.pid !== undefined) setPriority(child.pid, priority);
    let output = "";
    const take = (chunk) => {
      output += chunk;
      if (live) process.stdout.write(chunk);
    };
    child.stdout.on("data", take);
    child.stderr.on("data", take);
    let last;
    const timer = setTimeout(() => {
      output += `\n(timed out after ${Math.round(timeoutMs / 1000)} s)\n`;
      if (lastWords !== undefined) child.kill(lastWords);
      last = setTimeout(
        () => endFamily(child.pid, mark),
        lastWords === undefined ? 0 : LAST_WORDS_MS,
      );
    }, timeoutMs);
    const stop = (signal) => {
      endFamily(child.pid, mark);
      process.exit(signal === "SIGINT" ? 130 : 143);
    };
    process.once("SIGINT", stop);
    process.once("SIGTERM", stop);
    child.on("error", (e) => {
      output += e.message;
      if (child.pid !== undefined) return;
      clearTimeout(timer);
      process.off("SIGINT", stop);
      process.off("SIGTERM", stop);
      resolve({ status: 1, signal: null, output, left: [] });
    });
    // "close" comes when no process holds the pipes any more: processes that are left running may
    // never close them.
    const closed = new Promise((done) => child.on("close", done));
    child.on("exit", async (status, signal) => {
      clearTimeout(timer);
      if (family(undefined, mark).length > 0) {
        await new Promise((done) => setTimeout(done, LEAVE_MS));
      }
      const left = endFamily(undefined, mark).map(({ command }) => command);
      clearTimeout(last);
      await Promise.race([closed, new Promise((done) => setTimeout(done, CLOSE_MS).unref())]);
      process.off("SIGINT", stop);
      process.off("SIGTERM", stop);
      resolve({
        status: status ?? 1,
        signal,
        output: signal === null ? output : `${output}\n(ended by ${signal})\n`,
        left,
      });
    });
  });
}

/** Path of a program on PATH, or undefined. (Not every system has the program `which`.) */
export function which(name) {
  const extensions = process.platform === "win32"
    ? (process.env.PATHEXT ?? ".EXE;.CMD").split(";")
    : [""];
  const folders = (process.env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  return folders.flatMap((folder) => extensions.map((extension) => join(folder, name + extension)))
    .find(isProgram);
}

function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** A binary of a dev dependency, or undefined where it was not installed. */
export function bin(name) {
  const path = join(root, "node_modules/.bin", name);
  return existsSync(path) ? path : undefined;
}

/**
 * Empties a folder that a tool is to fill, if it is one that the tool has made (`isOurs`), empty or
 * absent; throws otherwise.
 */
export function emptied(folder, isOurs) {
  if (
    existsSync(folder) &&
    !(statSync(folder).isDirectory() && (readdirSync(folder).length === 0 || isOurs(folder)))
  ) {
    throw new Error(
      `${folder} holds something else; name an empty folder, or one that does not exist`,
    );
  }
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
}
