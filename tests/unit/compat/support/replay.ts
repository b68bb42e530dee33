// Replays one recorded history with one program of the official API and gives the verdict.
import { AsyncLocalStorage } from "node:async_hooks";
import { join } from "node:path";
import type { AsyncStorage, ScopeFrame } from "../../../../ts/compat/mod.ts";
import { loadCore } from "../../../../ts/core/mod.ts";
import { readHistoryFile } from "../../../../ts/history_files/history_file.ts";
import { TaskRunner } from "../../../../ts/executor/tasks/task_runner.ts";
import { createWorkerRealm, type WorkerRealm } from "../../../../ts/realm/mod.ts";
import { rejectionHost } from "../../../cases/rejection_host.ts";
import { type HistoryJson, historyOf, loadCase, loadRows, normalized, type Row } from "./corpus.ts";
import { loadProgram } from "./in_thread.ts";

/**
 * How the context follows async functions; "forgetful" does not, to show that the judges notice.
 */
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

  enterWith(store: ScopeFrame | undefined): void {
    this.#frame = store;
  }
}

export interface Verdict {
  verdict: "OK" | "NONDETERMINISM" | "TASK_FAILURE";
  message: string;
  /** The line of the program; "" when not known. */
  location: string;
}

const VERDICTS = { ok: "OK", nondeterminism: "NONDETERMINISM", failed: "TASK_FAILURE" } as const;

type Replayer = Pick<WorkerRealm, "replay" | "dispose">;

/** The realm of the file that was asked for last: rows of one file come one after the other. */
let open: { readonly key: string; readonly realm: Replayer } | undefined;
let last: Promise<unknown> = Promise.resolve();

function start(file: string, mechanism: Mechanism, where: Place): Promise<Replayer> {
  if (where === "thread" || mechanism === "forgetful") return inThread(file, mechanism);
  return createWorkerRealm({ workflows: file, scopes: mechanism, cacheSize: 0 });
}

async function inThread(file: string, mechanism: Mechanism): Promise<Replayer> {
  const storage = {
    asyncLocalStorage: new AsyncLocalStorage<ScopeFrame | undefined>(),
    forgetful: new ForgetfulStorage(),
  };
  const program = await loadProgram(
    { workflows: file },
    mechanism === "rewritten" ? undefined : storage[mechanism],
  );
  const runner = new TaskRunner({
    core: await loadCore("worker"),
    programs: () => program,
    runOptions: { namespace: "default", identity: "judge" },
    cacheSize: 0,
    fetchHistory: () => Promise.reject(new Error("a recorded history has no further pages")),
    rejections: rejectionHost,
  });
  return {
    replay: (...args) => runner.replay(...args),
    dispose: () => Promise.resolve(runner.dispose()),
  };
}

/** In a realm with its guard, as a worker does, or in this thread, which starts faster. */
export type Place = "realm" | "thread";

/** Replays queue up: one realm at a time. */
export function replay(
  file: string,
  mechanism: Mechanism,
  workflowId: string,
  history: HistoryJson,
  where: Place = "realm",
): Promise<Verdict> {
  const next = last.then(async () => {
    const key = `${mechanism} ${where} ${file}`;
    if (open?.key !== key) {
      await open?.realm.dispose();
      open = undefined;
      open = { key, realm: await start(file, mechanism, where) };
    }
    const { bytes } = await readHistoryFile(new TextEncoder().encode(JSON.stringify(history)));
    const { verdict, error } = await open.realm.replay(workflowId, bytes);
    return {
      verdict: VERDICTS[verdict],
      message: error?.message ?? "",
      location: error?.location ?? "",
    };
  });
  last = next.catch(() => {});
  return next;
}

/** Replays rows of a case; what differs from the official verdicts. */
export async function differences(
  root: string,
  name: string,
  rowsOf: (row: Row) => boolean,
  mechanism: Mechanism,
  where: Place,
): Promise<string[]> {
  const found = loadCase(root, name);
  const expected = loadRows(root).filter((row) => row.case === name && rowsOf(row));
  if (expected.length === 0) throw new Error(`${name} has no such rows`);
  const different: string[] = [];
  for (const row of expected) {
    const history = historyOf(root, found, row);
    const { workflowId } = history.events[0].workflowExecutionStartedEventAttributes;
    const file = join(root, "workflows", found.variants[row.variant]!.file);
    const { verdict, message } = await replay(
      file,
      mechanism,
      workflowId || `replay-${row.history}`,
      history,
      where,
    );
    const same = verdict === row.verdict &&
      (verdict !== "NONDETERMINISM" || normalized(message) === row.reason);
    const at = `${row.history}${
      row.cutAt === undefined ? "" : `#${row.cutAt}`
    } with ${row.variant}`;
    if (!same) {
      different.push(
        `${at}: expected ${row.verdict} ${row.reason ?? ""}, got ${verdict} ${message}`,
      );
    }
  }
  return different;
}
