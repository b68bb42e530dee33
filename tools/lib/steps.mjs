// Shared by the scripts that a stranger runs: says what it does, installs what the lock file names, counts what passed.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url));
export const say = (line) => console.log(line);
const colour = process.stdout.isTTY && !process.env.NO_COLOR;
export const bold = (s) => (colour ? `\x1b[1m${s}\x1b[0m` : s);
export const red = (s) => (colour ? `\x1b[31m${s}\x1b[0m` : s);
export const dim = (s) => (colour ? `\x1b[2m${s}\x1b[0m` : s);

/** Runs `npm ci` when node_modules is missing or older than the lock file says. */
export function ensureInstalled() {
  const lock = join(root, "package-lock.json");
  const installed = join(root, "node_modules/.package-lock.json");
  const main = join(root, "node_modules/@bufbuild/protobuf/package.json");
  if (existsSync(main) && (!existsSync(installed) || versionsMatch(lock, installed))) return;
  say("installing the packages of package-lock.json (npm ci)");
  const npm = process.platform === "win32" ? "npm.cmd" : "npm";
  const r = spawnSync(npm, ["ci", "--no-fund", "--no-audit"], { cwd: root, stdio: ["ignore", "ignore", "inherit"] });
  if (r.status !== 0) {
    console.error("npm ci failed; see the lines above. Is the npm registry reachable?");
    process.exit(1);
  }
}

/** Every installed package has the version of the lock file (packages that were left out on purpose may be missing). */
function versionsMatch(lock, installed) {
  const want = JSON.parse(readFileSync(lock, "utf8")).packages;
  const have = JSON.parse(readFileSync(installed, "utf8")).packages;
  return Object.entries(have).every(([path, p]) => want[path] !== undefined && want[path].version === p.version);
}

/** Runs a command to its end; answers { status, output }. Ends it after `timeoutMs`. */
export function run(cmd, args, { cwd = root, env = {}, timeoutMs = 20 * 60_000, live = false } = {}) {
  return new Promise((resolve) => {
    const child = spawn(cmd, args, { cwd, env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    const take = (chunk) => {
      output += chunk;
      if (live) process.stdout.write(chunk);
    };
    child.stdout.on("data", take);
    child.stderr.on("data", take);
    const timer = setTimeout(() => {
      output += `\n(ended after ${timeoutMs / 1000} s)\n`;
      child.kill("SIGKILL");
    }, timeoutMs);
    const stop = () => child.kill("SIGTERM");
    process.once("SIGINT", stop);
    child.on("error", (e) => {
      output += e.message;
    });
    child.on("close", (status) => {
      clearTimeout(timer);
      process.off("SIGINT", stop);
      resolve({ status: status ?? 1, output });
    });
  });
}

/** Path of a program on PATH, or undefined. */
export function which(name) {
  const r = spawnSync(process.platform === "win32" ? "where" : "which", [name], { encoding: "utf8" });
  return r.status === 0 ? r.stdout.split("\n")[0].trim() : undefined;
}

/** A binary of a dev dependency, or undefined where it was not installed. */
export function bin(name) {
  const path = join(root, "node_modules/.bin", name);
  return existsSync(path) ? path : undefined;
}

/** Empties a folder that a tool is to fill, if it is one that the tool has made (`isOurs`), empty or absent; throws otherwise. */
export function emptied(folder, isOurs) {
  if (existsSync(folder) && !(statSync(folder).isDirectory() && (readdirSync(folder).length === 0 || isOurs(folder)))) {
    throw new Error(`${folder} holds something else; name an empty folder, or one that does not exist`);
  }
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
}
