// runtime: node
// takes: 45 s
// Tools that run tests in a browser notice its end, and the crash of a page, within seconds and
// report what was running.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { until } from "../support/until.ts";

interface Started {
  readonly browser?: { close(): Promise<void> };
  readonly reason?: string;
}
interface Processes {
  family(pid: number): { id: number; command: string }[];
}

const toolUrl = (name: string) => pathToFileURL(join(process.cwd(), "tools/lib", name)).href;
const { launchChromium } = await import(toolUrl("chromium.mjs")) as {
  launchChromium(): Promise<Started>;
};
const { launchFirefox } = await import(toolUrl("firefox.mjs")) as {
  launchFirefox(): Promise<Started>;
};
const { family } = await import(toolUrl("processes.mjs")) as Processes;

/** The limit of the suites is minutes. */
const NOTICED_MS = 60_000;
const LAUNCHERS = { chromium: launchChromium, firefox: launchFirefox };

const skipReasons = new Map<keyof typeof LAUNCHERS, Promise<string | undefined>>();

function skipReason(kind: keyof typeof LAUNCHERS): Promise<string | undefined> {
  const known = skipReasons.get(kind);
  if (known !== undefined) return known;
  const reason = findSkipReason(kind);
  skipReasons.set(kind, reason);
  return reason;
}

async function findSkipReason(kind: keyof typeof LAUNCHERS): Promise<string | undefined> {
  if (process.platform !== "linux") return "looks into /proc";
  const { browser, reason } = await LAUNCHERS[kind]();
  await browser?.close();
  return reason;
}

/**
 * Runs a program until it has printed `line`, kills those of its processes that match, and waits
 * for the end of the program.
 */
async function withKilled(
  args: readonly string[],
  line: RegExp,
  isVictim: (command: string) => boolean,
) {
  const child = spawn(process.execPath, args, {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, NODE_TEST_CONTEXT: undefined },
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk) => (output += chunk));
  }
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
  try {
    const victims = await until("the line and the processes of the browser", () => {
      assert.equal(child.exitCode, null, output);
      const found = line.test(output)
        ? family(child.pid!).filter(({ command }) => isVictim(command))
        : [];
      return found.length > 0 && found;
    }, { about: () => output });
    const began = performance.now();
    for (const { id } of victims) process.kill(id, "SIGKILL");
    return { code: await ended, output, ms: performance.now() - began };
  } finally {
    for (const { id } of family(child.pid!)) kill(id);
  }
}

function kill(id: number): void {
  try {
    process.kill(id, "SIGKILL");
  } catch {
    // The process has ended.
  }
}

const isBrowser = (command: string) =>
  /--remote-debugging-p/.test(command) && !/--type=| -contentproc/.test(command);
const isPage = (command: string) => / --type=renderer| -contentproc .* tab$/.test(command);
const CASE = "long work that yields";
const VICTIMS = [
  ["ends", isBrowser, "its process ended|Firefox ended"],
  ["loses a page", isPage, "(?:the|a) page .*crashed"],
] as const;

for (const kind of ["chromium", "firefox"] as const) {
  for (const [what, isVictim, reason] of VICTIMS) {
    test(`${kind} ${what}: the case that runs fails by name within seconds`, async (t) => {
      const skip = await skipReason(kind);
      if (skip !== undefined) return t.skip(`no browser: ${skip}`);
      const argv = [
        "tools/test_browser.mjs",
        `--browser=${kind}`,
        `--only=${CASE}`,
        "--file=realm_watchdog.ts",
        "--verbose",
      ];
      const { code, output, ms } = await withKilled(
        argv,
        new RegExp(`^case: .*${CASE}`, "m"),
        isVictim,
      );
      assert.match(
        output,
        new RegExp(
          `${kind} page: realm_watchdog.ts: .*${CASE}.*: browser lost \\(.+\\): (${reason})`,
        ),
      );
      // Firefox runs the file again, because it may stop by itself.
      if (kind === "chromium") assert.match(output, /^not ok - chromium page/m);
      assert.match(
        output,
        kind === "chromium"
          ? /^1 passed, 1 failed, 0 skipped$/m
          : /; a new browser runs the file again\n/,
      );
      assert.equal(code, kind === "chromium" ? 1 : 0, output);
      assert.ok(ms < NOTICED_MS, `${ms} ms`);
    });
  }
}

test("a program that waits for a browser that has ended is ended with a message", async (t) => {
  const skip = await skipReason("chromium");
  if (skip !== undefined) return t.skip(`no browser: ${skip}`);
  const program = `const { launchChromium } = await import(${
    JSON.stringify(toolUrl("chromium.mjs"))
  });
const { browser } = await launchChromium();
await browser.newPage();
console.log("started");
await new Promise(() => setInterval(() => {}, 1000));`;
  const { code, output, ms } = await withKilled(
    ["--input-type=module", "-e", program],
    /^started$/m,
    isBrowser,
  );
  assert.match(
    output,
    /^browser lost \(.+\): its process ended, or its connection was closed\nthis process did not end within 10 s/m,
  );
  assert.equal(code, 1);
  assert.ok(ms < NOTICED_MS, `${ms} ms`);
});
