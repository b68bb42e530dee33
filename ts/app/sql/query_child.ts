// Program of a query's process, and of its thread that runs the query. SQLite blocks that thread
// until the query ends. The main thread ends the process when standard input closes, which happens
// when the parent process ends, even by SIGKILL.
import process from "node:process";
import { fileURLToPath } from "node:url";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { StoreReader } from "../../engine/sqlite/reader.ts";
import {
  type QueryAnswer,
  type QueryJob,
  refusedAnswer,
  rowsAnswer,
  valueOfWire,
} from "./query.ts";

function answer({ path, sql, params = [], limits }: QueryJob): QueryAnswer {
  let reader: StoreReader | undefined;
  try {
    reader = StoreReader.open(path);
    return rowsAnswer(reader.sql(sql, limits, params.map(valueOfWire)));
  } catch (error) {
    return refusedAnswer(error);
  } finally {
    reader?.close();
  }
}

/** `exit` would wait for the thread. */
const end = () => process.kill(process.pid, "SIGKILL");

function main(): void {
  let line = "";
  let started = false;
  process.stdin.setEncoding("utf8");
  process.stdin.on("end", end);
  process.stdin.on("data", (text: string) => {
    line += text;
    if (started || !line.endsWith("\n")) return;
    started = true;
    const job = JSON.parse(line) as QueryJob;
    // The parent kills this process at the limit; this timer covers a stopped parent.
    setTimeout(end, job.limits.ms + 5_000);
    const thread = new Worker(fileURLToPath(import.meta.url), { workerData: job });
    thread.on("message", (found: string) => process.stdout.write(found, () => process.exit(0)));
    thread.on("error", (error: Error) => {
      process.stderr.write(`${error.message}\n`, () => process.exit(1));
    });
  });
}

if (isMainThread) main();
else parentPort!.postMessage(JSON.stringify(answer(workerData as QueryJob)));
