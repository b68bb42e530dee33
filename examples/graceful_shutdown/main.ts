// A service that stops gracefully. SIGTERM (a deployment, `docker stop`) and Ctrl-C take no new
// tasks, finish running ones, and exit with 0; unfinished work continues at the next start. A
// second signal ends the process at once, and nothing acknowledged is lost.
//
//   npm run example graceful_shutdown            then Ctrl-C, and start it again
import process from "node:process";
import { open } from "temporalex";
import * as activities from "./activities.ts";
import { batch, status } from "./workflow.ts";

const app = await open({
  path: process.env["STORE"] ?? "graceful_shutdown.sqlite",
  workflows: new URL("./workflow.ts", import.meta.url),
  activities,
  worker: { shutdownGraceMs: 5000 }, // grace period before running activities are canceled
});

let stopping = false;
async function stop(signal: string): Promise<void> {
  if (stopping) process.exit(1); // a second signal means: do not wait
  stopping = true;
  console.log(`${signal}: stopping`);
  await app.close();
  console.log("stopped");
  process.exit(0);
}
for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => void stop(signal));

// A worker that stops by itself (it lost its store, say) ends the process, so that the process
// supervisor notices it.
app.done.catch(() => process.exit(1));

try {
  const handle = await app.client.start(batch, {
    id: "batch",
    args: [4],
    idConflictPolicy: "USE_EXISTING",
  });
  console.log(`running: ${await handle.query(status)}`);
  console.log(`result: ${JSON.stringify(await handle.result())}`);
  await app.close();
} catch (error) {
  if (!stopping) throw error; // otherwise it waited for a result that comes after the next start
}
