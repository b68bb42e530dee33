// Finds a Chromium that runs here: CHROMIUM_PATH, Playwright's, the system's, and last the one of
// the npm package @sparticuz/chromium. Each runs with the same arguments. (Those of that package,
// `--single-process` among them, end the browser with its first page.) Where windows do not matter,
// the system's headless shell comes before its Chromium: it has the same engine without the desktop
// program around it, and a page takes a quarter less CPU.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { endProcess, watchBrowser, withinTime } from "./browser_watch.mjs";
import { unpackChromium } from "./packed_chromium.mjs";
import { ended } from "./processes.mjs";
import { which } from "./steps.mjs";

/**
 * A busy machine may take a while to start a browser; one without output by then hangs, and is
 * restarted.
 */
const START_MS = 60_000;
/** What a page is waited for; Playwright's own half a minute is little for a busy machine. */
const PATIENCE_MS = 90_000;
/** Processes that were killed are given so long to be gone. */
const GONE_MS = 10_000;

/** Chromium reads the last of these switches only: Playwright's names are repeated. */
const DISABLED = [
  // Each window of a recent Chromium loads two pages of its address bar: a second of CPU.
  ...["WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "WebUIOmniboxFullPopup"],
  ...["AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "HttpsUpgrades"],
  ...["HttpsFirstBalancedModeAutoEnable", "LensOverlay", "MediaRouter", "PaintHolding"],
  ...["ThirdPartyStoragePartitioning", "AvoidCorsURLLoaderRestartOnRedirect", "AimEnabled"],
  ...["OptimizationHints", "NetworkTimeServiceQuerying", "PreconnectToSearch"],
];

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
  // As a desktop does: a sandboxed frame that floods its page with messages has another process.
  "--site-per-process",
  "--enable-features=IsolateSandboxedIframes",
  `--disable-features=${DISABLED.join(",")}`,
];

const PACKED = "@sparticuz/chromium";

/**
 * The browsers that may run here, in the order in which they are tried: { source, executablePath,
 * args, env }. `windows`: those with windows first.
 */
async function* candidates(windows) {
  const { chromium } = await import("playwright-core");
  const plain = (source, executablePath) => ({
    source,
    executablePath,
    args: ARGS,
    env: process.env,
  });
  yield plain("CHROMIUM_PATH", process.env.CHROMIUM_PATH);
  try {
    yield plain("Playwright's Chromium", chromium.executablePath());
  } catch {
    // playwright-core without a downloaded browser throws here on some versions; the next candidate
    // is tried
  }
  const shell = plain("the system's headless shell", which("chromium-headless-shell"));
  if (!windows) yield shell;
  yield plain(
    "the system's Chromium",
    which("chromium") ?? which("chromium-browser") ?? which("google-chrome"),
  );
  if (windows) yield shell;
  yield { source: PACKED, args: ARGS, ...await unpackChromium() };
}

/**
 * Starts the first browser that `start` can start; returns its result and { source }, or { reason }
 * when none runs.
 */
async function first(start, { windows = false } = {}) {
  const tried = [];
  try {
    for await (const candidate of candidates(windows)) {
      if (!candidate.executablePath || !existsSync(candidate.executablePath)) continue;
      for (const again of [false, true]) {
        try {
          return {
            ...await withinTime(2 * START_MS, "the start of the browser", start(candidate)),
            source: candidate.source,
          };
        } catch (e) {
          tried.push(
            `${candidate.source}${again ? ", again" : ""}: ${String(e.message).split("\n")[0]}`,
          );
        }
      }
    }
  } catch (e) {
    tried.push(`${PACKED}: ${String(e.message).split("\n")[0]}`);
  }
  return { reason: tried.length > 0 ? tried.join("; ") : "no Chromium found (set CHROMIUM_PATH)" };
}

/**
 * Starts a headless browser with playwright-core. Resolves with { browser, source }, or with {
 * reason } if none starts. Its pages wait for PATIENCE_MS by default. `onLost` is called with an
 * Error if the browser ends or a page crashes; by default the process is ended.
 *
 * @param {{ onLost?: (error: Error) => void }} options
 */
export async function launchChromium({ onLost } = {}) {
  const { chromium } = await import("playwright-core");
  return await first(async ({ source, executablePath, args, env }) => {
    const browser = await chromium.launch({
      executablePath,
      args,
      env,
      headless: true,
      timeout: START_MS,
    });
    browser.on("context", patient);
    watchBrowser(browser, source, onLost);
    return { browser };
  });
}

/**
 * What starts a Chromium that runs here, for a tool that starts it itself: { executablePath, args,
 * env, source } or { reason }.
 */
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
  const browser = await chromium.connectOverCDP(endpoint, {
    noDefaults: true,
    timeout: PATIENCE_MS,
  });
  browser.contexts().forEach(patient);
  return browser;
}

/** Processes of `spawnChromium` that are killed on purpose. */
const expectedToEnd = new WeakSet();

const patient = (context) => context.setDefaultTimeout(PATIENCE_MS);

/**
 * Kills a browser that `spawnChromium` started, with all its processes, as the system does when
 * memory runs out. Resolves when they are gone: the next browser must not meet one of them on its
 * profile.
 */
export async function killBrowser(child) {
  expectedToEnd.add(child);
  const gone = new Promise((resolve) =>
    child.exitCode !== null || child.signalCode !== null
      ? resolve(undefined)
      : child.once("exit", resolve)
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
 * Starts a headless browser as a child process that can be killed, with a profile that outlives it.
 * Resolves with { process, endpoint, source } (for `connectChromium`) or { reason }. If the browser
 * ends without `killBrowser`, this process is ended as well.
 */
export async function spawnChromium(profile, extra = []) {
  return await first(({ source, executablePath, args, env }) =>
    new Promise((resolve, reject) => {
      const child = spawn(executablePath, [
        ...args,
        "--headless=new",
        "--remote-debugging-port=0",
        `--user-data-dir=${profile}`,
        "--no-default-browser-check",
        ...extra,
        "about:blank",
      ], { env, stdio: ["ignore", "ignore", "pipe"], detached: true });
      // A separate process group, so that it can be ended with all its children; it also ends with
      // this process.
      const orphaned = () => killGroup(child);
      process.on("exit", orphaned);
      child.on("exit", () => process.off("exit", orphaned));
      /** @type {string | undefined} */
      let said = "";
      const late = setTimeout(() => {
        killGroup(child);
        reject(
          new Error(
            `did not say where to connect within ${START_MS / 1000} s: ${said?.slice(-300)}`,
          ),
        );
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
      child.on("exit", (code, signal) => {
        clearTimeout(late);
        const reason = `ended with ${signal ?? `code ${code}`}`;
        if (said !== undefined) reject(new Error(`${reason}: ${said.slice(-300)}`));
        else if (!expectedToEnd.has(child)) {
          endProcess(new Error(`browser lost (${source}): it ${reason}`));
        }
      });
    }), { windows: true });
}
