// Replays one recorded history with one program of the official API and gives the verdict.
import { AsyncLocalStorage } from "node:async_hooks";
import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { AsyncStorage, ScopeFrame } from "../../../ts/compat/context.ts";
import { CompatProgram } from "../../../ts/compat/program.ts";
import { loadCore } from "../../../ts/core/mod.ts";
import { readHistoryFile } from "../../../ts/debug/history_file.ts";
import type { RejectionHost } from "../../../ts/executor/program/rejections.ts";
import { TaskRunner } from "../../../ts/executor/tasks/task_runner.ts";
import type { HistoryJson } from "./corpus.ts";

/** How the context follows async functions; "forgetful" does not, to show that the judges notice. */
export type Mechanism = "asyncLocalStorage" | "rewritten" | "forgetful";

/** Keeps a frame only for the synchronous part of a function. */
class ForgetfulStorage implements AsyncStorage {
  #frame: ScopeFrame | undefined;

  getStore(): ScopeFrame | undefined {
    return this.#frame;
  }

  run<T>(store: ScopeFrame | undefined, fn: () => T): T {
    const before = this.#frame;
    this.#frame = store;
    try {
      return fn();
    } finally {
      this.#frame = before;
    }
  }
}

export interface Verdict {
  verdict: "OK" | "NONDETERMINISM" | "TASK_FAILURE";
  message: string;
  /** The line of the program; "" when not known. */
  location: string;
}

const programs = new Map<string, Promise<CompatProgram>>();

function programOf(file: string, mechanism: Mechanism): Promise<CompatProgram> {
  const key = `${mechanism} ${file}`;
  let program = programs.get(key);
  if (program === undefined) {
    program = CompatProgram.load({
      entry: file,
      source: {
        read: (path) => readFileSync(path, "utf8"),
        resolve: (specifier, importer) => resolve(dirname(importer), specifier.replace(/(\.ts)?$/, ".ts")),
      },
      ...(mechanism === "rewritten"
        ? {}
        : { asyncStorage: mechanism === "forgetful" ? new ForgetfulStorage() : new AsyncLocalStorage() }),
    });
    programs.set(key, program);
  }
  return program;
}

/** The program that the runner finds under every name: files of the corpus use the same names over and over. */
let current: CompatProgram | undefined;
let last: Promise<unknown> = Promise.resolve();
let runner: Promise<TaskRunner> | undefined;

async function createRunner(): Promise<TaskRunner> {
  return new TaskRunner({
    core: await loadCore("worker"),
    programs: () => current,
    runOptions: { namespace: "default", identity: "judge" },
    cacheSize: 0,
    fetchHistory: () => Promise.reject(new Error("a recorded history has no further pages")),
    rejections: processRejections,
  });
}

const processRejections: RejectionHost = {
  listen(listener) {
    const unhandled = (reason: unknown, promise: Promise<unknown>) => {
      if (!listener.unhandled(promise, reason)) throw reason;
    };
    const handled = (promise: Promise<unknown>) => listener.handled(promise);
    process.on("unhandledRejection", unhandled);
    process.on("rejectionHandled", handled);
    return () => {
      process.off("unhandledRejection", unhandled);
      process.off("rejectionHandled", handled);
    };
  },
};

/** Replays queue up: one realm runs one activation at a time. */
export function replay(file: string, mechanism: Mechanism, workflowId: string, history: HistoryJson): Promise<Verdict> {
  const next = last.then(() => replayNow(file, mechanism, workflowId, history));
  last = next.catch(() => {});
  return next;
}

const VERDICTS = { ok: "OK", nondeterminism: "NONDETERMINISM", failed: "TASK_FAILURE" } as const;

async function replayNow(file: string, mechanism: Mechanism, workflowId: string, history: HistoryJson): Promise<Verdict> {
  current = await programOf(file, mechanism);
  const { bytes } = await readHistoryFile(new TextEncoder().encode(JSON.stringify(history)));
  const { verdict, error } = await (await (runner ??= createRunner())).replay(workflowId, bytes);
  return { verdict: VERDICTS[verdict], message: error?.message ?? "", location: error?.location ?? "" };
}
