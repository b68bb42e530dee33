// Finds a Chromium that runs here: CHROMIUM_PATH, Playwright's own, Debian's, and last the one of @sparticuz/chromium, whose missing
// libraries (NSS, expat on a bare machine) are unpacked from its own archive for that process alone.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { ended } from "./processes.mjs";
import { which } from "./steps.mjs";

/** A busy machine may take a while to start a browser; one that has said nothing by then hangs, and is started once more. */
const START_MS = 60_000;
/** What a page is waited for; Playwright's own half a minute is little for a busy machine. */
const PATIENCE_MS = 90_000;
/** Processes that were killed are given so long to be gone. */
const GONE_MS = 10_000;

const ARGS = [
  "--no-sandbox",
  // /dev/shm is small in containers, and a page dies when it is full.
  "--disable-dev-shm-usage",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** The browsers that may run here, in the order in which they are tried: { source, executablePath, args, env }. */
async function* candidates() {
  const { chromium } = await import("playwright-core");
  const plain = (source, executablePath) => ({ source, executablePath, args: ARGS, env: process.env });
  yield plain("CHROMIUM_PATH", process.env.CHROMIUM_PATH);
  try {
    yield plain("Playwright's Chromium", chromium.executablePath());
  } catch {
    // playwright-core without a downloaded browser throws here on some versions; the next candidate is tried
  }
  yield plain("the system's Chromium", which("chromium") ?? which("chromium-browser") ?? which("google-chrome"));
  const { default: packed, inflate } = await import("@sparticuz/chromium");
  const env = { ...process.env };
  if (inflate) {
    const archive = join(dirname(createRequire(import.meta.url).resolve("@sparticuz/chromium")), "../../bin/al2023.tar.br");
    if (existsSync(archive)) {
      const dir = await inflate(archive);
      env.LD_LIBRARY_PATH = [join(dir, "lib"), env.LD_LIBRARY_PATH].filter(Boolean).join(":");
    }
  }
  yield { source: "@sparticuz/chromium", executablePath: await packed.executablePath(), args: [...packed.args, ...ARGS], env };
}

/** Starts the first browser that `start` can start; answers what it answered and { source }, or { reason } when none runs. */
async function first(start) {
  const tried = [];
  try {
    for await (const candidate of candidates()) {
      if (!candidate.executablePath || !existsSync(candidate.executablePath)) continue;
      for (const again of [false, true]) {
        try {
          return { ...await start(candidate), source: candidate.source };
        } catch (e) {
          tried.push(`${candidate.source}${again ? ", again" : ""}: ${String(e.message).split("\n")[0]}`);
        }
      }
    }
  } catch (e) {
    tried.push(`@sparticuz/chromium: ${String(e.message).split("\n")[0]}`);
  }
  return { reason: tried.length > 0 ? tried.join("; ") : "no Chromium found (set CHROMIUM_PATH)" };
}

/**
 * Starts a headless browser with playwright-core; answers { browser, source } or { reason } when none runs. Its pages wait for PATIENCE_MS
 * where they are not told how long.
 */
export async function launchChromium() {
  const { chromium } = await import("playwright-core");
  return await first(async ({ executablePath, args, env }) => {
    const browser = await chromium.launch({ executablePath, args, env, headless: true });
    browser.on("context", patient);
    return { browser };
  });
}

/** What starts a Chromium that runs here, for a tool that starts it itself: { executablePath, args, env, source } or { reason }. */
export async function chromiumOptions() {
  const { chromium } = await import("playwright-core");
  return await first(async (options) => {
    await (await chromium.launch({ ...options, headless: true })).close();
    return options;
  });
}

/** Connects playwright-core to a browser of `spawnChromium`. */
export async function connectChromium({ endpoint }) {
  const { chromium } = await import("playwright-core");
  const browser = await chromium.connectOverCDP(endpoint, { noDefaults: true, timeout: PATIENCE_MS });
  browser.contexts().forEach(patient);
  return browser;
}

const patient = (context) => context.setDefaultTimeout(PATIENCE_MS);

/**
 * Kills a browser that `spawnChromium` started, with all its processes, as the system does when memory runs out. Answers when they are gone:
 * the next browser must not meet one of them on its profile.
 */
export async function killBrowser(child) {
  const gone = new Promise((resolve) =>
    child.exitCode !== null || child.signalCode !== null ? resolve() : child.once("exit", resolve)
  );
  killGroup(child);
  await gone;
  await ended(child.pid, GONE_MS);
}

function killGroup(child) {
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    // It is gone.
  }
}

/**
 * Starts a headless browser as a process of ours, which can be killed, with a profile that outlives it. Answers { process, endpoint, source }
 * (for `connectChromium`) or { reason }.
 */
export async function spawnChromium(profile, extra = []) {
  return await first(({ executablePath, args, env }) =>
    new Promise((resolve, reject) => {
      // A profile can be used by one process at a time only.
      const single = args.filter((arg) =>
        !["--single-process", "--no-zygote", "--incognito"].includes(arg) && !arg.startsWith("--headless")
      );
      const child = spawn(executablePath, [
        ...single,
        "--headless=new",
        "--remote-debugging-port=0",
        `--user-data-dir=${profile}`,
        "--no-default-browser-check",
        ...extra,
        "about:blank",
      ], { env, stdio: ["ignore", "ignore", "pipe"], detached: true });
      // A group of its own, so that it can be ended with all its children; not without us.
      const orphaned = () => killGroup(child);
      process.on("exit", orphaned);
      child.on("exit", () => process.off("exit", orphaned));
      let said = "";
      const late = setTimeout(() => {
        killGroup(child);
        reject(new Error(`did not say where to connect within ${START_MS / 1000} s: ${said.slice(-300)}`));
      }, START_MS);
      child.stderr.on("data", (chunk) => {
        if (said === undefined) return;
        said += chunk;
        const endpoint = /DevTools listening on (ws:\S+)\s/.exec(said)?.[1];
        if (endpoint === undefined) return;
        clearTimeout(late);
        said = undefined;
        resolve({ process: child, endpoint });
      });
      child.on("error", (e) => {
        clearTimeout(late);
        reject(e);
      });
      child.on("exit", (code) => {
        clearTimeout(late);
        reject(new Error(`ended with code ${code}: ${said?.slice(-300)}`));
      });
    })
  );
}
