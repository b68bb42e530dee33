// `temporalex store check`.
import { resolve } from "node:path";
import { checkStore, StoreReader } from "../../../engine/maintenance/mod.ts";
import type { RunRow } from "../../../engine/mod.ts";
import { createWorkerRealm, type WorkerRealm } from "../../../realm/mod.ts";
import { Exit } from "../../frame/exit.ts";
import { UsageError } from "../../frame/errors.ts";
import { printable } from "../../frame/printable.ts";
import { storePath } from "../../service/open_service.ts";
import type { CheckCall } from "./options.ts";
import { noteLines, problemLines } from "./findings.ts";
import { counted } from "./sizes.ts";

export async function checkCommand(call: CheckCall): Promise<number> {
  const { options, io, print, signal } = call;
  const reader = StoreReader.open(storePath(call));
  try {
    const realm = options.workflows.length === 0
      ? undefined
      : await openRealm(options.workflows.map((module) => resolve(io.cwd, module)));
    try {
      const skipped = new Map<string, number>();
      const diverged = new Set<string>();
      const found = await checkStore(reader, {
        signal,
        onProgress: (done, total) => print.progress(`${done} of ${total} runs`),
        ...(realm !== undefined &&
          { replay: (row, history) => replay(realm, row, history, skipped, diverged) }),
      });
      print.progress("");
      const replayed = found.replayed - [...skipped.values()].reduce((sum, n) => sum + n, 0);
      const result = {
        store: reader.path,
        ok: found.problems.length === 0,
        ...found,
        problems: found.problems.map((problem) => ({
          ...problem,
          kind: diverged.has(problem.runId) ? "diverges" : "damaged",
        })),
        replayed,
        ...(skipped.size > 0 && { notReplayed: Object.fromEntries(skipped) }),
      };
      print.result(result, () => {
        // The store is intact if only the code does not fit.
        const lines = problemLines(
          print,
          reader.path,
          found.problems,
          ({ runId }) => diverged.has(runId) ? ["diverges", "yellow"] : ["damaged", "red"],
        ) + noteLines(print, reader.path, found.notes);
        const head = found.problems.length === 0
          ? print.paint("sound", "green")
          : counted(found.problems.length, "problem");
        const types = [...skipped].map(([type, n]) => `${type} (${n})`).join(", ");
        return `${lines}${head}: ${counted(found.runs, "run")} (${found.openRuns} open), ${
          counted(found.events, "event")
        }${realm === undefined ? "" : `, ${replayed} replayed`}\n${
          types === ""
            ? ""
            : `not replayed, because the modules do not define them: ${printable(types)}\n`
        }`;
      });
      return found.problems.length === 0 ? Exit.ok : Exit.failed;
    } finally {
      await realm?.dispose();
    }
  } finally {
    reader.close();
  }
}

async function openRealm(workflows: readonly string[]): Promise<WorkerRealm> {
  try {
    return await createWorkerRealm({
      workflows,
      cacheSize: 0,
      runOptions: { namespace: "default", identity: "temporalex store check" },
    });
  } catch (e) {
    throw new UsageError((e as Error).message);
  }
}

/**
 * Returns the problem; undefined if the run replays, or if the modules lack its type (counted in
 * `skipped`).
 */
async function replay(
  realm: WorkerRealm,
  row: RunRow,
  history: Uint8Array,
  skipped: Map<string, number>,
  diverged: Set<string>,
): Promise<string | undefined> {
  if (!realm.takesAnyType && !realm.workflowTypes.includes(row.workflowType)) {
    skipped.set(row.workflowType, (skipped.get(row.workflowType) ?? 0) + 1);
    return undefined;
  }
  const { verdict, error } = await realm.replay(row.workflowId, history);
  if (verdict === "ok") return undefined;
  const { message = "", eventId = 0, location = "" } = error ?? {};
  diverged.add(row.runId);
  return `this code does not replay it${eventId > 0 ? ` from event ${eventId} on` : ""}${
    location === "" ? "" : ` (${location})`
  }: ${message}`;
}
