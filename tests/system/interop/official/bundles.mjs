// Bundles of workflow code for the programs of this folder. Programs of one test share the folder
// that OFFICIAL_BUNDLES names: the first one that needs a bundle makes it, which takes seconds.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { bundleWorkflowCode, DefaultLogger } from "@temporalio/worker";

/** How long another program may take before this one makes the bundle itself. */
const OTHER_MS = 120_000;

const bundle = (options) => bundleWorkflowCode({ logger: new DefaultLogger("ERROR"), ...options });

/** True if no other program makes this file at the moment. */
function lock(file) {
  try {
    writeFileSync(`${file}.lock`, "", { flag: "wx" });
    return true;
  } catch (error) {
    if (error.code === "EEXIST") return false;
    throw error;
  }
}

/** The bundle of a file. `options` are of bundleWorkflowCode, the same for each call with a file. */
export async function bundleOf(workflowsPath, options = {}) {
  const folder = process.env.OFFICIAL_BUNDLES;
  if (!folder) return await bundle({ ...options, workflowsPath });
  const name = createHash("sha256").update(workflowsPath).digest("hex").slice(0, 16);
  const file = join(folder, `${name}.js`);
  const end = Date.now() + OTHER_MS;
  while (!existsSync(file) && !lock(file) && Date.now() < end) await delay(100);
  if (existsSync(file)) return { code: readFileSync(file, "utf8") };
  try {
    const { code } = await bundle({ ...options, workflowsPath });
    writeFileSync(`${file}.${process.pid}`, code);
    renameSync(`${file}.${process.pid}`, file);
    return { code };
  } finally {
    rmSync(`${file}.lock`, { force: true });
  }
}
