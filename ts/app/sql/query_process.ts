// Runs a query in a separate process, because only that can always be ended: SQLite does not return
// before it has a row, its thread cannot be ended meanwhile, and two of the three libraries have no
// interrupt (docs/dev/decisions/058-queries-in-processes.md).
import { spawn } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { SqlLimitError, tooLong } from "../../engine/sqlite/bounded_rows.ts";
import { ownFile } from "../../platform/own_code.ts";
import { refuseWriting } from "../../engine/sqlite/read_only_sql.ts";
import type { SqlRow } from "../../engine/sqlite/driver.ts";
import { answerRows, type QueryAnswer, type QueryJob } from "./query.ts";

/** Maximum time limit of a query. */
export const MOST_MS = 60 * 60 * 1000;

/** Characters of the process's standard error that are kept for a message. */
const WORDS = 2_000;

const program = (): string =>
  fileURLToPath(
    ownFile(
      "app/sql/query_child",
      "leave temporalex out of the bundle: the process that runs a query starts from that file",
    ),
  );

/**
 * Returns the rows of a statement that reads from the store at `path`. Throws a SqlRefusedError, a
 * SqlLimitError, a StoreError, a SqliteError, or the signal's reason. The process has ended in each
 * case.
 */
export async function runQuery(job: QueryJob, signal?: AbortSignal): Promise<SqlRow[]> {
  refuseWriting(job.sql);
  checkTime(job.limits.ms);
  signal?.throwIfAborted();
  return answerRows(await answerOf(job, signal));
}

/** Throws a SqlLimitError for a time limit above the maximum. */
export function checkTime(ms: number): void {
  if (ms > 0 && ms <= MOST_MS) return;
  throw new SqlLimitError(
    `the timeout of a query must be more than 0 and at most ${MOST_MS / 60_000} min, not ${
      ms / 1000
    } s`,
  );
}

function answerOf(job: QueryJob, signal: AbortSignal | undefined): Promise<QueryAnswer> {
  return new Promise((resolve, reject) => {
    const deno = process.versions["deno"] !== undefined;
    const child = spawn(
      process.execPath,
      [...(deno ? ["run", "-A", "--no-lock"] : []), program()],
      {
        stdio: ["pipe", "pipe", "pipe"],
        windowsHide: true,
        // For applications that run in Electron.
        env: { ...process.env, ELECTRON_RUN_AS_NODE: "1", NODE_OPTIONS: "" },
      },
    );
    let out = "";
    let words = "";
    const settle = (done: () => void) => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", aborted);
      child.kill("SIGKILL");
      done();
    };
    const aborted = () => settle(() => reject(signal!.reason));
    const timer = setTimeout(
      () => settle(() => reject(tooLong(job.limits.ms, ", or increase the timeout"))),
      job.limits.ms,
    );
    signal?.addEventListener("abort", aborted);
    child.stdout.setEncoding("utf8").on("data", (text: string) => out += text);
    child.stderr.setEncoding("utf8").on(
      "data",
      (text: string) => words = (words + text).slice(-WORDS),
    );
    // The child may exit before it has read.
    child.stdin.on("error", () => {});
    child.stdin.write(`${JSON.stringify(job)}\n`);
    child.on("error", (error) => settle(() => reject(noProcess(error.message))));
    child.on("close", (code, by) =>
      settle(() => {
        if (code === 0) return resolve(JSON.parse(out) as QueryAnswer);
        const how = by === null ? `with code ${code}` : `by ${by}`;
        reject(
          /heap|out of memory/i.test(words) || by === "SIGABRT"
            ? new SqlLimitError("the query ran out of memory: select fewer columns, or add a LIMIT")
            : noProcess(`it ended ${how}: ${words.trim()}`),
        );
      }));
  });
}

const noProcess = (why: string): Error =>
  new Error(`cannot start the process that runs the query: ${why}`);
