// Copies of dist/ that may be broken: one to take the coverage of, and one for each job, whose
// files are links to the first until one is mutated. What else the tests read of the checkout is
// linked, so that every path means the same as in the checkout.
import { spawnSync } from "node:child_process";
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { unbundleRealm } from "../lib/realm_bundle.mjs";
import { root } from "../lib/steps.mjs";

export const home = join(root, ".build/mutate");
/**
 * Also in no workspace: a manifest of the package that is published would be searched from there.
 */
const LEFT_OUT = new Set([".build", ".git", "dist"]);

function outer(folder) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const name of readdirSync(root)) {
    if (!LEFT_OUT.has(name)) symlinkSync(join(root, name), join(folder, name));
  }
}

/** A copy of dist/ as it is now. */
export function makeBase() {
  const folder = join(home, "base");
  outer(folder);
  copy(["-a", join(root, "dist"), join(folder, "dist")]);
  unbundleRealm(join(folder, "dist"));
  const fixtures = join(root, "../shared");
  const link = join(home, "shared");
  if (existsSync(fixtures) && !existsSync(link)) symlinkSync(fixtures, link);
  return folder;
}

/** A workspace in which one file at a time is another. */
export function makeWorkspace(base, name) {
  const folder = join(home, name);
  outer(folder);
  copy(["-al", join(base, "dist"), join(folder, "dist")]);
  return {
    folder,
    /** `file` is relative to dist/. */
    put(file, text) {
      const path = join(folder, "dist", file);
      // The link goes first: writing through it would change the base.
      rmSync(path);
      writeFileSync(path, text);
    },
    restore(file) {
      const path = join(folder, "dist", file);
      rmSync(path);
      linkSync(join(base, "dist", file), path);
    },
  };
}

function copy(argv) {
  const { status, stderr } = spawnSync("cp", argv, { encoding: "utf8" });
  if (status !== 0) throw new Error(`cp ${argv.join(" ")} failed: ${stderr}`);
}
