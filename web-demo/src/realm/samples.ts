// The code that the page has: the examples, in the worker realm that is bundled with it.
import { type DebugSession, openSession } from "temporalex/debug";
import { createWorkerRealm, useCore, type WorkerRealm } from "temporalex/slim";
import { workerFile } from "../core_file.ts";
import { FILES, loadLines, textOf } from "./sample_lines.ts";
import type { CodeSet } from "./code_set.ts";

let realm: Promise<WorkerRealm> | undefined;

async function makeRealm(): Promise<WorkerRealm> {
  useCore({ worker: workerFile });
  const [made] = await Promise.all([
    createWorkerRealm({
      entry: () => new Worker(new URL("../realm.ts", import.meta.url), { type: "module", name: "workflows" }),
    }),
    loadLines().catch(() => {}),
  ]);
  return made;
}

/** The files of the example that has this workflow; undefined where none has. */
export function sampleCode(workflowType: string): CodeSet | undefined {
  const path = FILES[workflowType];
  return path === undefined ? undefined : { entry: path, files: [{ path, text: textOf(path) }], origin: "sample" };
}

/** Replays a history against the examples. */
export async function replaySample(history: Uint8Array): Promise<DebugSession> {
  realm ??= makeRealm();
  return await openSession(history, { realm: await realm });
}
