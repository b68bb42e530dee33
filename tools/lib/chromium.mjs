// Finds a Chromium that runs here: CHROMIUM_PATH, Playwright's own, Debian's, and last the one of @sparticuz/chromium, whose missing
// libraries (NSS, expat on a bare machine) are unpacked from its own archive for that process alone.
import { existsSync } from "node:fs";
import { which } from "./steps.mjs";

const ARGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Starts a headless browser with playwright-core; answers { browser, source } or { reason } when none runs. */
export async function launchChromium() {
  const { chromium } = await import("playwright-core");
  const tried = [];
  const attempt = async (source, executablePath, extra = {}) => {
    if (!executablePath || !existsSync(executablePath)) return undefined;
    try {
      return { browser: await chromium.launch({ executablePath, args: ARGS, headless: true, ...extra }), source };
    } catch (e) {
      tried.push(`${source}: ${String(e.message).split("\n")[0]}`);
      return undefined;
    }
  };
  let found = await attempt("CHROMIUM_PATH", process.env.CHROMIUM_PATH);
  try {
    found ??= await attempt("Playwright's Chromium", chromium.executablePath());
  } catch {
    // playwright-core without a downloaded browser throws here on some versions; the next candidate is tried
  }
  found ??= await attempt("the system's Chromium", which("chromium") ?? which("chromium-browser") ?? which("google-chrome"));
  if (!found) {
    try {
      const { default: packed } = await import("@sparticuz/chromium");
      const path = await packed.executablePath();
      const inflate = await import("@sparticuz/chromium").then((m) => m.inflate);
      const env = { ...process.env };
      if (inflate) {
        const { dirname, join } = await import("node:path");
        const { createRequire } = await import("node:module");
        const archive = join(dirname(createRequire(import.meta.url).resolve("@sparticuz/chromium")), "../../bin/al2023.tar.br");
        if (existsSync(archive)) {
          const dir = await inflate(archive);
          env.LD_LIBRARY_PATH = [join(dir, "lib"), env.LD_LIBRARY_PATH].filter(Boolean).join(":");
        }
      }
      found = await attempt("@sparticuz/chromium", path, { args: [...packed.args, ...ARGS], env });
    } catch (e) {
      tried.push(`@sparticuz/chromium: ${String(e.message).split("\n")[0]}`);
    }
  }
  return found ?? { reason: tried.length > 0 ? tried.join("; ") : "no Chromium found (set CHROMIUM_PATH)" };
}
