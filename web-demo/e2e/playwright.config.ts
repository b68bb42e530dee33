// End-to-end tests of the page in a real browser: `node web-demo/e2e/run.mjs` builds the page and
// runs them, as `npm test -- web-demo` does.
import { defineConfig } from "@playwright/test";

/** What starts the browser: found once by run.mjs (tools/lib/chromium.mjs), not downloaded. */
interface Found {
  readonly executablePath: string;
  readonly args: string[];
  readonly env: Record<string, string>;
}
const given = process.env["E2E_CHROMIUM"];
if (given === undefined) {
  throw new Error("start these tests with: node web-demo/e2e/run.mjs [FILE...] [-g NAME]");
}
const { executablePath, args, env } = JSON.parse(given) as Found;

export default defineConfig({
  testDir: ".",
  outputDir: "../../.build/e2e",
  // Waits end when their condition holds. These limits end waits that never succeed; CI has slow
  // machines with two processors.
  timeout: 180_000,
  expect: { timeout: process.env["CI"] === undefined ? 20_000 : 60_000 },
  workers: Number(process.env["E2E_WORKERS"] ?? 2),
  fullyParallel: true,
  forbidOnly: process.env["CI"] !== undefined,
  // A test that passes at the second attempt hides a defect of the page or of the test.
  retries: 0,
  reporter: [["./support/reporter.ts"]],
  use: {
    browserName: "chromium",
    headless: true,
    viewport: { width: 1440, height: 900 },
    reducedMotion: "reduce",
    serviceWorkers: "block",
    launchOptions: { executablePath, args, env },
  },
});
