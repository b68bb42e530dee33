// The long run over a network that misbehaves: `node dist/tools/soak/chaos.js --minutes 10
// --workflows 200 --seed 1 [--address host:port]` (or with Deno: `deno run -A
// tools/soak/chaos.ts`). Without an address it starts Temporal's dev server. A JSON line every ten
// seconds and one for the end; exit code 1 when anything was lost, recorded twice, or did not end.
import { rmSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { chaosLoop, databaseFolder } from "../../tests/faults/chaos/loop.ts";
import { DevServer, noServer } from "../../tests/system/interop/support/dev_server.ts";

const { values } = parseArgs({
  args: process.argv.slice(2),
  options: {
    minutes: { type: "string", default: "10" },
    workflows: { type: "string", default: "200" },
    seed: { type: "string", default: "1" },
    address: { type: "string" },
    "restart-every": { type: "string" },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  console.log(
    `usage: chaos [--minutes 10] [--workflows 200] [--seed 1] [--address host:port] [--restart-every SECONDS]

Runs workflows on a cluster over a TCP proxy that cuts, delays, half-opens and resets connections, and judges every history. With
--restart-every the dev server is killed and comes back, too.`,
  );
  process.exit(0);
}
if (values.address === undefined && noServer !== false) {
  console.error(noServer);
  process.exit(2);
}
const folder = databaseFolder();
const file = join(folder, "server.sqlite");
let server = values.address === undefined ? await DevServer.start([], { file }) : undefined;
/** Ends the dev server and brings it back. */
async function heal(): Promise<void> {
  if (server === undefined) {
    throw new Error("the server at the given address says that it has no namespace");
  }
  const { address } = server;
  await server.kill();
  server = await DevServer.start([], { file, address });
}
const began = performance.now();
try {
  const { problems, ...figures } = await chaosLoop({
    address: values.address ?? server!.address,
    heal,
    ...(values["restart-every"] !== undefined &&
      { restartEveryMs: Number(values["restart-every"]) * 1000 }),
    workflows: Number(values.workflows),
    ms: Number(values.minutes) * 60_000,
    seed: Number(values.seed),
    onProgress: (progress) =>
      console.log(
        JSON.stringify({
          ...progress,
          problems: progress.problems.slice(0, 3),
          problemsInAll: progress.problems.length,
        }),
      ),
  });
  const { user, system } = process.cpuUsage();
  console.log(JSON.stringify({
    ...figures,
    seconds: Math.round((performance.now() - began) / 1000),
    cpuSeconds: Math.round((user + system) / 1e6),
    rssMB: Math.round(process.memoryUsage().rss / 1e6),
    problems: problems.slice(0, 50),
  }));
  process.exitCode = problems.length === 0 ? 0 : 1;
} finally {
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
}
