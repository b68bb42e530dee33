// runtime: node
// A script of package.json or a task of deno.json terminates on a signal, together with every
// process that it started.
// takes: 10 s
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { until } from "../support/until.ts";

interface Family {
  readonly MARK: string;
  family(
    pid: number | undefined,
    mark: string,
  ): { readonly id: number; readonly command: string }[];
  endFamily(pid: number | undefined, mark: string): unknown;
}
const { MARK, family, endFamily } = await import(
  pathToFileURL(resolve("tools/lib/processes.mjs")).href
) as Family;
const scripts = JSON.parse(readFileSync("package.json", "utf8")).scripts as {
  [name: string]: string;
};
const { tasks } = JSON.parse(readFileSync("deno.json", "utf8")) as {
  tasks: { [name: string]: { command: string } };
};
// Not npm's `deno`, which starts this one and leaves it when it is ended.
const deno = resolve("node_modules/deno", process.platform === "win32" ? "deno.exe" : "deno");
const absent = (what: string) => existsSync(what) ? {} : { skip: `${what} is not there` };
const windows = process.platform === "win32" ? { skip: "Windows has no signals" } : {};

/**
 * Runs a command in a separate folder whose manifests contain this script, waits until it prints
 * `ready`, then sends `signal`.
 */
async function stops(
  command: readonly string[],
  script: string,
  ready: RegExp,
  signal: NodeJS.Signals,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "temporalex-stops-"));
  const here = script.replace(/\btools\//, `${process.cwd()}/tools/`);
  writeFileSync(
    join(folder, "package.json"),
    JSON.stringify({ private: true, type: "module", scripts: { it: here } }),
  );
  writeFileSync(join(folder, "deno.json"), JSON.stringify({ tasks: { it: here } }));
  const mark = `stops.${process.pid}.${signal}.${Math.random()}`;
  let output = "";
  const child = spawn(command[0]!, command.slice(1), {
    cwd: folder,
    env: { ...process.env, [MARK]: mark },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (part) => output += part);
  const ended = new Promise<void>((done) => child.on("exit", () => done()));
  try {
    await until(
      `${command.join(" ")} says ${ready}: ${output}`,
      () => ready.test(output) || child.exitCode !== null,
    );
    assert.equal(child.exitCode, null, output);
    assert.ok(family(undefined, mark).length > 1, "there is more than one process");
    // Ctrl-C is sent to all that stand in the foreground, everything else to one process.
    process.kill(signal === "SIGINT" ? -child.pid! : child.pid!, signal);
    await ended;
    await until("nothing of it is left", () => family(undefined, mark).length === 0);
  } finally {
    endFamily(child.pid, mark);
    rmSync(folder, { recursive: true, force: true });
  }
}

const KILLED = /started again as process/;
const linux = process.platform === "linux"
  ? {}
  : { skip: "processes are found by their environment on Linux alone" };

for (const signal of ["SIGTERM", "SIGINT"] as const) {
  test(
    `npm start ends its children (${signal})`,
    { ...windows, ...linux },
    () => stops(["npm", "run", "it"], scripts["start"]!, KILLED, signal),
  );

  test(`npm run demo ends its children (${signal})`, { ...windows, ...linux }, () => {
    const built = existsSync("web-demo/dist/index.html");
    return stops(
      ["npm", "run", "it"],
      `${scripts["demo"]} ${built ? "--no-build" : ""}`,
      /the page is at/,
      signal,
    );
  });

  test(
    `deno task start ends its children (${signal})`,
    { ...windows, ...linux, ...absent(deno) },
    () => stops([deno, "task", "it"], tasks["start"]!.command, KILLED, signal),
  );
}

test("deno's tasks are npm's scripts", () => {
  for (const name of ["start", "test", "demo"]) {
    assert.equal(tasks[name]?.command, scripts[name], name);
  }
});
