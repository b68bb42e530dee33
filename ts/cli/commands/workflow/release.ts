// `workflow release`: releases a held run. Held runs are recorded next to the store, where the
// process that has the store open reads them.
import { printableLine } from "../../frame/printable.ts";
import { existsSync } from "node:fs";
import { heldPath } from "../../../engine/held_status.ts";
import { noteText, resolveNotePath } from "../../../crash_notes/note_files.ts";
import { HeldRuns } from "../../../crash_notes/held_runs.ts";
import { meansCluster } from "../../service/cluster.ts";
import { Exit } from "../../frame/exit.ts";
import { CommandError, UsageError } from "../../frame/errors.ts";
import { storePath } from "../../service/open_service.ts";
import type { ReleaseCall } from "./options.ts";

// deno-lint-ignore require-await
export async function releaseCommand(call: ReleaseCall): Promise<number> {
  const { workflowId, runId } = call.options;
  if (meansCluster(call.options)) {
    throw new UsageError(
      "only stores hold workflows, a cluster does not: name the store with --store",
    );
  }
  const path = storePath(call);
  if (!existsSync(path)) {
    throw new CommandError(`the store ${path} does not exist; name one with --store`);
  }
  const held = new HeldRuns(noteText(heldPath(resolveNotePath(path)))!);
  const released = held.release(workflowId, runId);
  if (released.length === 0) {
    const others = [...new Set(held.list().map((run) => run.workflowId))];
    const known = others.length === 0
      ? "none is"
      : `held are ${others.slice(0, 10).join(", ")}${others.length > 10 ? ", ..." : ""}`;
    const run = runId === undefined ? "" : ` (run ${runId})`;
    throw new CommandError(`workflow ${workflowId}${run} is not held in ${path}; ${known}`);
  }
  call.print.result(
    {
      workflowId,
      released: released.map(({ runId, workflowType, deaths }) => ({
        runId,
        workflowType,
        deaths,
      })),
    },
    () =>
      released.map((run) => `released ${printableLine(run.workflowId)} (run ${run.runId})\n`).join(
        "",
      ),
  );
  return Exit.ok;
}
