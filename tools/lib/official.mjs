// Temporal's official TypeScript SDK: the peer of tests/system/interop and bench/cluster. Its
// separate package.json and lock are in tests/system/interop (263 MB with its native addon), so
// that other installs do not need it.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { root, run } from "./steps.mjs";

export const OFFICIAL = join(root, "tests/system/interop");

/**
 * Installs the official SDK if it is missing. Returns undefined, or the reason why it cannot be
 * installed.
 */
export async function ensureOfficial() {
  if (existsSync(join(OFFICIAL, "node_modules/@temporalio/worker/package.json"))) return undefined;
  const npm = process.platform === "win32" ? "npm.cmd" : "npm";
  const argv = ["ci", "--ignore-scripts", "--no-fund", "--no-audit", "--prefer-offline"];
  const { status, output } = await run(npm, argv, { cwd: OFFICIAL });
  return status === 0
    ? undefined
    : `npm ci failed in tests/system/interop: ${output.trim().split("\n").at(-1)}`;
}
