// Temporal's own TypeScript SDK: the peer of tests/interop and bench/cluster. It has a package.json and a lock of its own in tests/interop
// (263 MB with its native addon), so it weighs on nobody's install; whoever needs it asks here.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { root, run } from "./steps.mjs";

export const OFFICIAL = join(root, "tests/interop");

/** Installs the official SDK where it is missing. Answers undefined, or why it is not there. */
export async function ensureOfficial() {
  if (existsSync(join(OFFICIAL, "node_modules/@temporalio/worker/package.json"))) return undefined;
  const npm = process.platform === "win32" ? "npm.cmd" : "npm";
  const argv = ["ci", "--ignore-scripts", "--no-fund", "--no-audit", "--prefer-offline"];
  const { status, output } = await run(npm, argv, { cwd: OFFICIAL });
  return status === 0 ? undefined : `npm ci failed in tests/interop: ${output.trim().split("\n").at(-1)}`;
}
