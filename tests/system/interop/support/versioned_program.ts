// Workflows of one version of a program, which return the version that ran them.
import { writeFileSync } from "node:fs";
import { join } from "node:path";

/** Writes the workflows of a version to a file of the folder, and returns its path. */
export function versionedProgram(folder: string, version: string): string {
  const path = join(folder, `${version}.ts`);
  writeFileSync(
    path,
    `import { activities, signal, startChild, waitForSignal, workflow } from "temporalex/workflow";
const acts = activities({ startToClose: "10s" });
const go = signal("go");
const run = async () => {
  await acts.version("first");
  await waitForSignal(go);
  return "${version}, activity of " + await acts.version("second");
};
export const stays = workflow("Stays", { versioningBehavior: "PINNED", run });
export const moves = workflow("Moves", { run });
export const quick = workflow("Quick", { run: async () => "${version}" });
export const child = workflow("Child", {
  run: async () => {
    await waitForSignal(go);
    return "${version}";
  },
});
export const parent = workflow("Parent", {
  versioningBehavior: "PINNED",
  run: async () => "child on " + await (await startChild(child, { id: "child" })).result(),
});
`,
  );
  return path;
}
